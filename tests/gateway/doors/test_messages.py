import json
import re
from collections.abc import Callable
from itertools import groupby
from typing import Any

import httpx2
import pytest

from tests.fake_provider import FakeProvider

pytestmark = pytest.mark.django_db(transaction=True)
Send = Callable[..., httpx2.Response]
WEATHER: Any = {
    "name": "weather", "description": "Return the weather.", "cache_control": {"type": "ephemeral"},
    "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}},
}  # fmt: skip
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)  # fmt: skip


def events_of(response: httpx2.Response) -> list[dict[str, Any]]:
    """Return the events of a stream; each has its type as name, too."""
    events = []
    for event in response.text.strip().split("\n\n"):
        name, data = event.split("\n")
        decoded = json.loads(data.removeprefix("data: "))
        assert name == f"event: {decoded['type']}"
        events.append(decoded)
    return events


def joined(events: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the message of a stream, as clients join it."""
    message: dict[str, Any] = events[0]["message"]
    inputs: dict[int, str] = {}
    for event in events[1:]:
        if event["type"] == "content_block_start":
            assert event["index"] == len(message["content"])
            message["content"].append(event["content_block"])
        elif event["type"] == "content_block_delta":
            block, delta = message["content"][event["index"]], event["delta"]
            match delta["type"]:
                case "text_delta":
                    block["text"] += delta["text"]
                case "thinking_delta":
                    block["thinking"] += delta["thinking"]
                case "signature_delta":
                    block["signature"] = delta["signature"]
                case "input_json_delta":
                    inputs[event["index"]] = inputs.get(event["index"], "") + delta["partial_json"]
        elif event["type"] == "message_delta":
            message |= event["delta"]
            message["usage"] |= event["usage"]
    for index, arguments in inputs.items():
        message["content"][index]["input"] = json.loads(arguments)
    return message


def test_message_holds_the_answer(messages: Send, model: Callable[..., Any], fake_provider: FakeProvider):
    slug = model().slug
    response = messages(slug, system="Be brief.", temperature=0.5, stop_sequences=["x"], metadata={"user_id": "u1"})
    message = response.json()
    assert message.pop("id").startswith("msg_")
    usage = {"input_tokens": 7, "output_tokens": 3, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    assert message == {
        "type": "message", "role": "assistant", "model": slug, "content": [{"type": "text", "text": "one two three "}],
        "stop_reason": "end_turn", "stop_sequence": None, "usage": usage,
    }  # fmt: skip
    [sent] = fake_provider.requests
    assert sent["messages"] == [
        {"role": "system", "content": "Be brief."}, {"role": "user", "content": "one two three"},
    ]  # fmt: skip
    assert (sent["max_tokens"], sent["temperature"], sent["stop"]) == (100, 0.5, ["x"])


def test_events_come_in_the_documented_order(messages: Send, model: Callable[..., Any]):
    response = messages(model("thinks-first").slug, stream=True)
    assert response.headers["Content-Type"].startswith("text/event-stream")
    # Pieces that arrive together are one event.
    assert [kind for kind, _same in groupby(event["type"] for event in events_of(response))] == [
        "message_start", "content_block_start", "content_block_delta", "content_block_stop", "content_block_start",
        "content_block_delta", "content_block_stop", "message_delta", "message_stop",
    ]  # fmt: skip


@pytest.mark.parametrize("upstream", ["honest", "thinks-first", "calls-tools", "length", "tool-calls", "writes-notes"])
def test_stream_and_whole_message_agree(messages: Send, model: Callable[..., Any], upstream: str):
    slug = model(upstream, abilities=["tools"]).slug
    whole = messages(slug, tools=[WEATHER]).json()
    streamed = joined(events_of(messages(slug, tools=[WEATHER], stream=True)))
    for message in (whole, streamed):
        message.pop("id")
        for block in message["content"]:
            block.pop("id", None)  # of calls without one, which get one here
    assert streamed == whole


@pytest.mark.parametrize(
    ("upstream", "reason"), [("honest", "end_turn"), ("length", "max_tokens"), ("calls-tools", "tool_use")]
)
def test_stop_reason_is_anthropics_word(messages: Send, model: Callable[..., Any], upstream: str, reason: str):
    slug = model(upstream, abilities=["tools"]).slug
    assert messages(slug, tools=[WEATHER]).json()["stop_reason"] == reason


def test_tool_loop_ends_with_an_answer(messages: Send, model: Callable[..., Any], fake_provider: FakeProvider):
    slug = model("calls-tools", abilities=["tools"]).slug
    question = {"role": "user", "content": "How is it?"}
    content = messages(slug, [question], tools=[WEATHER], tool_choice={"type": "any"}).json()["content"]
    assert content == [
        {"type": "tool_use", "id": f"call_{n}", "name": "weather", "input": {"city": f"Town {n}"}} for n in range(2)
    ]
    results = [
        {"type": "tool_result", "tool_use_id": "call_0", "content": "rain"},
        {"type": "tool_result", "tool_use_id": "call_1", "content": [{"type": "text", "text": "sunny in town"}]},
    ]
    conversation = [question, {"role": "assistant", "content": content}, {"role": "user", "content": results}]
    assert messages(slug, conversation, tools=[WEATHER]).json()["content"] == [
        {"type": "text", "text": "sunny in town "}
    ]
    first, sent = fake_provider.requests
    assert first["tool_choice"] == "required"
    assert [message["role"] for message in sent["messages"]] == ["user", "assistant", "tool", "tool"]
    [weather] = sent["tools"]
    assert weather["function"]["parameters"] == WEATHER["input_schema"]


def test_picture_reaches_the_model(messages: Send, model: Callable[..., Any], fake_provider: FakeProvider):
    source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
    blocks = [{"type": "text", "text": "see"}, {"type": "image", "source": source}]
    response = messages(model(abilities=["images"]).slug, [{"role": "user", "content": blocks}])
    assert response.json()["content"][0]["text"] == "see PNG 1x1 "


@pytest.mark.parametrize(
    ("fields", "status", "kind"),
    [
        ({"max_tokens": None}, 400, "invalid_request_error"), ({"messages": None}, 400, "invalid_request_error"),
        ({"messages": [7]}, 400, "invalid_request_error"), ({"model": "nothing"}, 404, "not_found_error"),
        ({"messages": [{"role": "user", "content": [7]}]}, 400, "invalid_request_error"),
        ({"tools": [{"type": "web_search_20250305", "name": "web_search"}], "tool_choice": {"type": "any"}}, 400,
         "invalid_request_error"),
        ({"tools": [WEATHER], "tool_choice": {"type": "tool", "name": "web_search"}}, 400, "invalid_request_error"),
        ({"messages": [{"role": "user", "content": [{"type": "image", "source": {"type": "file", "file_id": "f"}}]}]},
         400, "invalid_request_error"),
    ],
)  # fmt: skip
def test_refusal_has_anthropics_shape(
    messages: Send,
    model: Callable[..., Any],
    fake_provider: FakeProvider,
    fields: dict[str, Any],
    status: int,
    kind: str,
):
    response = messages(model("calls-tools", abilities=["tools"]).slug, **fields)
    refusal = response.json()
    assert (response.status_code, refusal["type"], refusal["error"]["type"]) == (status, "error", kind)
    assert refusal["request_id"] == response.headers["X-Request-ID"]
    assert fake_provider.requests == []


@pytest.mark.parametrize(
    ("path", "method", "headers", "status"),
    [
        ("/v1/messages", "POST", {}, 401), ("/v1/messages", "POST", {"x-api-key": "arena_none"}, 401),
        ("/v1/messages", "GET", None, 405), ("/v1/messages/batches", "POST", None, 404),
        ("/v1/models/none", "GET", None, 404),
    ],
)  # fmt: skip
def test_other_refusals_have_anthropics_shape(
    address: str, token: str, path: str, method: str, headers: dict[str, str] | None, status: int
):
    own = {"Authorization": f"Bearer {token}"} if headers is None else headers
    response = httpx2.request(method, f"{address}{path}", headers={"anthropic-version": "2023-06-01", **own})
    assert (response.status_code, response.json()["type"]) == (status, "error")


def test_failed_stream_ends_with_an_error_event(messages: Send, model: Callable[..., Any]):
    *_, last = events_of(messages(model("cut-after-1").slug, stream=True))
    assert (last["type"], last["error"]["type"]) == ("error", "overloaded_error")


def test_too_long_conversation_has_the_words_agents_compact_on(messages: Send, model: Callable[..., Any]):
    response = messages(model(context_length=1_000).slug, "word " * 30_000)
    assert response.status_code == 400
    assert re.fullmatch(r"prompt is too long: \d+ tokens > 1000 maximum", response.json()["error"]["message"])


def test_tools_of_servers_are_dropped_and_named(messages: Send, model: Callable[..., Any], fake_provider: FakeProvider):
    tools = [{"type": "web_search_20250305", "name": "web_search"}, WEATHER]
    response = messages(model("calls-tools", abilities=["tools"]).slug, tools=tools)
    assert "tools.web_search_20250305" in response.headers["X-Arena-Dropped"]
    assert len(fake_provider.requests[-1]["tools"]) == 1


def test_count_of_tokens_is_an_estimate(messages: Send, model: Callable[..., Any], fake_provider: FakeProvider):
    slug = model("calls-tools", abilities=["tools"]).slug
    short = messages(slug, path="/count_tokens", max_tokens=None).json()
    longer = messages(slug, path="/count_tokens", system="word " * 300).json()
    with_tools = messages(slug, path="/count_tokens", tools=[WEATHER]).json()
    assert short == {"input_tokens": 5, "is_estimate": True}
    assert longer["input_tokens"] == short["input_tokens"] + 500
    tools = with_tools["input_tokens"] - short["input_tokens"]
    assert len(str(WEATHER)) / 3 < tools < len(str(WEATHER)) / 2
    assert fake_provider.requests == []


def test_models_are_listed_in_anthropics_shape(address: str, token: str, model: Callable[..., Any]):
    own = model()
    headers = {"anthropic-version": "2023-06-01", "x-api-key": token}
    listed = httpx2.get(f"{address}/v1/models?limit=1000", headers=headers).json()
    assert [entry["id"] for entry in listed["data"]][-1] == own.slug
    assert (listed["has_more"], listed["first_id"], listed["last_id"]) == (False, "auto", own.slug)
    payload = httpx2.get(f"{address}/v1/models/{own.slug}", headers=headers).json()
    assert (payload["type"], payload["id"], payload["display_name"]) == ("model", own.slug, own.name)
