"""Requests to models whose servers deviate from OpenAI's, with and without a stream."""

import json
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from tests.fake_provider import FakeProvider
from tests.gateway.software import ASKED
from tests.worlds.oddities import ODDITIES, Odd

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
# Codes of errors that name a cause; the others are `models_failed`.
CODES = {"rate_limited": "model_busy", "filtered": "content_filter"}


@pytest.fixture
def raw(address: str, token: str) -> httpx2.Client:
    return httpx2.Client(base_url=f"{address}/v1", headers={"Authorization": f"Bearer {token}"}, timeout=60)


def joined(events: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a stream's events in the shape of a completion, or its error."""
    message: dict[str, Any] = {"content": "", "reasoning_content": ""}
    finish = ""
    for event in events:
        if "error" in event:
            return event | {"text": message["content"]}
        for choice in event["choices"]:
            assert len(choice["delta"].get("tool_calls", [0])) == 1, "one entry in a chunk"
            for name, value in choice["delta"].items():
                message[name] = message.get(name, "") + value if isinstance(value, str) else value
            finish = choice["finish_reason"] or finish
    return {"choices": [{"message": message, "finish_reason": finish}]}


def ask(raw: httpx2.Client, slug: str, *, stream: bool) -> dict[str, Any]:
    response = raw.post("/chat/completions", json={"model": slug, "messages": ASKED, "stream": stream})
    if not stream or response.status_code >= 400:
        return response.json()
    return joined([json.loads(line[6:]) for line in response.text.splitlines() if line.startswith("data: {")])


def end_of(answer: dict[str, Any]) -> tuple[str, str, str]:
    """Return (code, text, finish reason)."""
    if "error" in answer:
        return answer["error"]["code"], "", ""
    [choice] = answer["choices"]
    return "", choice["message"]["content"] or "", choice["finish_reason"]


def wanted(odd: Odd) -> tuple[str, str, str]:
    if odd.code and odd.finish not in ("length", "tool_calls"):
        return CODES.get(odd.code, "models_failed"), "", ""
    return "", odd.text, odd.finish


@pytest.mark.parametrize("stream", [False, True])
def test_odd_answers_end_as_they_should(
    raw: httpx2.Client, model: Callable[..., Any], fake_provider: FakeProvider, stream: bool
):
    answers = {name: ask(raw, model(name).slug, stream=stream) for name in ODDITIES}
    shown = {name for name in ODDITIES if stream and name == "odd-tag-closed-only"}  # as text, before the tag
    assert {name: end_of(answer) for name, answer in answers.items() if name not in shown} == {
        name: wanted(odd) for name, odd in ODDITIES.items() if name not in shown
    }
    reasonings = {
        name: answer["choices"][0]["message"].get("reasoning_content", "")
        for name, answer in answers.items()
        if "choices" in answer and name not in shown
    }
    assert reasonings == {name: ODDITIES[name].reasoning for name in reasonings}


def test_unopened_reasoning_is_apart_from_the_second_answer(
    raw: httpx2.Client, model: Callable[..., Any], fake_provider: FakeProvider
):
    """The first caller of a stream reads it as text; the process remembers the model."""
    odd, slug = ODDITIES["odd-tag-closed-only"], model("odd-tag-closed-only").slug
    ask(raw, slug, stream=True)
    [choice] = ask(raw, slug, stream=True)["choices"]
    assert (choice["message"]["content"], choice["message"]["reasoning_content"]) == (odd.text, odd.reasoning)
