"""A text as its reader takes it in, whatever was done to hide it from whoever compares letters. No Django here."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from battles.text.normalization import LOOK_ALIKES, plain_letters

# Of this module, for the verdicts: another one may find other things.
VERSION = "1"

# The letters at which scripts begin that put no spaces between words.
_WITHOUT_SPACES = "\u0e00"
_HYPHEN_AT_LINE_END = re.compile(r"(?<=\w)-\s(?=\w)")
_SIGNS_IN_A_WORD = re.compile(r"(?<=[^\W_])(?:_|[^\w\s])+(?=[^\W_])")
_SINGLE_LETTERS = re.compile(r"(?<![^\W_])[^\W_](?: [^\W_]){2,}(?![^\W_])")
_BETWEEN_WORDS = re.compile(r"[\W_]+")
# Words of one letter, in the languages most written here: what follows “a” may be a word whose letters stand apart.
_WORDS_OF_ONE_LETTER = frozenset("aeiouy")


class Reading(NamedTuple):
    """One way to take a text: as it is written, as words with one space before and after each, and what is spelled
    out in it, letter by letter."""

    written: str
    words: str
    spelled: str


def readings(texts: Sequence[str]) -> list[Reading]:
    """Every way to take the texts, which follow one another: a phrase may begin in one and end in the next.

    Full-width letters are usual ones, invisible characters and accents are gone, capitals are small, look-alikes of
    other alphabets are also Latin letters, and words whose letters stand apart or are parted by signs also in one.
    """
    wholes = ["\n".join(texts), "".join(texts)] if len(texts) > 1 else list(texts)
    written = dict.fromkeys(spelling for whole in wholes for spelling in _spellings(whole))
    return [Reading(text, words_of(text), _spelled_out(text)) for text in written]


def words_of(text: str) -> str:
    return f" {_BETWEEN_WORDS.sub(' ', text).strip()} "


def needle_of(phrase: str) -> str:
    """What to look for in Reading.words; with a star at its end, a phrase is the beginning of words as well."""
    words = words_of(one_line(phrase.removesuffix("*")))
    if not words.strip():
        return ""
    begins = words if words[1] < _WITHOUT_SPACES else words[1:]
    return begins.rstrip() if phrase.endswith("*") or begins[-2] >= _WITHOUT_SPACES else begins


def one_line(text: str) -> str:
    return " ".join(plain_letters(text).split())


def _spelled_out(line: str) -> str:
    return " ".join(run.replace(" ", "") for run in _SINGLE_LETTERS.findall(line))


def _spellings(text: str) -> Iterator[str]:
    line = one_line(text)
    for spelling in (line, line.translate(LOOK_ALIKES)):
        yield spelling
        yield from _joined(spelling)


def _joined(line: str) -> Iterator[str]:
    """With the parts of words put together: “bo-mb”, “b.o.m.b” and “b o m b” are one word."""
    line = _SIGNS_IN_A_WORD.sub("", _HYPHEN_AT_LINE_END.sub("", line))
    yield _SINGLE_LETTERS.sub(lambda run: run[0].replace(" ", ""), line)
    yield _SINGLE_LETTERS.sub(_but_the_first, line)


def _but_the_first(run: re.Match[str]) -> str:
    first, rest = run[0][0], run[0][2:].replace(" ", "")
    return f"{first} {rest}" if first in _WORDS_OF_ONE_LETTER else first + rest
