"""Tokens and costs that are booked for each shape of reported usage: docs/adr/0064."""

from decimal import Decimal
from typing import Any

import pytest

from battles.calls.outcomes import OUTCOME_FIELDS, set_outcome
from battles.calls.values import CallResult, PreparedCall
from battles.models import Call
from models_registry.models import Charge, LanguageModel, Price, Provider
from models_registry.providers import ChatRequest, Completion, FailureCode
from models_registry.providers.oddities import Oddity
from models_registry.providers.reading.usage import TokenCounts
from models_registry.providers.sizes import MessagesSize
from models_registry.spending import max_prompt_tokens

PROMPT = [{"role": "user", "content": "Which river flows through Bonn? One sentence, please."}]
TEXT = "The Rhine flows through Bonn, from the south to the north."
THOUGHT = "The person asks for a river, so I name the Rhine and stop there."
CAP = 500
ALLOWED = max_prompt_tokens("m", MessagesSize.of(PROMPT))
PROMPT_ESTIMATE, TEXT_ESTIMATE, WITH_THOUGHT = 18, 20, 41


def booked(
    usage: dict[str, Any], *, text: str = TEXT, reasoning: str = "", messages: Any = PROMPT, **outcome: Any
) -> Call:
    """Return the unsaved row of a call whose prompt costs a dollar a million tokens, and its answer two."""
    counts = TokenCounts.from_usage(usage)
    completion = Completion(
        finish_reason="stop", prompt_tokens=counts.prompt, completion_tokens=counts.completion,
        reasoning_tokens=counts.reasoning, total_tokens=counts.total,
    )  # fmt: skip
    price = Price(input_per_million=Decimal(1), output_per_million=Decimal(2))
    row = Call(model=LanguageModel(provider=Provider(), upstream_name="m", parameters={"max_tokens": CAP}), price=price)
    row.charge = Charge(most=price.cost_of(prompt_tokens=ALLOWED, completion_tokens=CAP))
    request = ChatRequest("http://127.0.0.1:1/v1", "", "m", messages, {"max_tokens": CAP}, {})
    result = CallResult(texts=[text], reasonings=[reasoning], completion=completion, **outcome)
    set_outcome(PreparedCall(row, 0, 0, "", request), result)
    row.request = {"oddities": completion.oddities}
    return row


def usage(prompt: object, completion: object, **more: object) -> dict[str, object]:
    return {"prompt_tokens": prompt, "completion_tokens": completion, **more}


LOW, HIGH, NONE = Oddity.USAGE_TOO_LOW, Oddity.USAGE_TOO_HIGH, Oddity.NO_USAGE
SHAPES: dict[str, tuple[dict[str, object], tuple[int, int], set[Oddity] | None]] = {
    # None: believed as reported. Otherwise marked as estimated, with these oddities.
    "usual": (usage(16, 13), (16, 13), None),
    "hidden reasoning": (usage(16, 400), (16, 400), None),
    "a quarter of the estimate": (usage(5, 5), (5, 5), None),
    "whole allowance": (usage(ALLOWED, CAP), (ALLOWED, CAP), None),
    "system prompt of a chat template": (usage(ALLOWED + 100, 13), (ALLOWED + 100, 13), None),
    "names of another vendor": ({"input_tokens": "16", "output_tokens": "13"}, (16, 13), None),
    "answer from the total": ({"prompt_tokens": 16, "total_tokens": 29}, (16, 13), None),
    "reasoning from the total": (usage(16, 13, total_tokens=129), (16, 113), None),
    "total only": ({"total_tokens": 31}, (PROMPT_ESTIMATE, 13), None),
    "nothing": ({}, (PROMPT_ESTIMATE, TEXT_ESTIMATE), {NONE}),
    "zeros": (usage(0, 0), (PROMPT_ESTIMATE, TEXT_ESTIMATE), {LOW}),
    "less than a quarter": (usage(4, 4), (PROMPT_ESTIMATE, TEXT_ESTIMATE), {LOW}),
    "answer only": ({"completion_tokens": 13}, (PROMPT_ESTIMATE, 13), set()),
    "NaN and negative": (usage(float("nan"), -5), (PROMPT_ESTIMATE, TEXT_ESTIMATE), {NONE}),
    "millions": (usage(16, 9_999_999), (16, CAP), {HIGH}),
    "millions in the prompt": (usage(5_000_000, 13), (ALLOWED, 13), {HIGH}),
    "more than any number": (usage("9" * 400, 1e300), (ALLOWED, CAP), {HIGH}),
}


@pytest.mark.parametrize(("reported", "tokens", "oddities"), SHAPES.values(), ids=SHAPES)
def test_reported_usage_is_booked_within_bounds(
    reported: dict[str, object], tokens: tuple[int, int], oddities: set[Oddity] | None
):
    call = booked(reported)
    assert (call.prompt_tokens, call.completion_tokens) == tokens
    assert call.tokens_estimated == (oddities is not None)
    assert call.request["oddities"] == (oddities or set())
    assert call.charge is not None
    assert call.cost == min(Decimal(tokens[0] + 2 * tokens[1]) / 1_000_000, call.charge.most)


def test_visible_reasoning_is_part_of_the_estimate():
    call = booked(usage(16, 9), reasoning=THOUGHT)
    assert (call.completion_tokens, call.tokens_estimated) == (WITH_THOUGHT, True)
    assert call.reasoning_tokens == round(WITH_THOUGHT * len(THOUGHT) / len(THOUGHT + TEXT))


@pytest.mark.parametrize(
    ("text", "estimate"), [("a" * 30, 10), ("я" * 30, 20), ("莱茵河流经波恩市区", 9), ("🎉" * 3, 4), ("", 0)]
)
def test_estimate_depends_on_the_script(text: str, estimate: int):
    assert booked({}, text=text).completion_tokens == estimate


def test_long_line_of_one_sign_may_be_few_tokens():
    assert booked(usage(16, 9), text="=" * 400 + " Rhine").completion_tokens == 9


def test_pictures_cast_no_doubt_on_a_prompt():
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    message = {"role": "user", "content": [{"type": "text", "text": "Which river?"}, picture]}
    call = booked(usage(90, 13), messages=[message])
    assert (call.prompt_tokens, call.tokens_estimated) == (90, False)


@pytest.mark.parametrize(
    ("error", "reported", "tokens", "is_free"),
    [
        (FailureCode.PROVIDER_ERROR, usage(16, 13), (16, 13), False),
        (FailureCode.CUT, {}, (PROMPT_ESTIMATE, TEXT_ESTIMATE), False),
        (FailureCode.RATE_LIMITED, usage(16, 13), (16, 13), False),
        (FailureCode.RATE_LIMITED, {}, (PROMPT_ESTIMATE, TEXT_ESTIMATE), True),
    ],
)
def test_failed_answer_keeps_what_its_server_reported(
    error: FailureCode, reported: dict[str, object], tokens: tuple[int, int], is_free: bool
):
    call = booked(reported, error=error)
    assert (call.prompt_tokens, call.completion_tokens) == tokens
    assert (call.cost == 0) == is_free
    assert NONE not in call.request["oddities"]


def test_unsent_call_books_nothing():
    call = booked({}, was_sent=False, error=FailureCode.OVER_BUDGET)
    assert (call.prompt_tokens, call.completion_tokens, call.cost, call.tokens_estimated) == (None, None, 0, False)
    assert set(OUTCOME_FIELDS) >= {"tokens_estimated", "cost"}


def test_long_prompt_is_doubted_like_a_short_one():
    """Long texts are judged by pieces, which find repeated characters, too."""
    words = "Which river flows through Bonn? " * 8_000
    for text, believed in ((words, False), (words[:50_000] + "a" * 200_000, True)):
        messages = [{"role": "user", "content": text}]
        call = booked({"prompt_tokens": 10_000, "completion_tokens": 20}, messages=messages)
        assert (call.prompt_tokens == 10_000) is believed
