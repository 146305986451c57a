"""Valid and invalid token counts in the events of a stream."""

import pytest

from models_registry.providers.event_stream import decode


@pytest.mark.parametrize(
    "number",
    ["NaN", "Infinity", "-Infinity", "-7", "1e400", "true", '"7"', "[]", "{}", "7.5", "null", "9" * 40, "10000001"],
)
def test_impossible_token_count_is_ignored(number: str):
    counts = decode(f'{{"usage": {{"prompt_tokens": {number}, "completion_tokens": 3}}}}'.encode()).token_counts
    assert counts is not None
    assert (counts.prompt, counts.completion, counts.reasoning) == (None, 3, None)


@pytest.mark.parametrize("usage", ['"none"', "[1]", "7", "true", "NaN"])
@pytest.mark.parametrize("place", ['"usage": {}', '"x_groq": {{"usage": {}}}', '"x_groq": {}'])
def test_usage_of_another_shape_is_ignored(usage: str, place: str):
    assert decode(f"{{{place.format(usage)}}}".encode()).token_counts is None


def test_impossible_total_and_details_are_ignored():
    usage = '{"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 1e30, "completion_tokens_details": 5}'
    assert decode(f'{{"usage": {usage}}}'.encode()).token_counts == (7, 3, None)


def test_whole_number_written_as_float_is_counted():
    assert decode(b'{"usage": {"prompt_tokens": 7.0, "completion_tokens": 3}}').token_counts == (7, 3, None)
