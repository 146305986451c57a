"""JSON in answers: strict, without NaN, of bounded depth."""

import json
from collections.abc import Iterator
from itertools import islice

import msgspec

from benchmarks.scoring.patterns import compile_pattern

_FENCED = compile_pattern(r"(?s)(?:```+|~~~+)[ \t]*\w*[ \t]*\n(.*?)\n[ \t]*(?:```+|~~~+)")
_OPENING = compile_pattern(r"[\[{]")
# Candidates in prose; each fails in time that grows with the rest of the text.
MAX_CANDIDATES = 20


class NotJson(ValueError):
    """Raised with the decoder's reason."""


def read_json(text: str, *, anywhere: bool = False) -> object:
    """Return a text's value; with `anywhere`, of the first JSON in a code fence or in prose. Raises NotJson."""
    return next(read_values(text, anywhere=anywhere))


def read_values(text: str, *, anywhere: bool = False) -> Iterator[object]:
    """Yield a text's value; with `anywhere`, else those in code fences and in prose. Raises NotJson for none."""
    try:
        yield _decode(text)
    except NotJson:
        if not anywhere:
            raise
    else:
        return
    is_found = False
    for value in _embedded(text):
        is_found = True
        yield value
    if not is_found:
        raise NotJson("no JSON in the text")


def _embedded(text: str) -> Iterator[object]:
    for match in _FENCED.finditer(text):
        try:
            yield _decode(match.group(1) or "")
        except NotJson:
            continue
    yield from _in_prose(text)


def write_json(value: object) -> str:
    """Return texts as they are and other values as JSON."""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def resolve_pointer(document: object, pointer: str) -> object:
    """Return the value at an RFC 6901 pointer. Raises LookupError."""
    value = document
    for token in pointer.split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        if isinstance(value, list):
            if not (key.isascii() and key.isdigit()) or len(key) > 9:
                raise LookupError(pointer)
            value = value[int(key)]
        elif isinstance(value, dict):
            value = value[key]
        else:
            raise LookupError(pointer)
    return value


def _decode(text: str) -> object:
    try:
        value: object = msgspec.json.decode(text.strip().removeprefix("\ufeff").strip().encode())
    except RecursionError:
        raise NotJson("nested too deeply") from None
    except (msgspec.MsgspecError, UnicodeEncodeError) as error:
        raise NotJson(str(error)) from None
    return value


def _in_prose(text: str) -> Iterator[object]:
    decoder, end = json.JSONDecoder(parse_constant=_refuse_constant), 0
    openings = (match.start() for match in _OPENING.finditer(text))
    for start in islice((start for start in openings if start >= end), MAX_CANDIDATES):
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        yield value


def _refuse_constant(name: str) -> object:
    raise ValueError(name)
