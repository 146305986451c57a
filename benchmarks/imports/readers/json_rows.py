"""JSON lines, and JSON arrays of objects, with the line of each record."""

import json
import re
from collections.abc import Iterator

from benchmarks.imports.readers.encoding import BOM, check_utf8, place_of_character
from benchmarks.imports.readers.rows import Row
from benchmarks.imports.readers.values import check_value
from benchmarks.imports.reading_log import Place, ReadError, ReadingLog

_SPACE = re.compile(r"[ \t\r\n]*")
# Wrappers of exported arrays: {"data": [...]}.
_WRAPPERS = ("data", "items", "examples", "samples", "rows", "dataset", "questions", "test_cases", "goldens")


_WRAPPED = re.compile(rf'\{{\s*"(?:{"|".join(_WRAPPERS)})"\s*:\s*')


class _Problem(Exception):
    pass


def _unique_pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    values = dict(pairs)
    if len(values) < len(pairs):
        seen: set[str] = set()
        for name, _value in pairs:
            if name in seen:
                raise _Problem("duplicate_key", name)
            seen.add(name)
    return values


def _refuse_constant(name: str) -> object:
    raise _Problem("not_finite", name)


_DECODER = json.JSONDecoder(object_pairs_hook=_unique_pairs, parse_constant=_refuse_constant)


def decode(text: str, place: Place) -> object:
    """Return one JSON value. Raises ReadError with the line and column, as far as the parser knows them."""
    try:
        value: object = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise _not_json(error, place) from error
    except _Problem as problem:
        code, name = problem.args
        raise ReadError(code, _place_of_name(text, name, code, place), name=name) from problem
    except RecursionError as error:
        raise ReadError("too_deep", place) from error
    except ValueError as error:  # more digits than Python converts
        raise ReadError("number_too_large", place) from error
    check_value(value, place, has_files=True)
    return value


def _not_json(error: json.JSONDecodeError, place: Place) -> ReadError:
    column = error.colno + (place.column - 1 if error.lineno == 1 and place.column else 0)
    return ReadError("not_json", Place(place.line + error.lineno - 1, column, place.file), problem=error.msg)


def _place_of_name(text: str, name: str, code: str, place: Place) -> Place:
    """Find a constant, or the second key of this name: the first match may be text, and then only the line is right."""
    pattern = rf'"{re.escape(name)}"\s*:' if code == "duplicate_key" else rf"(?<![\w\"]){re.escape(name)}(?![\w\"])"
    matches = list(re.finditer(pattern, text))[:2]
    if not matches:
        return place
    position = place_of_character(text, matches[-1 if code == "duplicate_key" else 0].start())
    return Place(place.line + position.line - 1, position.column, place.file)


def read_json_lines(content: bytes, log: ReadingLog, file: str = "") -> Iterator[Row]:
    """Yield each line's object; errors of lines go to the log."""
    check_utf8(content, file)
    start = len(BOM) if content.startswith(BOM) else 0
    line = 0
    while start < len(content):
        line += 1
        end = content.find(b"\n", start)
        end = len(content) if end < 0 else end
        text = content[start:end].decode().strip(" \t\r")
        start = end + 1
        if text:
            yield from _row(text, Place(line, 0, file), log)


def _row(text: str, place: Place, log: ReadingLog) -> Iterator[Row]:
    try:
        value = decode(text, place)
    except ReadError as error:
        log.refuse_error(error)
        return
    if isinstance(value, dict):
        yield Row(value, place.line, file=place.file)
    else:
        log.refuse("not_an_object", place)


def read_json_array(content: bytes, log: ReadingLog, file: str = "") -> Iterator[Row]:
    """Yield the objects of an array, or of an object that wraps one. Raises ReadError."""
    check_utf8(content, file)
    text = content.decode("utf-8-sig")
    position = _opening(text, file)
    line, counted = 1, 0
    while text[position : position + 1] != "]":
        line, counted = line + text.count("\n", counted, position), position
        place = Place(line, position - text.rfind("\n", 0, position), file)
        value, position = _element(text, position, place)
        if not isinstance(value, dict):
            log.refuse("not_an_object", place)
        else:
            try:
                check_value(value, place, has_files=True)
                yield Row(value, line, file=file)
            except ReadError as error:
                log.refuse_error(error)
        position = _skip(text, position)
        if text[position : position + 1] == ",":
            position = _skip(text, position + 1)
        elif text[position : position + 1] != "]":
            raise ReadError("not_json", place_of_character(text, position, file), problem="Expecting ',' or ']'")


def _element(text: str, position: int, place: Place) -> tuple[object, int]:
    try:
        return _DECODER.raw_decode(text, position)
    except json.JSONDecodeError as error:
        raise ReadError("not_json", Place(error.lineno, error.colno, place.file), problem=error.msg) from error
    except _Problem as problem:
        code, name = problem.args
        raise ReadError(code, place, name=name) from problem
    except RecursionError as error:
        raise ReadError("too_deep", place) from error
    except ValueError as error:
        raise ReadError("number_too_large", place) from error


def _opening(text: str, file: str) -> int:
    """Return the position of the first element."""
    position = _skip(text, 0)
    if text[position : position + 1] == "{":
        wrapped = _WRAPPED.match(text, position)
        if wrapped is None:
            raise ReadError("no_records", place_of_character(text, position, file))
        position = wrapped.end()
    if text[position : position + 1] != "[":
        raise ReadError("no_records", place_of_character(text, position, file))
    return _skip(text, position + 1)


def is_lines(content: bytes) -> bool:
    """Return whether the first line is an object of its own."""
    return content.lstrip(BOM + b" \t\r\n").partition(b"\n")[0].rstrip().endswith(b"}") and b"\n{" in content


def is_wrapped(content: bytes) -> bool:
    """Return whether an object has the records in one of its fields."""
    return _WRAPPED.match(content[:1_000].decode("utf-8-sig", "replace").lstrip()) is not None


def _skip(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position
