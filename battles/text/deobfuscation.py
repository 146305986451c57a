"""Undo obfuscation: spell a text in every way in which a reader may understand it."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from battles.text.normalization import LOOK_ALIKES, normalize_letters

# Stored with verdicts; to be raised when this module finds other things than before.
VERSION = "2"

# A phrase that begins in one text and ends in the next has fewer letters on either side. Signs between them and letters
# without a glyph do not count: any number may stand there.
_BEGINNING = re.compile(r"(?:[\W_\u115f\u1160\u3164\uffa0]*+[^\W_\u115f\u1160\u3164\uffa0]){500}\S*")

# The first code point of the scripts that put no spaces between words.
_FIRST_UNSPACED = "\u0e00"
_HYPHEN_AT_LINE_END = re.compile(r"(?<=\w)-\s(?=\w)")
_SIGNS_IN_WORD = re.compile(r"(?<=[^\W_])(?:_|[^\w\s])+(?=[^\W_])")
_SINGLE_LETTERS = re.compile(r"(?<![^\W_])[^\W_](?: [^\W_]){2,}(?![^\W_])")
_BETWEEN_WORDS = re.compile(r"[\W_]+")
# Words of one letter in the most frequent languages: after “a”, a word with separated letters may follow.
_ONE_LETTER_WORDS = frozenset("aeiouy")


class TextVariant(NamedTuple):
    """One spelling of a text.

    words: separated, preceded and followed by one space. spelled: the words whose letters are separated, joined.
    """

    written: str
    words: str
    spelled: str


def text_variants(texts: Sequence[str]) -> list[TextVariant]:
    """Return the spellings of consecutive texts; a phrase may begin in one and end in the next.

    All are in lower case and usual width, without invisible characters and accents. Look-alikes of other alphabets also
    become Latin letters, and separated letters are also joined.
    """
    # Joined without a line break only around seams: a second copy of long texts would take as long again.
    wholes = ["\n".join(texts), *map("".join, around_seams(texts))] if len(texts) > 1 else list(texts)
    written = dict.fromkeys(spelling for whole in wholes for spelling in _spellings(whole))
    return [TextVariant(text, space_words(text), _spelled_out(text)) for text in written]


def around_seams(texts: Sequence[str]) -> list[list[str]]:
    """Return groups of consecutive texts without the middle of long ones, which no seam between texts concerns."""
    groups: list[list[str]] = [[]]
    for text in texts:
        beginning, end = _BEGINNING.match(text), _BEGINNING.match(text[::-1])
        if beginning is None or end is None or beginning.end() + end.end() >= len(text):
            groups[-1].append(text)
        else:
            groups[-1].append(beginning[0])
            groups.append([end[0][::-1]])
    return groups


def space_words(text: str) -> str:
    return f" {_BETWEEN_WORDS.sub(' ', text).strip()} "


def phrase_needle(phrase: str) -> str:
    """Return the string to search in TextVariant.words, "" without a word; `*` at the end marks a prefix."""
    words = space_words(normalize_line(phrase.removesuffix("*")))
    if not words.strip():
        return ""
    needle = words if words[1] < _FIRST_UNSPACED else words[1:]
    return needle.rstrip() if phrase.endswith("*") or needle[-2] >= _FIRST_UNSPACED else needle


def normalize_line(text: str) -> str:
    return " ".join(normalize_letters(text).split())


def _spelled_out(line: str) -> str:
    return " ".join(run.replace(" ", "") for run in _SINGLE_LETTERS.findall(line))


def _spellings(text: str) -> Iterator[str]:
    line = normalize_line(text)
    for spelling in (line, line.translate(LOOK_ALIKES)):
        yield spelling
        yield from _joined(spelling)


def _joined(line: str) -> Iterator[str]:
    """Yield the line with the parts of words joined: “bo-mb”, “b.o.m.b” and “b o m b” are one word."""
    line = _SIGNS_IN_WORD.sub("", _HYPHEN_AT_LINE_END.sub("", line))
    yield _SINGLE_LETTERS.sub(lambda run: run[0].replace(" ", ""), line)
    yield _SINGLE_LETTERS.sub(_join_after_first, line)


def _join_after_first(run: re.Match[str]) -> str:
    first, rest = run[0][0], run[0][2:].replace(" ", "")
    return f"{first} {rest}" if first in _ONE_LETTER_WORDS else first + rest
