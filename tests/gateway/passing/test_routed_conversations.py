"""`/api/v1/route/` takes and refuses the same conversations as `/v1/chat/completions`, and reads them alike."""

import json
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from accounts.actor import Actor
from accounts.models import Scope
from battles.models import RoutingDecision
from gateway.parsing.chat import parse_chat
from models_registry.models import Provider
from models_registry.versions import set_price
from routing.api.serializers import read_messages
from tests import make
from tests.fake_provider import FakeProvider
from tests.gateway.passing.test_media import AT_AN_ADDRESS
from tests.gateway.passing.test_messages import CALLS, MESSAGES, USER, user
from tests.gateway.software import issue_token
from tests.gateway.test_bad_input import ADDRESSES, BAD, CALL, PNG, RESULT, picture
from tests.models_registry.paid_models import A_CENT_A_TOKEN

CHAT, ROUTE = "/v1/chat/completions", "/api/v1/route/"
DECIDED = ("model", "categories", "language", "cost_expected")
pytestmark = pytest.mark.django_db(transaction=True)
OLDER_CALL = {"role": "assistant", "content": None, "function_call": CALL["function"]}
SENT: dict[str, list[Any]] = {
    "201-messages": [USER] * 201,
    "two-texts": user({"type": "text", "text": "Name three"}, {"type": "text", "text": " rivers."}),
    "unanswered-calls": [USER, CALLS, USER],
    "result-of-another-call": [USER, CALLS, {**RESULT, "tool_call_id": "c2"}],
    "older-call": [USER, OLDER_CALL, {"role": "function", "name": "f", "content": "ok"}],
    "answer-at-the-end": [USER, {"role": "assistant", "content": "Once"}],
    "long-prompt": [{"role": "user", "content": "a" * 20_001}],
    "blank": [{"role": "user", "content": "  "}],
    "no-prompt": [{"role": "system", "content": "Be brief."}],
    "picture": picture(PNG)["messages"],
    "unknown-part": [USER, {"role": "user", "content": [{"type": "input_audio"}]}],
}
LINKED = {name: user(part) for name, part in AT_AN_ADDRESS.items()}
REFUSED: dict[str, Any] = {
    **{name: body["messages"] for name, (body, _) in BAD.items() if body.get("messages") and name != "long-prompt"},
    **{f"address-{name}": picture(url)["messages"] for name, url in ADDRESSES.items()},
    "half-a-surrogate-pair": [{"role": "user", "content": "\ud800"}],
    "half-a-surrogate-pair-in-arguments": [
        {"role": "assistant", "tool_calls": [{"function": {"arguments": '{"a": "\\\ud800"}'}}]},
    ],
    "nul": [{"role": "user", "content": "nul\x00"}],
    "nul-in-a-name": [{**USER, "\x00": 1}],
}  # fmt: skip


@pytest.fixture
def post(address: str, owner: Actor, model: Callable[..., Any]) -> Callable[..., httpx2.Response]:
    set_price(model("length-alone", abilities=["images", "tools"]), A_CENT_A_TOKEN, A_CENT_A_TOKEN)
    headers = {"Authorization": f"Bearer {issue_token(owner, Scope.GATEWAY, Scope.BATTLE)}"}

    def post(path: str, content: str = "", **body: Any) -> httpx2.Response:
        sent = {"headers": {**headers, "Content-Type": "application/json"}, "content": content or json.dumps(body)}
        return httpx2.post(address + path, **sent, timeout=60)

    return post


def test_both_doors_decide_alike(post: Callable[..., httpx2.Response]):
    for name, messages in SENT.items():
        answered = post(CHAT, model="auto", messages=messages, metadata={"session_id": name})
        routed = post(ROUTE, messages=messages)
        assert (name, answered.status_code, routed.status_code) == (name, 200, 200), answered.text + routed.text
        by_gateway, by_route = RoutingDecision.objects.order_by("pk").values(*DECIDED)
        assert (name, by_gateway) == (name, by_route)
        assert by_route["cost_expected"] > 0
        RoutingDecision.objects.all().delete()


def test_both_doors_read_the_same():
    for name, messages in (MESSAGES | SENT | LINKED).items():
        chat = parse_chat({"model": "auto", "messages": messages})
        assert (name, read_messages(messages)) == (name, chat.conversation)


def test_texts_of_a_prompt_are_joined_without_a_line_feed():
    assert read_messages(SENT["two-texts"]).prompts == ["Name three rivers."]


def test_both_doors_refuse_the_same(post: Callable[..., httpx2.Response]):
    for name, messages in REFUSED.items():
        refused, unrouted = post(CHAT, model="auto", messages=messages), post(ROUTE, messages=messages)
        assert (name, refused.status_code, unrouted.status_code) == (name, 400, 400), unrouted.text
        assert list(unrouted.json()) == ["code", "detail", "fields"]
        assert list(unrouted.json()["fields"]) == ["messages"]
    assert not RoutingDecision.objects.exists()


def test_refusal_of_route_names_the_message(post: Callable[..., httpx2.Response]):
    sentence = (
        "messages.1.content.1: This address is in a private network, or not the usual spelling of one in the internet."
    )
    assert post(ROUTE, messages=[USER, *picture("http://10.0.0.8/a.png")["messages"]]).json() == {
        "code": "invalid", "detail": sentence, "fields": {"messages": [sentence]}
    }  # fmt: skip


def test_both_doors_refuse_deep_messages(post: Callable[..., httpx2.Response]):
    for levels, status in ((90, 200), *((levels, 400) for levels in (100, 500, 900, 960, 980, 990, 3_000))):
        content = "[" * levels + '"x"' + "]" * levels
        messages = f'[{{"role": "user", "content": {content}}}, {{"role": "user", "content": "one"}}]'
        for path, model in ((CHAT, '"model": "auto", '), (ROUTE, "")):
            response = post(path, f'{{{model}"messages": {messages}}}')
            assert (path, levels, response.status_code) == (path, levels, status), response.text


def test_both_doors_limit_texts_and_pictures(post: Callable[..., httpx2.Response], settings: Any):
    settings.ARENA_GATEWAY_CHARACTERS, settings.ARENA_GATEWAY_PICTURES = 100, 1
    text, seen = {"role": "user", "content": "x" * 50}, picture(PNG)["messages"]
    for messages, status in (([text] * 2, 200), ([text] * 3, 400), (seen, 200), (seen * 2, 400)):
        assert post(CHAT, model="auto", messages=messages).status_code == status
        assert post(ROUTE, messages=messages).status_code == status


def test_address_leaves_models_that_fetch(
    post: Callable[..., httpx2.Response], fake_provider: FakeProvider, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(Provider, "is_local", False)
    another_door = fake_provider.base_url.replace("/v1", "/b/v1")
    fetching = make.model(at=another_door, abilities=["images"])
    Provider.objects.filter(base_url=another_door).update(fetches_media=True)
    routed = post(ROUTE, messages=LINKED["picture"]).json()
    assert ([entry["model"] for entry in routed["alternatives"]], routed["model"]) == ([fetching.slug], fetching.slug)


def test_address_without_a_model_that_fetches_is_refused(post: Callable[..., httpx2.Response]):
    assert post(CHAT, model="auto", messages=LINKED["picture"]).status_code == 400
    assert post(ROUTE, messages=LINKED["picture"]).status_code == 400
