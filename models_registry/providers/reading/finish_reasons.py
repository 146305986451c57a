"""Meaning of finish reasons, which servers spell in many ways."""

import re
from enum import StrEnum
from functools import lru_cache


class Finish(StrEnum):
    """Values are OpenAI's words, as stored; BROKEN_OFF and UNKNOWN are never stored."""

    STOP = "stop"
    LENGTH = "length"
    FILTERED = "content_filter"
    CALLS = "tool_calls"
    BROKEN_OFF = "broken_off"
    UNKNOWN = "unknown"


# The first pattern found in the word, in lower case and with underscores, decides.
_MEANINGS = [
    (
        re.compile(
            r"filter|safety|unsafe|toxic|moderat|policy|blocked|blocklist|prohibited|sensitive|guardrail|recitation"
            r"|spii|refus|harm|risk|inspection|violation|copyright"
        ),
        Finish.FILTERED,
    ),
    # This one comes before the errors: an error of the limit is an answer that reached it.
    (re.compile(r"error_(?:limit|max|length)|(?:output|max|total)_tokens?_exceeded"), Finish.LENGTH),
    (
        re.compile(
            r"error|abort|cancel|fail|network|broken|interrupt|disconnect|connection|time_?(?:d_)?(?:out|limit)|unavailable"
            r"|overload|insufficient|resource|rate_?limit|quota|crash|exception|shutdown|preempt|kill|malformed|unexpected"
            r"|invalid|missing|evict|lost|reset"
        ),
        Finish.BROKEN_OFF,
    ),
    (re.compile(r"tool|function|call"), Finish.CALLS),
    (re.compile(r"length|max|limit|truncat|window|context|budget|^tokens?$|cut_?off"), Finish.LENGTH),
    (
        re.compile(
            r"stop|^eos|^eot|^eog|end_?(?:of_?)?(?:turn|token|text|sequence|message)|^end(?:ed)?$|complete|finish|^done$"
            r"|^normal|success|^ok$"
        ),
        Finish.STOP,
    ),
]
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_NO_LETTERS = re.compile(r"[^a-z]+")
# Servers write these where they mean null; after them only [DONE] tells that an answer is whole.
NO_WORDS = frozenset({"", "null", "none", "nil", "undefined", "finish_reason_unspecified", "unspecified"})


@lru_cache(200)
def meaning_of(reason: str) -> Finish | None:
    """Return None for words that mean null."""
    word = _NO_LETTERS.sub("_", _CAMEL.sub("_", reason[:100]).lower()).strip("_")
    if word in NO_WORDS:
        return None
    return next((finish for pattern, finish in _MEANINGS if pattern.search(word)), Finish.UNKNOWN)
