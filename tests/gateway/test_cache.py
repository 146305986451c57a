from collections.abc import Callable
from typing import Any

import pytest
from openai import OpenAI

from accounts.actor import Actor
from common.valkey.connections import connection
from gateway.models import Exchange
from tests import make
from tests.fake_provider import FakeProvider
from tests.gateway.software import issue_token, openai_client
from tests.waiting import wait_for

pytestmark = pytest.mark.django_db(transaction=True)


def caching_client(address: str, owner: Actor) -> OpenAI:
    return openai_client(address, issue_token(owner, caches_answers=True))


def ask(client: OpenAI, model: str, content: str = "one two", **fields: Any) -> Any:
    options: dict[str, Any] = {"temperature": 0, **fields}
    return client.chat.completions.with_raw_response.create(
        model=model, messages=[{"role": "user", "content": content}], **options
    )


def test_repeated_request_is_answered_from_the_cache(
    address: str, owner: Actor, client: OpenAI, model: Callable[..., Any], fake_provider: FakeProvider
):
    slug, caching = model().slug, caching_client(address, owner)
    first = ask(caching, slug).parse()
    raw = ask(caching, slug)
    second = raw.parse()
    assert raw.headers["X-Arena-Cached"] == "1"
    assert (second.choices, second.usage) == (first.choices, first.usage)
    streamed = "".join(chunk.choices[0].delta.content or "" for chunk in ask(caching, slug, stream=True).parse())
    assert streamed == "one two "
    assert fake_provider.calls["honest"] == 1
    assert list(Exchange.objects.order_by("pk").values_list("is_cached", "cost")) == [
        (False, None), (True, 0), (True, 0),
    ]  # fmt: skip
    others = [
        ask(client, slug),  # the token does not cache
        ask(caching, slug, temperature=0.1),
        ask(caching, slug, content="one three"),
        ask(caching, slug, max_tokens=5),
        ask(caching, model().slug),
        ask(caching_client(address, make.member()), slug),
        ask(caching_client(address, owner), slug),
    ]
    assert not any("X-Arena-Cached" in other.headers for other in others)


def test_cached_answer_cannot_be_read_without_the_token(address: str, owner: Actor, model: Callable[..., Any]):
    slug, caching = model().slug, caching_client(address, owner)
    ask(caching, slug)
    wait_for(lambda: "X-Arena-Cached" in ask(caching, slug).headers)
    stored = [connection().get(key) for key in connection().keys("gateway:answer:*")]
    assert stored
    assert not any("one two" in text for text in stored)


def test_streamed_answer_is_cached_and_failure_is_not(
    address: str, owner: Actor, model: Callable[..., Any], fake_provider: FakeProvider
):
    caching, slug, broken = caching_client(address, owner), model().slug, model("cut-after-1").slug
    list(ask(caching, slug, stream=True).parse())
    wait_for(lambda: "X-Arena-Cached" in ask(caching, slug).headers)
    for _ in range(2):
        with pytest.raises(Exception, match="The connection broke"):
            ask(caching, broken)
    assert fake_provider.calls["cut-after-1"] == 2


def test_field_that_only_one_provider_takes_is_part_of_the_key(address: str, owner: Actor, model: Callable[..., Any]):
    caching, taking = caching_client(address, owner), model()
    taking.provider.passed_names = ["house_style"]
    taking.provider.save()
    ask(caching, taking.slug, extra_body={"house_style": "plain"})
    wait_for(lambda: "X-Arena-Cached" in ask(caching, taking.slug, extra_body={"house_style": "plain"}).headers)
    assert "X-Arena-Cached" not in ask(caching, taking.slug, extra_body={"house_style": "rich"}).headers
