"""Generated responses, framing by shapes by cuts: each is read to the same text, and nothing else is raised."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from models_registry.providers import FailureCode
from models_registry.providers.reading.finish_reasons import Finish
from tests.models_registry.providers.reading import Read, read

MANY = settings(
    max_examples=300, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck)
)
# Signs that begin no mark of reasoning: tests of reasoning_tags have those.
WORDS = st.text(alphabet=st.characters(exclude_characters="<[◁\0\ufffd", exclude_categories=["Cs"]), max_size=12)
TEXTS = st.lists(WORDS, min_size=1, max_size=6).map(lambda words: ["The ", *words])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(
        ["choices", "delta", "message", "content", "text", "type", "index", "error", "usage", "finish_reason",
         "tool_calls", "function", "name", "arguments", "reasoning", "thinking", "code", "id", "data", "parts"]
    ), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip
# Each of one text, or of a part of reasoning.
TEXT_SHAPES = [
    lambda word: {"delta": {"content": word}},
    lambda word: {"delta": {"content": [{"type": "text", "text": word}]}},
    lambda word: {"delta": {"content": [word]}},
    lambda word: {"delta": {"content": {"text": word}}},
    lambda word: {"delta": {"text": word}, "x": 1},
    lambda word: {"message": {"role": "assistant", "content": word}},
    lambda word: {"text": word},
    lambda word: {"delta": {"refusal": word}},
    lambda word: {"delta": {"audio": {"transcript": word}}},
]
REASONING_SHAPES = [
    lambda word: {"delta": {"reasoning": word}},
    lambda word: {"delta": {"reasoning_content": word, "reasoning": word}},
    lambda word: {"delta": {"reasoning_details": [{"type": "reasoning.text", "text": word}]}},
    lambda word: {"delta": {"content": [{"type": "thinking", "thinking": word}]}},
    lambda word: {"delta": {"thinking_blocks": [{"type": "thinking", "thinking": word}]}},
    lambda word: {"delta": {"thought": {"text": word}}},
]
FRAMES = [
    lambda value: f"data: {value}\n\n",
    lambda value: f"data:{value}\r\n\r\n",
    lambda value: f"data: {value}\r\r",
    lambda value: f"  DATA :  {value}  \n\n",
    lambda value: f"event: message\nid: 1\ndata: {value}\n\n",
    lambda value: f"\ufeffdata: {value}\n\n",
    lambda value: f"data: {value}\n",
    lambda value: f"{value}\n",
    lambda value: f"data: data: {value}\n\n",
    lambda value: f"data: {json.dumps(value)}\n\n",
    lambda value: f"data: [{value}]\n\n",
]
HEARTBEATS = st.sampled_from(
    ["", "\n\n", *(f"{beat}\n\n" for beat in (": p", "data:", "data: null", "data: p", "data: {}"))]
)
ENDS = st.sampled_from(["data: [DONE]\n\n", 'data: "[DONE]"\n\n', "data: [DONE]\n", ""])
FINISHES = st.sampled_from(["stop", "eos", "max_tokens", "SAFETY", "STOP", "odd"])


def cut(body: bytes, sizes: list[int]) -> list[bytes]:
    pieces, at = [], 0
    for size in sizes:
        pieces.append(body[at : at + size])
        at += size
    return [*pieces, body[at:]]


CUTS = st.lists(st.integers(1, 60), max_size=40)


@st.composite
def answers(draw: st.DrawFn) -> tuple[bytes, str, str]:
    """Generate a response with its text and its reasoning."""
    frame, text_shape, reasoning_shape = (draw(st.sampled_from(of)) for of in (FRAMES, TEXT_SHAPES, REASONING_SHAPES))
    thoughts, words = draw(st.lists(WORDS, max_size=3)), draw(TEXTS)
    choices = [*map(reasoning_shape, filter(None, thoughts)), *map(text_shape, filter(None, words))]
    choices[-1]["finish_reason"] = draw(FINISHES)
    ascii_only = draw(st.booleans())
    body = ""
    for choice in choices:
        value = json.dumps({"choices": [{"index": 0, **choice}]}, ensure_ascii=ascii_only)
        body += draw(HEARTBEATS) + frame(value)
    return (body + draw(ENDS)).encode(), "".join(words), "".join(thoughts)


def is_in_a_state(got: Read) -> bool:
    stored = set(Finish) - {Finish.BROKEN_OFF, Finish.UNKNOWN}
    return got.code in set(FailureCode) or (got.code == "" and got.completion.finish_reason in stored)


def check_answer(answer: tuple[bytes, str, str], sizes: list[int]) -> None:
    body, text, reasoning = answer
    got = read(cut(body, sizes))
    assert (got.code, got.text, got.reasoning) == ("", text, reasoning)
    assert is_in_a_state(got)


def check_garbage(values: list[Any], frame: int, sizes: list[int]) -> None:
    """Any JSON in any frame ends in a state, at every cut in the same one."""
    body = "".join(FRAMES[frame % len(FRAMES)](json.dumps(value)) for value in values).encode()
    at_once, in_pieces = read([body], takes_tools=True), read(cut(body, sizes), takes_tools=True)
    assert is_in_a_state(at_once)
    assert (at_once.code, at_once.text, at_once.reasoning) == (in_pieces.code, in_pieces.text, in_pieces.reasoning)


GARBAGE = st.lists(JSON | st.builds(lambda choice: {"choices": [choice]}, JSON), max_size=6)


@pytest.mark.slow
@MANY
@given(answers(), CUTS)
def test_generated_answer_is_read_whole_at_every_cut(answer: tuple[bytes, str, str], sizes: list[int]):
    check_answer(answer, sizes)


@pytest.mark.slow
@MANY
@given(GARBAGE, st.integers(0, 100), CUTS)
def test_generated_garbage_ends_in_a_state(values: list[Any], frame: int, sizes: list[int]):
    check_garbage(values, frame, sizes)


@pytest.mark.long
@pytest.mark.timeout(0)
@settings(MANY, max_examples=10_000)
@given(answers(), CUTS)
def test_many_generated_answers_are_read_whole(answer: tuple[bytes, str, str], sizes: list[int]):
    check_answer(answer, sizes)


@pytest.mark.long
@pytest.mark.timeout(0)
@settings(MANY, max_examples=10_000)
@given(GARBAGE, st.integers(0, 100), CUTS)
def test_much_generated_garbage_ends_in_a_state(values: list[Any], frame: int, sizes: list[int]):
    check_garbage(values, frame, sizes)
