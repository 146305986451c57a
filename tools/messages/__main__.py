"""`make messages`: update the catalogues from the code, and compile them."""

import sys

import django


def main() -> int:
    from tools.messages.catalogue import ENGLISH, LANGUAGES, as_mo, as_po, path_of, read, untranslated, updated

    missing = 0
    for language in LANGUAGES:
        catalog, path = updated(language), path_of(language)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(as_po(catalog))
        path.with_suffix(".mo").write_bytes(as_mo(catalog))
        for message in untranslated(catalog):
            missing += 1
            print(f"{language}: {message.id!r} is not translated.")
    path_of(ENGLISH).with_suffix(".mo").write_bytes(as_mo(read(ENGLISH)))
    return min(missing, 1)


if __name__ == "__main__":
    django.setup()
    sys.exit(main())
