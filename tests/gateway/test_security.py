"""Programs that try what they may not."""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import pytest
from django.test import Client
from django.utils import timezone

from accounts.actor import Actor
from accounts.models import ApiToken, Scope
from battles.models import Call, RoutingDecision
from models_registry.models import LanguageModel
from tests import make
from tests.arena_site.security import url_access
from tests.fake_provider import PAUSE, FakeProvider
from tests.waiting import wait_for

pytestmark = pytest.mark.django_db(transaction=True)
ASKED = [{"role": "user", "content": "one two three"}]
DOORS = ["/v1/chat/completions", "/v1/responses", "/v1/messages", "/v1/messages/count_tokens"]


def program(address: str, secret: str) -> httpx2.Client:
    return httpx2.Client(base_url=f"{address}/v1", headers={"Authorization": f"Bearer {secret}"}, timeout=60)


@pytest.fixture
def raw(address: str, token: str) -> httpx2.Client:
    return program(address, token)


def test_gateway_needs_its_scope_and_gives_no_other(owner: Actor):
    body = {"model": "none", "messages": ASKED, "input": "x", "max_tokens": 5}
    for scope in Scope:
        secret = make.token(owner.user, scopes=[scope])
        client = Client(headers={"Authorization": f"Bearer {secret}"})
        answers = {
            "/v1/models": client.get("/v1/models"),
            "/v1/models/{name}": client.get("/v1/models/auto"),
            **{door: client.post(door, body, content_type="application/json") for door in DOORS},
        }
        assert {*answers, "/v1/{rest}"} == set(url_access.GATEWAY)
        codes = [answer.status_code for answer in answers.values()]
        assert codes == ([200, 200, 404, 404, 404, 200] if scope == Scope.GATEWAY else [403] * 6), scope
        routed = client.post("/api/v1/route/", {"prompt": "x"}, content_type="application/json")
        assert (routed.status_code == 403) == (scope != Scope.BATTLE), scope
        assert (client.get("/api/v1/route/decisions/").status_code == 403) == (scope != Scope.READ), scope


def test_limit_is_exact_for_a_crowd(raw: httpx2.Client, model: Callable[..., Any], settings: Any):
    settings.ARENA_LIMITS = {**settings.ARENA_LIMITS, ("gateway", "member"): "5/hour"}
    slug = model().slug
    with ThreadPoolExecutor(20) as threads:
        futures = [
            threads.submit(raw.post, "/chat/completions", json={"model": slug, "messages": ASKED}) for _ in "x" * 20
        ]
    assert Counter(each.result().status_code for each in futures) == {200: 5, 429: 15}
    assert Call.objects.count() == 5


def test_cap_on_tokens_is_always_sent(raw: httpx2.Client, model: Callable[..., Any], fake_provider: FakeProvider):
    slug = model(parameters={"max_tokens": 50}).slug
    sent = []
    for caps in ({}, {"max_tokens": 7}, {"max_tokens": 51}, {"max_tokens": 9, "max_completion_tokens": 8}):
        assert raw.post("/chat/completions", json={"model": slug, "messages": ASKED, **caps}).is_success
        sent.append(fake_provider.requests[-1]["max_tokens"])
    assert sent == [50, 7, 50, 8]


def test_session_of_another_token_is_not_continued(
    address: str, raw: httpx2.Client, owner: Actor, model: Callable[..., Any]
):
    for _ in range(2):
        model()
    session = {"headers": {"X-Arena-Session": "s-1"}, "json": {"model": "auto", "messages": ASKED}}
    for user in (make.member().user, owner.user):
        secret = make.token(user, scopes=[Scope.GATEWAY])
        assert raw.post("/chat/completions", **session).is_success
        assert program(address, secret).post("/chat/completions", **session).is_success
    targets = RoutingDecision.objects.order_by("pk").values_list("target", flat=True)
    assert list(targets) == ["model", "model", "stay", "model"]


def test_revoked_token_is_refused_beside_its_running_stream(
    raw: httpx2.Client, model: Callable[..., Any], fake_provider: FakeProvider
):
    request = {"model": model().slug, "stream": True, "messages": [{"role": "user", "content": f"one {PAUSE} two"}]}
    with raw.stream("POST", "/chat/completions", json=request) as running:
        wait_for(lambda: fake_provider.paused == 1)
        ApiToken.objects.update(revoked_at=timezone.now())
        refused = raw.post("/chat/completions", json=request)
        assert (refused.status_code, refused.json()["error"]["code"]) == (401, "not_authenticated")
        fake_provider.go_on()
        assert running.read().endswith(b"data: [DONE]\n\n")
    assert Call.objects.count() == 1


def test_repeated_key_of_a_crowd_asks_once(raw: httpx2.Client, model: Callable[..., Any], fake_provider: FakeProvider):
    request = {"model": model().slug, "messages": [{"role": "user", "content": f"one {PAUSE} two"}]}
    headers = {"Idempotency-Key": "k"}
    with ThreadPoolExecutor(12) as threads:
        futures = [threads.submit(raw.post, "/chat/completions", json=request, headers=headers) for _ in "x" * 12]
        wait_for(lambda: sum(each.done() for each in futures) == 11)
        fake_provider.go_on()
    assert Counter(each.result().status_code for each in futures) == {200: 1, 409: 11}
    assert fake_provider.calls["honest"] == 1


def test_answers_are_private(raw: httpx2.Client, model: Callable[..., Any]):
    slug, key = model().slug, {"Idempotency-Key": "k"}
    answers = [
        raw.get("/models"), raw.get("/models/auto"), raw.get("/models/none"), raw.get("/none"),
        *(raw.post("/chat/completions", json={"model": slug, "messages": ASKED}, headers=key) for _ in range(2)),
        raw.post("/chat/completions", json={"model": slug, "messages": ASKED, "stream": True}),
        raw.post("/chat/completions", json={}),
    ]  # fmt: skip
    assert [answer.status_code for answer in answers] == [200, 200, 404, 404, 200, 200, 200, 400]
    for answer in answers:
        assert {"private", "no-store"} <= set(answer.headers["Cache-Control"].replace(",", " ").split()), answer.url
        assert not answer.headers.get("Set-Cookie")


def test_lists_of_models_do_not_tell_their_providers_names(raw: httpx2.Client, model: Callable[..., Any]):
    stored = model("honest-upstream-name", slug="seen")
    listed = raw.get("/models").text
    assert "seen" in listed
    assert "honest-upstream-name" not in listed
    assert LanguageModel.objects.get() == stored
