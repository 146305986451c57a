from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.conf import settings

from tools.messages.messages import messages

LANGUAGES = [code for code, _name in settings.LANGUAGES if code != "en"]
# Written by hand: only corrections of allauth's English messages that are wrong for an arena.
ENGLISH = "en"
# A fixed date, so that a catalogue does not change with every run.
NO_DATE = datetime(2000, 1, 1, tzinfo=UTC)
HEADER = """\
# The arena in another language. Words of the glossary and how to translate: CONTRIBUTING.md.
msgid ""
msgstr ""
"Language: {language}\\n"
"Plural-Forms: {plural_forms}\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=utf-8\\n"
"Content-Transfer-Encoding: 8bit\\n"

"""


def path_of(language: str) -> Path:
    return settings.BASE_DIR / "locale" / language / "LC_MESSAGES" / "django.po"


def read(language: str) -> Catalog:
    path = path_of(language)
    if not path.exists():
        return Catalog(locale=language)
    with path.open("rb") as file:
        return read_po(file, locale=language)


def extracted() -> Catalog:
    """Return the arena's messages and the corrected ones of allauth, untranslated."""
    catalog = Catalog()
    for message in messages():
        message_id = (message.singular, message.plural) if message.plural else message.singular
        catalog.add(message_id, context=message.context or None, locations=[(message.where, None)])
    for message_of_allauth in read(ENGLISH):
        if message_of_allauth.id:
            catalog.add(message_of_allauth.id, locations=[("allauth", None)])
    return catalog


def updated(language: str) -> Catalog:
    """Return the catalogue with new messages untranslated, without obsolete ones; no fuzzy matches."""
    catalog = read(language)
    catalog.update(extracted(), no_fuzzy_matching=True)
    catalog.obsolete.clear()
    return catalog


def untranslated(catalog: Catalog) -> list[Message]:
    return [message for message in catalog if message.id and (message.fuzzy or not all(forms(message)))]


def forms(message: Message) -> list[str]:
    """Return the translation; several for plural forms."""
    parts = message.string if isinstance(message.string, (tuple, list)) else [message.string]
    return [part or "" for part in parts]


def as_po(catalog: Catalog) -> bytes:
    file = BytesIO()
    write_po(file, catalog, width=120, sort_output=True, include_lineno=False, omit_header=True)
    header = HEADER.format(language=catalog.locale_identifier, plural_forms=catalog.plural_forms)
    return header.encode() + file.getvalue()


def as_mo(catalog: Catalog) -> bytes:
    """Return the compiled catalogue."""
    file = BytesIO()
    catalog.creation_date = catalog.revision_date = NO_DATE
    write_mo(file, catalog)
    return file.getvalue()
