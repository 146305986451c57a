"""Cells of CSV that no spreadsheet runs as formulas."""

import re
from datetime import datetime

import msgspec

# First character of a formula, in ASCII or full width, also after invisible characters.
_FORMULA = re.compile(r"[\s\x00-\x1f\u200b-\u200f\u2060\ufeff]*[=+\-@＝＋－＠]")
_QUOTES = re.compile(r"'+")


def escape_formula(value: object) -> object:
    """Prefix a quote to text that a spreadsheet might run as a formula."""
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value


def inert_cell(value: object) -> object:
    """Return texts that are formulas, also after quotes, with one more quote; lists joined by semicolons."""
    match value:
        case str():
            return f"'{value}" if _is_formula(value) else value
        case list() | tuple():
            return inert_cell(";".join(value))
        case datetime():
            return msgspec.to_builtins(value)
    return value


def unquote(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and _is_formula(cell) else cell


def _is_formula(text: str) -> bool:
    return _FORMULA.match(_QUOTES.sub("", text, count=1) if text.startswith("'") else text) is not None
