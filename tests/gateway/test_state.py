"""State that a model's server wants back comes back to that model, and to no other."""

import json
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from gateway.models import Exchange
from models_registry.models import LanguageModel
from tests.fake_provider import FakeProvider
from tests.gateway.software import WEATHER
from tests.worlds.stateful import SIGNATURE, STATEFUL

pytestmark = pytest.mark.django_db(transaction=True)
QUESTION: Any = {"role": "user", "content": "How is the weather in Bonn?"}
RESULT: Any = {"role": "tool", "tool_call_id": "call_1", "content": "sunny"}


@pytest.fixture
def raw(address: str, token: str) -> httpx2.Client:
    return httpx2.Client(base_url=f"{address}/v1", headers={"Authorization": f"Bearer {token}"}, timeout=60)


def ask(raw: httpx2.Client, model: LanguageModel, *messages: Any, stream: bool = False) -> httpx2.Response:
    body = {"model": model.slug, "messages": list(messages), "tools": [WEATHER], "stream": stream}
    return raw.post("/chat/completions", json=body)


def message_of(response: httpx2.Response) -> dict[str, Any]:
    """Return the answer, joined from chunks as clients do."""
    if "event-stream" not in response.headers["Content-Type"]:
        return response.json()["choices"][0]["message"]
    message: dict[str, Any] = {}
    for line in response.text.splitlines():
        if line.startswith("data: {"):
            _join(message, json.loads(line[6:])["choices"][0]["delta"])
    return message


def _join(message: dict[str, Any], delta: dict[str, Any]) -> None:
    for name, value in delta.items():
        if name == "tool_calls":
            assert len(value) == 1
            calls = message.setdefault(name, [])
            if value[0]["index"] == len(calls):
                calls.append({**value[0], "function": {**value[0]["function"]}})
            else:
                calls[0]["function"]["arguments"] += value[0]["function"]["arguments"]
                calls[0].update({key: value[0][key] for key in value[0] if key != "function"})
        elif isinstance(value, str) and name != "role":
            message[name] = message.get(name, "") + value
        else:
            message[name] = value


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("name", STATEFUL)
def test_tool_loop_gives_state_back(
    raw: httpx2.Client, model: Callable[..., Any], fake_provider: FakeProvider, name: str, stream: bool
):
    thinker = model(name, abilities=["tools"])
    message = message_of(ask(raw, thinker, QUESTION, stream=stream))
    second = ask(raw, thinker, QUESTION, message, RESULT, stream=stream)
    assert (second.status_code, message_of(second)["content"]) == (200, "sunny "), second.text
    assert fake_provider.calls[name] == (3 if name == "unknown-thinker" else 2)


def test_state_of_another_model_is_left_out(raw: httpx2.Client, model: Callable[..., Any], fake_provider: FakeProvider):
    other = model("calls-tools", abilities=["tools"])
    for name in STATEFUL:
        message = message_of(ask(raw, model(name, abilities=["tools"]), QUESTION))
        assert ask(raw, other, QUESTION, message, RESULT).status_code == 200
        sent = fake_provider.requests[-1]["messages"][1]
        assert sent.keys() <= {"role", "content", "tool_calls", "refusal"}, name
        assert [call.keys() for call in sent["tool_calls"]] == [{"id", "type", "function"}]
        assert not isinstance(sent["content"], list), name


def test_forged_state_is_cut(raw: httpx2.Client, model: Callable[..., Any], fake_provider: FakeProvider):
    thinker = model("has-details", abilities=["tools"])
    message = message_of(ask(raw, thinker, QUESTION))
    text, secret = message["reasoning_details"]
    forged = [text | {"signature": SIGNATURE}, secret | {"data": "x" + secret["data"]}, {"id": "rs_2"}]
    ask(raw, thinker, QUESTION, message | {"reasoning_details": forged, "extra_content": {"a": {"b": "c"}}}, RESULT)
    sent = fake_provider.requests[-1]["messages"][1]
    assert "extra_content" not in sent
    assert "reasoning_details" not in sent


def test_state_goes_out_sealed_and_is_not_stored(
    raw: httpx2.Client, model: Callable[..., Any], fake_provider: FakeProvider
):
    message = message_of(ask(raw, model("signs-calls", abilities=["tools"]), QUESTION))
    signature = message["tool_calls"][0]["extra_content"]["google"]["thought_signature"]
    assert signature.startswith(SIGNATURE)
    assert len(signature) > len(SIGNATURE) + 20
    assert SIGNATURE not in str(list(Exchange.objects.values()))
