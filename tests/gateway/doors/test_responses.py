from collections.abc import Callable
from typing import Any

import openai
import pytest
from openai import OpenAI
from pydantic import BaseModel

from accounts.actor import Actor
from tests.fake_provider import FakeProvider
from tests.gateway.software import issue_token, openai_client

pytestmark = pytest.mark.django_db(transaction=True)
WEATHER: Any = {
    "type": "function", "name": "weather", "description": "Return the weather.", "strict": False,
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
}  # fmt: skip
NOTE: Any = {"type": "custom", "name": "note", "description": "Write a note."}


class City(BaseModel):
    name: str


def test_response_holds_the_answer(client: OpenAI, model: Callable[..., Any], fake_provider: FakeProvider):
    slug = model().slug
    response = client.responses.create(
        model=slug, input="one two three", instructions="Be brief.", max_output_tokens=9, temperature=0.5,
        text={"verbosity": "low"}, reasoning={"effort": "low"},
    )  # fmt: skip
    assert (response.output_text, response.status, response.model) == ("one two three ", "completed", slug)
    assert (response.instructions, response.store, response.max_output_tokens) == ("Be brief.", False, 9)
    assert response.usage is not None
    assert (response.usage.input_tokens, response.usage.output_tokens, response.usage.total_tokens) == (7, 3, 10)
    [sent] = fake_provider.requests
    assert sent["messages"] == [
        {"role": "system", "content": "Be brief."}, {"role": "user", "content": "one two three"},
    ]  # fmt: skip
    assert (sent["max_tokens"], sent["temperature"]) == (9, 0.5)


def test_events_come_in_the_documented_order(client: OpenAI, model: Callable[..., Any]):
    events = list(client.responses.create(model=model("thinks-first").slug, input="one", stream=True))
    assert [event.type.removeprefix("response.") for event in events] == [
        "created", "in_progress", "output_item.added", "reasoning_summary_part.added", "reasoning_summary_text.delta",
        "reasoning_summary_text.done", "reasoning_summary_part.done", "output_item.done", "output_item.added",
        "content_part.added", "output_text.delta", "output_text.done", "content_part.done", "output_item.done",
        "completed",
    ]  # fmt: skip
    assert [event.sequence_number for event in events] == list(range(len(events)))


def test_stream_and_whole_response_agree(client: OpenAI, model: Callable[..., Any]):
    slug = model("thinks-first").slug
    whole = client.responses.create(model=slug, input="one two")
    with client.responses.stream(model=slug, input="one two") as stream:
        streamed = stream.get_final_response()
    assert [item.type for item in streamed.output] == [item.type for item in whole.output] == ["reasoning", "message"]
    assert streamed.output_text == whole.output_text == "one two "


def test_structured_output_is_parsed(client: OpenAI, model: Callable[..., Any], fake_provider: FakeProvider):
    parsed = client.responses.parse(model=model().slug, input='{"name":"Oslo"}', text_format=City)
    assert parsed.output_parsed == City(name="Oslo")
    form = fake_provider.requests[-1]["response_format"]
    assert (form["type"], form["json_schema"]["name"]) == ("json_schema", "City")
    assert form["json_schema"]["schema"]["properties"].keys() == {"name"}


def test_tool_loop_ends_with_an_answer(client: OpenAI, model: Callable[..., Any], fake_provider: FakeProvider):
    slug = model("calls-tools", abilities=["tools"]).slug
    with client.responses.stream(model=slug, input="How is it?", tools=[WEATHER]) as stream:
        first = stream.get_final_response()
    calls: Any = first.output
    assert [(call.type, call.call_id, call.name, call.arguments) for call in calls] == [
        ("function_call", f"call_{n}", "weather", f'{{"city": "Town {n}"}}') for n in range(2)
    ]
    results: Any = [
        {"type": "function_call_output", "call_id": call.call_id, "output": "sunny in town"} for call in calls
    ]
    conversation: Any = [{"role": "user", "content": "How is it?"}, *[call.to_dict() for call in calls], *results]
    second = client.responses.create(model=slug, input=conversation, tools=[WEATHER])
    assert second.output_text == "sunny in town "
    sent = fake_provider.requests[-1]
    assert [message["role"] for message in sent["messages"]] == ["user", "assistant", "tool", "tool"]
    assert len(sent["messages"][1]["tool_calls"]) == 2
    function = {name: value for name, value in WEATHER.items() if name != "type"}
    assert sent["tools"] == [{"type": "function", "function": function}]


def test_custom_tool_is_a_function_with_one_text(
    client: OpenAI, model: Callable[..., Any], fake_provider: FakeProvider
):
    slug = model("writes-notes", abilities=["tools"]).slug
    first = client.responses.create(model=slug, input="Write it down.", tools=[NOTE])
    [call] = first.output
    assert call.type == "custom_tool_call"
    assert (call.name, call.input) == ("note", "two\nlines")
    function = fake_provider.requests[-1]["tools"][0]["function"]
    assert function["parameters"]["required"] == ["input"]
    result: Any = {"type": "custom_tool_call_output", "call_id": call.call_id, "output": "written"}
    conversation: Any = [{"role": "user", "content": "Write it down."}, call.to_dict(), result]
    client.responses.create(model=slug, input=conversation, tools=[NOTE])
    [returned] = fake_provider.requests[-1]["messages"][1]["tool_calls"]
    assert returned["function"] == {"name": "note", "arguments": '{"input":"two\\nlines"}'}


def test_tools_of_servers_are_dropped_and_named(client: OpenAI, model: Callable[..., Any], fake_provider: FakeProvider):
    slug = model("calls-tools", abilities=["tools"]).slug
    tools: Any = [{"type": "web_search"}, WEATHER]
    raw = client.responses.with_raw_response.create(model=slug, input="How is it?", tools=tools)
    assert raw.headers["X-Arena-Dropped"] == "tools.web_search"
    assert len(fake_provider.requests[-1]["tools"]) == 1


@pytest.mark.parametrize(
    "fields",
    [
        {"tools": [{"type": "web_search"}], "tool_choice": "required"},
        {"tools": [{"type": "web_search"}, WEATHER], "tool_choice": {"type": "web_search"}},
        {"tools": [WEATHER], "tool_choice": {"type": "allowed_tools", "mode": "required", "tools": [{"type": "mcp"}]}},
        {"background": True}, {"conversation": "conv_1"}, {"prompt": {"id": "p_1"}}, {"input": [{"id": "msg_1"}]},
        {"input": [{"type": "item_reference", "id": "msg_1"}]}, {"previous_response_id": "resp_1"}, {"input": 7},
        {"input": [7]}, {"input": [{"type": "function_call", "name": "f"}]}, {"tools": 7}, {"text": "json"},
        {"input": [{"role": "user", "content": [{"type": "input_image", "file_id": "file-1"}]}]},
    ],
)  # fmt: skip
def test_impossible_request_is_refused(
    client: OpenAI, model: Callable[..., Any], fake_provider: FakeProvider, fields: dict[str, Any]
):
    body = {"model": model("calls-tools", abilities=["tools"]).slug, "input": "one", **fields}
    with pytest.raises(openai.BadRequestError):
        client.post("/responses", body=body, cast_to=object)
    assert fake_provider.requests == []


def test_response_continues_an_earlier_one(
    address: str, owner: Actor, client: OpenAI, model: Callable[..., Any], fake_provider: FakeProvider
):
    slug = model().slug
    with openai_client(address, issue_token(owner, keeps_texts=True)) as keeping:
        first = keeping.responses.create(model=slug, input="one", instructions="Be brief.")
        assert first.store is True
        second = keeping.responses.create(model=slug, input="two", previous_response_id=first.id)
        assert second.previous_response_id == first.id
    roles = [(message["role"], message["content"]) for message in fake_provider.requests[-1]["messages"]]
    assert roles == [("user", "one"), ("assistant", "one "), ("user", "two")]
    for other in (client, openai_client(address, issue_token(owner, keeps_texts=True))):
        with pytest.raises(openai.BadRequestError) as refusal:
            other.responses.create(model=slug, input="three", previous_response_id=first.id)
        assert refusal.value.param == "previous_response_id"


@pytest.mark.parametrize("content", [["one"], [{"text": "one"}], {"image": "data:image/png;base64,AA"}])
def test_response_with_odd_contents_is_not_continued(
    address: str, owner: Actor, model: Callable[..., Any], content: Any
):
    slug = model("length-alone").slug
    with openai_client(address, issue_token(owner, keeps_texts=True)) as keeping:
        first = keeping.chat.completions.create(model=slug, messages=[{"role": "user", "content": content}])
        earlier = first.id.replace("chatcmpl-", "resp_")
        with pytest.raises(openai.BadRequestError) as refusal:
            keeping.responses.create(model=slug, input="two", previous_response_id=earlier)
    assert refusal.value.param == "previous_response_id"


def test_failed_stream_ends_with_response_failed(client: OpenAI, model: Callable[..., Any]):
    slug = model("cut-after-1").slug
    events = list(client.responses.create(model=slug, input="one two three", stream=True))
    last: Any = events[-1]
    assert (last.type, last.response.status, last.response.error.code) == ("response.failed", "failed", "server_error")
    assert [event.sequence_number for event in events] == list(range(len(events)))


def test_answer_at_the_limit_is_incomplete(client: OpenAI, model: Callable[..., Any]):
    response = client.responses.create(model=model("length").slug, input="one two")
    assert (response.status, response.output_text) == ("incomplete", "one two")
    assert response.incomplete_details is not None
    assert response.incomplete_details.reason == "max_output_tokens"


def test_model_is_found_by_its_providers_name(client: OpenAI, model: Callable[..., Any]):
    own = model("honest")
    assert client.responses.create(model="honest", input="one").model == own.slug
    model("honest")
    with pytest.raises(openai.NotFoundError):
        client.responses.create(model="honest", input="one")
