from collections.abc import Callable
from typing import Any

import openai
import pytest
from openai import OpenAI

from battles.models import Call
from tests.fake_provider import FakeProvider
from tests.gateway.software import ASKED, WEATHER

pytestmark = pytest.mark.django_db(transaction=True)
QUESTION: Any = [{"role": "user", "content": "How is the weather?"}]
TWO_CALLS = [("call_0", "weather", '{"city": "Town 0"}'), ("call_1", "weather", '{"city": "Town 1"}')]


@pytest.fixture
def caller(model: Callable[..., Any]) -> str:
    return model("calls-tools", abilities=["tools"]).slug


def test_tool_calls_come_back_whole(client: OpenAI, caller: str):
    answer = client.chat.completions.create(model=caller, messages=QUESTION, tools=[WEATHER])
    [choice] = answer.choices
    calls: Any = choice.message.tool_calls
    assert [(call.id, call.function.name, call.function.arguments) for call in calls] == TWO_CALLS
    assert (choice.finish_reason, choice.message.content) == ("tool_calls", None)


def test_tool_calls_are_streamed(client: OpenAI, caller: str):
    with client.chat.completions.stream(model=caller, messages=QUESTION, tools=[WEATHER]) as stream:
        final = stream.get_final_completion()
    calls: Any = final.choices[0].message.tool_calls
    assert [(call.id, call.function.name, call.function.arguments) for call in calls] == TWO_CALLS


def test_tool_loop_ends_with_an_answer(client: OpenAI, caller: str, fake_provider: FakeProvider):
    first = client.chat.completions.create(model=caller, messages=QUESTION, tools=[WEATHER], tool_choice="auto")
    message = first.choices[0].message
    results: Any = [
        {"role": "tool", "tool_call_id": call.id, "content": "sunny in town"} for call in message.tool_calls or []
    ]
    conversation: Any = [*QUESTION, message.to_dict(), *results]
    second = client.chat.completions.create(model=caller, messages=conversation, tools=[WEATHER])
    assert second.choices[0].message.content == "sunny in town "
    sent = fake_provider.requests[-1]
    assert [message["role"] for message in sent["messages"]] == ["user", "assistant", "tool", "tool"]
    assert sent["tools"] == [WEATHER]


def test_unmarked_model_gets_tools_only_if_named(
    client: OpenAI, model: Callable[..., Any], fake_provider: FakeProvider
):
    """Its server judges; auto mode may not guess."""
    unmarked = model()
    client.chat.completions.create(model=unmarked.slug, messages=QUESTION, tools=[WEATHER])
    assert fake_provider.requests[-1]["tools"] == [WEATHER]
    with pytest.raises(openai.BadRequestError):
        client.chat.completions.create(model="auto", messages=QUESTION, tools=[WEATHER])
    assert Call.objects.count() == 1


def test_tool_call_without_id_gets_one(client: OpenAI, model: Callable[..., Any]):
    answer = client.chat.completions.create(model=model("tool-calls").slug, messages=QUESTION)
    calls: Any = answer.choices[0].message.tool_calls
    assert [(call.id[:5], call.function.name, call.function.arguments) for call in calls] == [("call_", "f", "{}")]


def test_tool_calls_before_the_answer_are_charged(client: OpenAI, model: Callable[..., Any]):
    """They are part of the estimate for a provider that reports no usage."""
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "x" * 3_000}}
    result = {"role": "tool", "tool_call_id": "c1", "content": "sunny"}
    messages: Any = [*ASKED, {"role": "assistant", "tool_calls": [call]}, result]
    client.chat.completions.create(model=model("no-final-blank-line").slug, messages=messages)
    stored = Call.objects.get()
    assert stored.tokens_estimated
    assert stored.prompt_tokens > 1_000
