"""Phrases and regular expressions matched in linear time.

The expressions are RE2's, because Python's can take exponential time.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import re2

from battles.text.deobfuscation import TextVariant, phrase_needle
from battles.text.normalization import LOOK_ALIKES

# Shorter phrases occur by chance in spelled-out letters, such as an alphabet.
MIN_SPELLED_OUT_LETTERS = 6


class InvalidPattern(ValueError):
    """Raised with the engine's message; "" for a pattern that matches everything."""


@dataclass(frozen=True)
class Matcher:
    """Patterns of which one must occur: needles in TextVariant.words, squeezed in spelled, expressions in written."""

    needles: tuple[str, ...] = ()
    squeezed: tuple[str, ...] = ()
    expressions: tuple[Any, ...] = ()

    def matches(self, variants: Sequence[TextVariant]) -> bool:
        return any(
            any(needle in variant.words for needle in self.needles)
            or any(needle in variant.spelled for needle in self.squeezed)
            or any(expression.search(variant.written) for expression in self.expressions)
            for variant in variants
        )


def phrase_matcher(lines: Iterable[str]) -> Matcher:
    """Raises InvalidPattern for a phrase without a letter or digit."""
    needles = [phrase_needle(line) for line in lines]
    if "" in needles:
        raise InvalidPattern
    spellings = tuple(dict.fromkeys([*needles, *(needle.translate(LOOK_ALIKES) for needle in needles)]))
    squeezed = tuple(needle.replace(" ", "") for needle in spellings)
    return Matcher(spellings, tuple(needle for needle in squeezed if len(needle) >= MIN_SPELLED_OUT_LETTERS))


def expression_matcher(lines: Iterable[str]) -> Matcher:
    """Raises InvalidPattern for an expression that is not RE2's or matches the empty text."""
    return Matcher(expressions=tuple(_compile(line) for line in lines))


@lru_cache(maxsize=512)
def _compile(line: str) -> Any:
    options = re2.Options()
    options.case_sensitive, options.log_errors = False, False
    try:
        expression = re2.compile(line, options)
    except re2.error as error:
        message = error.args[0] if error.args else ""
        raise InvalidPattern(message.decode(errors="replace") if isinstance(message, bytes) else str(message)) from None
    if expression.search("") is not None:
        raise InvalidPattern
    return expression
