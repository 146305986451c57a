"""OpenAI's own client with only its address and key changed."""

import asyncio
from collections.abc import Callable
from typing import Any

import openai
import pytest
from openai import OpenAI

from battles.models import Call
from gateway.models import Exchange
from tests.fake_provider import FakeProvider
from tests.gateway.software import ASKED
from tests.waiting import wait_for

pytestmark = pytest.mark.django_db(transaction=True)


def test_answer_is_a_completion(client: OpenAI, model: Callable[..., Any]):
    slug = model().slug
    answer = client.chat.completions.create(model=slug, messages=ASKED)
    choice = answer.choices[0]
    assert (answer.model, choice.message.content, choice.finish_reason) == (slug, "one two three ", "stop")
    assert answer.usage is not None
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens, answer.usage.total_tokens) == (7, 3, 10)
    exchange = Exchange.objects.select_related("call").get()
    assert (exchange.prompt_tokens, exchange.completion_tokens, exchange.texts) == (7, 3, None)
    assert exchange.call is not None
    assert (exchange.call.state, exchange.call.purpose) == ("done", "gateway")


def test_stream_ends_with_usage(client: OpenAI, model: Callable[..., Any]):
    slug = model().slug
    chunks = list(
        client.chat.completions.create(model=slug, messages=ASKED, stream=True, stream_options={"include_usage": True})
    )
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks[:-1]) == "one two three "
    assert {chunk.model for chunk in chunks} == {slug}
    assert len({chunk.id for chunk in chunks}) == 1
    assert [chunk.choices[0].finish_reason for chunk in chunks[:-1]][-1] == "stop"
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.total_tokens == 10
    wait_for(lambda: Call.objects.get().state == "done")


def test_stream_without_usage_has_none(client: OpenAI, model: Callable[..., Any]):
    chunks = list(client.chat.completions.create(model=model().slug, messages=ASKED, stream=True))
    assert all(chunk.usage is None and chunk.choices for chunk in chunks)


def test_async_client_streams_many_at_once(address: str, token: str, model: Callable[..., Any]):
    slug = model("steady").slug

    async def ask(client: openai.AsyncOpenAI, number: int) -> str:
        text = ""
        messages: Any = [{"role": "user", "content": f"number {number} of many"}]
        async for chunk in await client.chat.completions.create(model=slug, messages=messages, stream=True):
            text += chunk.choices[0].delta.content or ""
        return text

    async def ask_all() -> list[str]:
        async with openai.AsyncOpenAI(base_url=f"{address}/v1", api_key=token, max_retries=0) as client:
            return await asyncio.gather(*(ask(client, number) for number in range(20)))

    assert asyncio.run(ask_all()) == [f"number {number} of many " for number in range(20)]


def test_raw_response_has_arena_headers(client: OpenAI, model: Callable[..., Any]):
    slug = model().slug
    raw = client.chat.completions.with_raw_response.create(
        model=slug, messages=ASKED, extra_body={"service_tier": "flex", "plugins": [], "frequency_penalty": 1}
    )
    assert raw.headers["X-Arena-Model"] == slug
    assert raw.headers["X-Arena-Dropped"] == "service_tier, plugins"
    assert raw.headers["X-Request-ID"]
    assert "X-Arena-Fallback" not in raw.headers
    assert raw.parse().choices[0].message.content == "one two three "


def test_models_are_listed_and_found(client: OpenAI, model: Callable[..., Any]):
    slug = model().slug
    model(status="draft"), model(status="retired")
    listed = [entry.id for entry in client.models.list()]
    assert listed == ["auto", "auto-cheap", "auto-best", "auto-fast", "battle", slug]
    assert client.models.retrieve(slug).id == slug
    with pytest.raises(openai.NotFoundError) as refusal:
        client.models.retrieve("draft")
    assert refusal.value.code == "model_not_found"


def test_parameters_reach_the_model(client: OpenAI, model: Callable[..., Any], fake_provider: FakeProvider):
    slug = model(parameters={"temperature": 0.9, "max_tokens": 50}).slug
    client.chat.completions.create(
        model=slug, messages=ASKED, temperature=0, top_p=0.5, stop=["x"], seed=7, max_tokens=9_000, user="someone",
        response_format={"type": "json_object"}, metadata={"session_id": "s-1"},
    )  # fmt: skip
    [sent] = fake_provider.requests
    assert sent == {
        "model": "honest", "messages": ASKED, "stream": True, "stream_options": {"include_usage": True},
        "temperature": 0, "top_p": 0.5, "stop": ["x"], "seed": 7, "max_tokens": 50,
        "response_format": {"type": "json_object"},
    }  # fmt: skip
