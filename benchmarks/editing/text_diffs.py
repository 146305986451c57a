"""Differences of two texts, word by word."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

# SequenceMatcher takes quadratic time: longer texts are compared line by line, and beyond that as a whole.
MAX_TOKENS = 2_000
_WORDS = re.compile(r"\s+|\w+|[^\w\s]")


@dataclass(frozen=True)
class Part:
    kind: Literal["same", "removed", "added"]
    text: str


def diff(before: str, after: str) -> list[Part]:
    if before == after:
        return _parts([("same", before)])
    splits = (_WORDS.findall, lambda text: text.splitlines(keepends=True))
    for split in splits:
        old, new = split(before), split(after)
        if len(old) + len(new) <= MAX_TOKENS:
            return _diff(old, new)
    return _parts([("removed", before), ("added", after)])


def _diff(old: Sequence[str], new: Sequence[str]) -> list[Part]:
    pieces: list[tuple[Literal["same", "removed", "added"], str]] = []
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            pieces.append(("same", "".join(old[a:b])))
        else:
            pieces += [("removed", "".join(old[a:b])), ("added", "".join(new[c:d]))]
    return _parts(pieces)


def _parts(pieces: Sequence[tuple[Literal["same", "removed", "added"], str]]) -> list[Part]:
    return [Part(kind, text) for kind, text in pieces if text]
