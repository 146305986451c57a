"""Measure how long a rule takes to search a long prompt: RE2 is linear, but may take milliseconds a line."""

from collections import Counter
from collections.abc import Iterator, Sequence
from time import thread_time

from battles.text.deobfuscation import TextVariant, text_variants
from battles.text.matching import Matcher

# CPU time that one rule may take for a prompt of PROBE_CHARACTERS.
MAX_RULE_S = 0.05
PROBE_CHARACTERS = 20_000
# Probes repeat letters of the rule, because texts that match for long and then fail take the longest.
MAX_PROBED_LETTERS = 8
_PROSE = "The quick brown fox jumps over the lazy dog, 42 times. "


def search_seconds(matchers: Sequence[Matcher], patterns: Sequence[str]) -> float:
    """Return the CPU time in seconds for the slowest of several long texts.

    patterns: the source of the matchers. Stops once the time exceeds MAX_RULE_S.
    """
    slowest = 0.0
    for text in _probes("".join(patterns)):
        variants = text_variants([text])
        spent = 0.0
        for matcher in matchers:
            spent += min(_seconds(matcher, variants) for _ in range(2))  # the first search also builds its automaton
            if spent > MAX_RULE_S:
                return spent
        slowest = max(slowest, spent)
    return slowest


def _seconds(matcher: Matcher, variants: Sequence[TextVariant]) -> float:
    started = thread_time()
    matcher.matches(variants)
    return thread_time() - started


def _probes(pattern: str) -> Iterator[str]:
    letters = [letter for letter, _ in Counter(filter(str.isalnum, pattern.lower())).most_common(MAX_PROBED_LETTERS)]
    for unit in [_PROSE, *letters, *(f"{letter} " for letter in letters), pattern]:
        yield (unit * (PROBE_CHARACTERS // len(unit) + 1))[:PROBE_CHARACTERS] if unit else ""
