"""Limits of single values, whichever syntax they were written in."""

import math

from benchmarks.imports.limits import MAX_DEPTH, MAX_NODES, MAX_TEXT
from benchmarks.imports.reading_log import Place, ReadError
from common.text.storable import has_unstorable


def check_value(value: object, place: Place, *, has_files: bool = False) -> None:
    """Raise ReadError for a value that cannot be stored, or is too long or too deep.

    has_files: files as data: addresses may be longer than texts.
    """
    pending, nodes = [(value, 0)], 0
    while pending:
        item, depth = pending.pop()
        if isinstance(item, str):
            _check_text(item, place, has_files=has_files)
        elif isinstance(item, dict | list):
            if depth >= MAX_DEPTH:
                raise ReadError("too_deep", place, limit=MAX_DEPTH)
            nodes += len(item)
            if nodes > MAX_NODES:
                raise ReadError("too_many_nodes", place, limit=MAX_NODES)
            if isinstance(item, dict):
                for name in item:
                    _check_text(name, place)
            pending += [(part, depth + 1) for part in (item.values() if isinstance(item, dict) else item)]
        elif isinstance(item, float):
            if not math.isfinite(item):
                raise ReadError("not_finite", place)
        elif isinstance(item, int) and not -(2**63) <= item < 2**63:
            raise ReadError("number_too_large", place)


def _check_text(text: str, place: Place, *, has_files: bool = False) -> None:
    if len(text) > MAX_TEXT and not (has_files and text.startswith("data:")):
        raise ReadError("text_too_long", place, limit=MAX_TEXT, characters=len(text))
    if "\0" in text:
        raise ReadError("nul", place)
    if not text.isascii() and has_unstorable(text):
        raise ReadError("lone_surrogate", place)


def as_text(value: object) -> str:
    """Return the text that a person would write for a scalar."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return "" if value is None else str(value)
