from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import openai
import pytest
from openai import OpenAI

from accounts.actor import Actor
from accounts.models import Scope
from battles.auto.port import Routed, RoutingRequest, Target, heaviest_weight
from battles.models import Battle, Vote
from gateway.models import Exchange
from tests.fake_provider import FakeProvider
from tests.gateway.software import ASKED, WEATHER, issue_token, openai_client
from tests.site import Reader

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def battling(site: str, owner: Actor) -> Iterator[OpenAI]:
    with openai_client(site, issue_token(owner, Scope.GATEWAY, Scope.VOTE, keeps_texts=True)) as client:
        yield client


def test_battle_gives_two_choices_to_vote_on(
    battling: OpenAI, site: str, model: Callable[..., Any], fake_provider: FakeProvider
):
    slugs = {model("honest-canary-a").slug, model("honest-canary-b").slug}
    raw = battling.chat.completions.with_raw_response.create(model="battle", messages=ASKED, n=2, temperature=0)
    answer = raw.parse()
    assert [choice.message.content for choice in answer.choices] == ["one two three "] * 2
    assert (answer.model, [choice.index for choice in answer.choices]) == ("battle", [0, 1])
    assert raw.headers["X-Arena-Dropped"] == "temperature"
    seen = raw.text + str(raw.headers)
    assert not any(name in seen for name in (*slugs, "canary"))
    battle = raw.headers["X-Arena-Battle"]
    exchange = Exchange.objects.get()
    assert (exchange.battle.public_id, exchange.battle.origin, exchange.cost) == (battle, "draw", None)
    voted = Reader(site, token=battling.api_key).api("POST", f"battles/{battle}/vote/", {"choice": "left"})
    assert voted.status_code == 201
    assert Vote.objects.count() == 1


def test_battle_is_streamed_blind(battling: OpenAI, model: Callable[..., Any], fake_provider: FakeProvider):
    model(), model()
    chunks = list(
        battling.chat.completions.create(
            model="battle", messages=ASKED, stream=True, stream_options={"include_usage": True}
        )
    )
    texts = {0: "", 1: ""}
    for chunk in chunks[:-1]:
        texts[chunk.choices[0].index] += chunk.choices[0].delta.content or ""
    assert texts == {0: "one two three ", 1: "one two three "}
    assert chunks[-1].usage is not None


def test_failed_side_is_an_error(battling: OpenAI, model: Callable[..., Any], fake_provider: FakeProvider):
    model("cut-after-1"), model("cut-after-1")
    with pytest.raises(openai.InternalServerError) as failure:
        battling.chat.completions.create(model="battle", messages=ASKED)
    assert failure.value.code == "models_failed"


def test_battle_needs_kept_texts_and_one_prompt(client: OpenAI, battling: OpenAI, model: Callable[..., Any]):
    model(), model()
    with pytest.raises(openai.PermissionDeniedError) as refusal:
        client.chat.completions.create(model="battle", messages=ASKED)
    assert refusal.value.code == "texts_not_kept"
    with pytest.raises(openai.BadRequestError) as wrong:
        battling.chat.completions.create(model="battle", messages=[{"role": "system", "content": "x"}, *ASKED])
    assert wrong.value.param == "messages"
    with pytest.raises(openai.BadRequestError):
        battling.chat.completions.create(model="battle", messages=ASKED, n=1)
    assert not Battle.objects.exists()


def test_auto_may_become_a_battle(battling: OpenAI, model: Callable[..., Any], settings: Any):
    settings.ARENA_ROUTER = "tests.gateway.test_battle.always_battle"
    model(), model()
    extra = {"metadata": {"allow_battle": "true"}}
    raw = battling.chat.completions.with_raw_response.create(model="auto", messages=ASKED, extra_body=extra)
    assert len(raw.parse().choices) == 2
    assert Battle.objects.get().origin == "router"
    plain = battling.chat.completions.with_raw_response.create(model="auto", messages=ASKED)
    assert (len(plain.parse().choices), Battle.objects.count()) == (1, 1)


def always_battle(request: RoutingRequest, actor: Actor) -> Routed:
    routed = heaviest_weight(request, actor)
    if not request.allow_battle:
        return routed
    pair = tuple(alternative.model for alternative in routed.alternatives[:2])
    return replace(routed, target=Target.ARENA, models=pair)


def test_battle_is_two_items_of_a_response(battling: OpenAI, model: Callable[..., Any]):
    model(), model()
    response = battling.responses.create(model="battle", input="one two three")
    assert [item.type for item in response.output] == ["message", "message"]
    assert (response.output_text, response.model) == ("one two three " * 2, "battle")
    with battling.responses.stream(model="battle", input="one two three") as stream:
        types = [event.type for event in stream]
    assert (types.count("response.output_text.delta"), types[-1]) == (2, "response.completed")


def test_battle_is_two_headed_texts_of_a_message(battling: OpenAI, site: str, model: Callable[..., Any]):
    model(), model()
    body = {"model": "battle", "max_tokens": 50, "messages": ASKED}
    message = Reader(site, token=battling.api_key).request("POST", "/v1/messages", json=body).json()
    assert [block["text"].split("\n\n")[:2] for block in message["content"]] == [
        ["## A", "one two three "], ["## B", "one two three "],
    ]  # fmt: skip
    assert (message["model"], message["stop_reason"]) == ("battle", "end_turn")


@pytest.mark.parametrize("door", ["chat/completions", "responses", "messages"])
def test_open_tool_call_never_becomes_a_battle(
    battling: OpenAI, site: str, model: Callable[..., Any], settings: Any, door: str
):
    settings.ARENA_ROUTER = "tests.gateway.test_battle.always_battle"
    model(abilities=["tools"]), model(abilities=["tools"])
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    use = {"type": "tool_use", "id": "c1", "name": "f", "input": {}}
    bodies: dict[str, dict[str, Any]] = {
        "chat/completions": {"messages": [
            *ASKED, {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "one"},
        ]},
        "responses": {"input": [
            *ASKED, {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c1", "output": "one"},
        ]},
        "messages": {"max_tokens": 50, "messages": [
            *ASKED, {"role": "assistant", "content": [use]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "one"}]},
        ]},
    }  # fmt: skip
    program = Reader(site, token=battling.api_key)
    for name, status in (("auto", 200), ("battle", 400)):
        request = {"model": name, "metadata": {"allow_battle": True}, **bodies[door]}
        assert program.request("POST", f"/v1/{door}", json=request).status_code == status
    assert not Battle.objects.exists()


def test_battle_takes_one_text_and_nothing_else(battling: OpenAI, model: Callable[..., Any]):
    model(), model()
    request: dict[str, Any] = {"model": "battle", "messages": ASKED}
    refused: list[dict[str, Any]] = [
        {"logprobs": True}, {"logprobs": True, "top_logprobs": 3}, {"tools": [WEATHER]}, {"n": 1}, {"n": 3},
        {"functions": [WEATHER["function"]]}, {"response_format": {"type": "json_object"}},
        {"prediction": {"type": "content", "content": "x"}}, {"tools": [{"type": "web_search"}]},
        {"messages": [{"role": "system", "content": "x"}, *ASKED]}, {"messages": [*ASKED, *ASKED]},
        {"messages": [{**ASKED[0], "memo": "x"}]}, {"messages": [{"role": "user", "content": [{"type": "poem"}]}]},
        {"messages": [{"role": "user", "content": [{"type": "text", "text": "x", "memo": 1}]}]},
        {"messages": [{"role": "user", "content": 7}]}, {"messages": [{"role": "assistant", "content": "x"}]},
    ]  # fmt: skip
    for body in refused:
        with pytest.raises(openai.BadRequestError):
            battling.post("/chat/completions", body={**request, **body}, cast_to=dict[str, Any])
    assert not Battle.objects.exists()
    taken = {"logprobs": False, "tools": [], "response_format": {"type": "text"}, "temperature": 1}
    parts = {"messages": [{"role": "user", "content": [{"type": "text", "text": "one two three"}], "name": "Ann"}]}
    assert battling.post("/chat/completions", body={**request, **taken, **parts}, cast_to=dict[str, Any])["choices"]
    assert Battle.objects.count() == 1
