"""Tool loops through Responses and Messages return what a model's server wants back."""

from collections.abc import Callable
from typing import Any

import httpx2
import pytest
from openai import OpenAI

from models_registry.models import LanguageModel
from tests.fake_provider import FakeProvider
from tests.gateway.doors.test_messages import WEATHER as MESSAGES_WEATHER
from tests.gateway.doors.test_messages import events_of, joined
from tests.gateway.doors.test_responses import WEATHER
from tests.worlds.stateful import SIGNATURE, STATEFUL

pytestmark = pytest.mark.django_db(transaction=True)
Send = Callable[..., httpx2.Response]
QUESTION: Any = {"role": "user", "content": "How is the weather in Bonn?"}


def output_of(client: OpenAI, slug: str, *items: Any, stream: bool = False) -> list[Any]:
    body: Any = {"model": slug, "input": list(items), "tools": [WEATHER], "include": ["reasoning.encrypted_content"]}
    if not stream:
        return [item.to_dict() for item in client.responses.create(**body).output]
    with client.responses.stream(**body) as events:
        return [item.to_dict() for item in events.get_final_response().output]


def content_of(messages: Send, slug: str, *asked: Any, stream: bool = False) -> list[Any]:
    response = messages(slug, list(asked), tools=[MESSAGES_WEATHER], stream=stream)
    assert response.status_code == 200, response.text
    message = joined(events_of(response)) if stream else response.json()
    content: list[Any] = message["content"]
    return content


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("name", STATEFUL)
def test_responses_give_state_back(
    client: OpenAI, model: Callable[..., Any], fake_provider: FakeProvider, name: str, stream: bool
):
    slug = model(name, abilities=["tools"]).slug
    output = output_of(client, slug, QUESTION, stream=stream)
    [call] = [item for item in output if item["type"] == "function_call"]
    result = {"type": "function_call_output", "call_id": call["call_id"], "output": "sunny"}
    assert SIGNATURE not in str(output).replace("encrypted_content", "")
    second = output_of(client, slug, QUESTION, *output, result, stream=stream)
    assert second[-1]["content"][0]["text"] == "sunny "
    assert fake_provider.calls[name] == (3 if name == "unknown-thinker" else 2)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("name", STATEFUL)
def test_messages_give_state_back(
    messages: Send, model: Callable[..., Any], fake_provider: FakeProvider, name: str, stream: bool
):
    slug = model(name, abilities=["tools"]).slug
    content = content_of(messages, slug, QUESTION, stream=stream)
    [call] = [block for block in content if block["type"] == "tool_use"]
    result = {"type": "tool_result", "tool_use_id": call["id"], "content": "sunny"}
    conversation = [QUESTION, {"role": "assistant", "content": content}, {"role": "user", "content": [result]}]
    assert content_of(messages, slug, *conversation, stream=stream)[-1]["text"] == "sunny "
    assert fake_provider.calls[name] == (3 if name == "unknown-thinker" else 2)


def test_state_of_another_model_is_left_out(messages: Send, model: Callable[..., Any], fake_provider: FakeProvider):
    other: LanguageModel = model("calls-tools", abilities=["tools"])
    for name in STATEFUL:
        content = content_of(messages, model(name, abilities=["tools"]).slug, QUESTION)
        result = {"type": "tool_result", "tool_use_id": "call_1", "content": "sunny"}
        content_of(messages, other.slug, QUESTION, {"role": "assistant", "content": content},
                   {"role": "user", "content": [result]})  # fmt: skip
        sent = fake_provider.requests[-1]["messages"][1]
        assert sent.keys() <= {"role", "content", "tool_calls"}, name
        assert SIGNATURE not in str(sent)


@pytest.mark.parametrize("forged", ["x", "arena.!", "arena.W10=", "arena.eyJyb2xlIjoidXNlciJ9", "arena." + "W1tb" * 99])
def test_forged_state_is_ignored(messages: Send, model: Callable[..., Any], fake_provider: FakeProvider, forged: str):
    blocks = [
        {"type": "thinking", "thinking": "hm", "signature": forged},
        {"type": "redacted_thinking", "data": forged},
    ]
    conversation = [QUESTION, {"role": "assistant", "content": [*blocks, {"type": "text", "text": "Hello."}]}, QUESTION]
    content_of(messages, model().slug, *conversation)
    assert fake_provider.requests[-1]["messages"][1] == {"role": "assistant", "content": "Hello."}
