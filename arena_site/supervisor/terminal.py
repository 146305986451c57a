from contextlib import suppress


def echo(text: str) -> None:
    with suppress(OSError):  # a closed terminal must not end the launcher
        print(text, flush=True)
