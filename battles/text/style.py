import re
from typing import TypedDict

_FENCED = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^ {0,3}#{1,6} ", re.MULTILINE)
_LIST_ITEM = re.compile(r"^[^\S\n]*(?:[-*+]|\d{1,9}[.)]) ", re.MULTILINE)
_BOLD = re.compile(r"\*\*[^*\n]+\*\*|__[^_\n]+__")


class StyleCounts(TypedDict):
    tokens: int
    headings: int
    bold: int
    lists: int


def style_counts(text: str, tokens: int) -> StyleCounts:
    """Count headings, bold runs and list items outside fenced code; `tokens` is copied."""
    prose = _FENCED.sub("", text)
    return {
        "tokens": tokens,
        "headings": len(_HEADING.findall(prose)),
        "bold": len(_BOLD.findall(prose)),
        "lists": len(_LIST_ITEM.findall(prose)),
    }
