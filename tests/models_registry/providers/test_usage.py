"""Token counts under the names and in the shapes of servers."""

import pytest

from models_registry.providers.reading.chunks import ConvertedChunk, decode
from models_registry.providers.reading.usage import MAX_TOKENS, TokenCounts


def counts_of(payload: str) -> TokenCounts | None:
    """Return the counts of an event; None without any."""
    [chunk] = decode(payload.encode())
    usages = chunk.usages if isinstance(chunk, ConvertedChunk) else [chunk.usage] if chunk.usage else []
    return TokenCounts.from_usage(usages[0]) if usages and isinstance(usages[0], dict) else None


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "-7", "1e400", "true", "[]", "{}", "7.5", "null"])
def test_impossible_token_count_is_ignored(number: str):
    counts = counts_of(f'{{"choices": [], "usage": {{"prompt_tokens": {number}, "completion_tokens": 3}}}}')
    assert counts is not None
    assert counts[:3] == (None, 3, None)


@pytest.mark.parametrize("number", ["9" * 40, "9" * 5_000, '"' + "9" * 400 + '"', "1e30"])
def test_enormous_token_count_has_a_maximum(number: str):
    counts = counts_of(f'{{"choices": [], "usage": {{"prompt_tokens": 7, "completion_tokens": {number}}}}}')
    assert counts is not None
    assert counts[:2] == (7, MAX_TOKENS)


@pytest.mark.parametrize("usage", ['"none"', "[1]", "7", "true", "NaN"])
@pytest.mark.parametrize("place", ['"usage": {}', '"x_groq": {{"usage": {}}}', '"x_groq": {}'])
def test_usage_of_another_shape_is_ignored(usage: str, place: str):
    assert counts_of(f'{{"choices": [], {place.format(usage)}}}') is None


NAMES = [
    {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
    {"prompt_tokens": "11", "completion_tokens": " 7 "},
    {"prompt_tokens": 11.0, "completion_tokens": 7},
    {"input_tokens": 11, "output_tokens": 7},
    {"inputTokens": 11, "outputTokens": 7, "totalTokens": 18},
    {"promptTokenCount": 11, "candidatesTokenCount": 7},
    {"prompt_eval_count": 11, "eval_count": 7},
    {"input_token_count": 11, "generated_token_count": 7},
    {"prompt_tokens": 11, "total_tokens": 18},
    {"completion_tokens": 7, "total_tokens": 18},
    {"prompt_tokens": 11, "completion_tokens": 0, "total_tokens": 18},
    {"input_tokens": 1, "cache_read_input_tokens": 10, "output_tokens": 7},
    {"prompt_tokens": 11, "prompt_tokens_details": {"cached_tokens": 10, "audio_tokens": 0}, "completion_tokens": 7},
]


@pytest.mark.parametrize("usage", NAMES, ids=[" ".join(usage) for usage in NAMES])
def test_usage_is_read_under_any_name(usage: dict[str, object]):
    assert TokenCounts.from_usage(usage)[:2] == (11, 7)


@pytest.mark.parametrize(
    ("usage", "completion", "reasoning"),
    [
        ({"completion_tokens": 63, "completion_tokens_details": {"reasoning_tokens": 60}}, 63, 60),
        ({"output_tokens": 63, "output_tokens_details": {"reasoning_tokens": 60}}, 63, 60),
        ({"completion_tokens": 63, "reasoning_tokens": "60"}, 63, 60),
        ({"completion_tokens": 3, "total_tokens": 70}, 63, 60),
        ({"completion_tokens": 3, "total_tokens": 1e40}, MAX_TOKENS - 7, MAX_TOKENS - 10),
    ],
)
def test_reasoning_is_part_of_the_completion(usage: dict[str, object], completion: int, reasoning: int):
    assert TokenCounts.from_usage({"prompt_tokens": 7, **usage})[:3] == (7, completion, reasoning)


def test_later_zero_keeps_the_earlier_count():
    earlier = TokenCounts(11, 7, None, 18)
    assert TokenCounts(0, 0, 0, 0).after(earlier) == (11, 7, 0, 18)
    assert TokenCounts(None, 9).after(earlier) == (11, 9, None, 18)
