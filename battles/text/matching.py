"""Whether a text holds a phrase or fits a regular expression, in time that only grows with its length. No Django here.

Regular expressions are RE2's: none takes exponential time, whoever wrote it and whatever it is shown.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import re2

from battles.text.deobfuscation import Reading, needle_of
from battles.text.normalization import LOOK_ALIKES

# Shorter phrases are found in whatever is spelled out, such as an alphabet.
SHORTEST_SPELLED_OUT = 6


class NotAPattern(ValueError):
    """The message says what is wrong, in the engine's words or "" where it fits everything."""


@dataclass(frozen=True)
class Matcher:
    """Any one of them is enough. `needles` are looked for in words, `squeezed` ones in what is spelled out, and
    `expressions` in what is written."""

    needles: tuple[str, ...] = ()
    squeezed: tuple[str, ...] = ()
    expressions: tuple[Any, ...] = ()

    def finds(self, readings: Sequence[Reading]) -> bool:
        return any(
            any(needle in reading.words for needle in self.needles)
            or any(needle in reading.spelled for needle in self.squeezed)
            or any(expression.search(reading.written) for expression in self.expressions)
            for reading in readings
        )


def phrases(lines: Iterable[str]) -> Matcher:
    """Raises NotAPattern for one without a letter or a digit."""
    needles = [needle_of(line) for line in lines]
    if "" in needles:
        raise NotAPattern
    spellings = tuple(dict.fromkeys([*needles, *(needle.translate(LOOK_ALIKES) for needle in needles)]))
    squeezed = tuple(needle.replace(" ", "") for needle in spellings)
    return Matcher(spellings, tuple(one for one in squeezed if len(one) >= SHORTEST_SPELLED_OUT))


def expressions(lines: Iterable[str]) -> Matcher:
    """Raises NotAPattern for what is no expression of RE2, and for what fits an empty text."""
    return Matcher(expressions=tuple(_compiled(line) for line in lines))


@lru_cache(maxsize=512)
def _compiled(line: str) -> Any:
    options = re2.Options()
    options.case_sensitive, options.log_errors = False, False
    try:
        expression = re2.compile(line, options)
    except re2.error as error:
        said = error.args[0] if error.args else ""
        raise NotAPattern(said.decode(errors="replace") if isinstance(said, bytes) else str(said)) from None
    if expression.search("") is not None:
        raise NotAPattern
    return expression
