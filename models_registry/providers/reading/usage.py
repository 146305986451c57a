"""Token counts as servers report them, under many names."""

import re
from functools import lru_cache
from typing import NamedTuple

from common.payload_types import JsonObject

# A larger number is taken for this one; battles.calls.outcomes bounds it by what the call allowed.
MAX_TOKENS = 1_000_000_000
_NAMES = {
    "prompt": re.compile(r"(?:prompt|input)(?:tokens?|tokens?count|evalcount|n|count)|tokensin|promptn"),
    "completion": re.compile(
        r"(?:completion|output|candidates|generated|response|predicted)(?:tokens?|tokens?count|count|n)|evalcount"
        r"|tokensout"
    ),
    "total": re.compile(r"total(?:tokens?|tokens?count|count)|tokens?total"),
    "reasoning": re.compile(r"(?:reasoning|thoughts?|thinking)(?:tokens?|tokens?count|outputtokens)"),
    # Anthropic counts these beside its input.
    "cache_read": re.compile(r"cachereadinputtokens"),
    "cache_write": re.compile(r"cachecreationinputtokens"),
    "details": re.compile(r"(?:completion|output|candidates|response)tokens?details?"),
}
_NO_LETTERS = re.compile(r"[^a-z]+")


class TokenCounts(NamedTuple):
    """Tokens of a call as reported; None for what is not reported."""

    prompt: int | None = None
    # Answer and reasoning.
    completion: int | None = None
    reasoning: int | None = None
    # Reported, if it alone tells of the prompt or of the completion.
    total: int | None = None

    @classmethod
    def from_usage(cls, usage: JsonObject) -> "TokenCounts":
        counts = _find(usage)
        prompt, completion, total = (counts.get(name) for name in ("prompt", "completion", "total"))
        reasoning = counts.get("reasoning")
        if prompt is not None:
            prompt += counts.get("cache_read", 0) + counts.get("cache_write", 0)
        if total and prompt and not completion:
            completion = max(0, total - prompt)
        elif total and completion and not prompt:
            prompt = max(0, total - completion)
        elif completion is not None and prompt and total:  # Gemini counts the reasoning in the total only
            uncounted = max(0, total - prompt - completion)
            completion += uncounted
            reasoning = reasoning or uncounted or reasoning
        return cls(prompt, completion, reasoning, total)

    def after(self, earlier: "TokenCounts") -> "TokenCounts":
        """Return these counts, and the earlier ones where these are missing or 0."""
        return TokenCounts(*(late or early if early else late for late, early in zip(self, earlier, strict=True)))


def _find(usage: JsonObject) -> dict[str, int]:
    counts: dict[str, int] = {}
    for name, value in usage.items():
        if isinstance(value, dict):
            if _meaning_of(str(name)) == "details":
                counts = {key: count for key, count in _find(value).items() if key == "reasoning"} | counts
            continue
        count = _count(value)
        key = _meaning_of(str(name))
        if key is not None and count is not None:
            counts[key] = max(count, counts.get(key, 0))
    return counts


@lru_cache(500)
def _meaning_of(name: str) -> str | None:
    word = _NO_LETTERS.sub("", name[:60].lower())
    return next((meaning for meaning, pattern in _NAMES.items() if pattern.fullmatch(word)), None)


def _count(value: object) -> int | None:
    """Return a number of tokens, also of digits as text; None for any other value, such as NaN."""
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit():
        value = min(int(value[:30]), MAX_TOKENS)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not 0 <= value < float("inf"):
        return None
    return int(min(value, MAX_TOKENS)) if value > MAX_TOKENS or value == int(value) else None
