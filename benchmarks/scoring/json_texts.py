"""JSON in answers: strict, without NaN, of bounded depth."""

import json

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
    try:
        return _decode(text)
    except NotJson:
        if not anywhere:
            raise
    for match in _FENCED.finditer(text):
        try:
            return _decode(match.group(1) or "")
        except NotJson:
            continue
    return _first_in_prose(text)


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
        value: object = msgspec.json.decode(text.strip().encode())
    except RecursionError:
        raise NotJson("nested too deeply") from None
    except (msgspec.MsgspecError, UnicodeEncodeError) as error:
        raise NotJson(str(error)) from None
    return value


def _first_in_prose(text: str) -> object:
    decoder = json.JSONDecoder(parse_constant=_refuse_constant)
    for count, match in enumerate(_OPENING.finditer(text)):
        if count == MAX_CANDIDATES:
            break
        try:
            value: object = decoder.raw_decode(text, match.start())[0]
        except (ValueError, RecursionError):
            continue
        return value
    raise NotJson("no JSON in the text")


def _refuse_constant(name: str) -> object:
    raise ValueError(name)
