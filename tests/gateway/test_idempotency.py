from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import pytest

from accounts.actor import Actor
from accounts.models import IdempotencyKey
from battles.models import Battle, Call
from models_registry.models import LanguageModel
from tests.fake_provider import PAUSE, FakeProvider
from tests.gateway.software import issue_token
from tests.waiting import wait_for

pytestmark = pytest.mark.django_db(transaction=True)
KEY = {"Idempotency-Key": "k-1"}


@pytest.fixture
def send(address: str, token: str, model: Callable[..., Any]) -> Callable[..., httpx2.Response]:
    slug = model().slug

    def send(content: str = "one two", *, secret: str = token, name: str = slug) -> httpx2.Response:
        headers = {"Authorization": f"Bearer {secret}", **KEY}
        body = {"model": name, "messages": [{"role": "user", "content": content}]}
        return httpx2.post(f"{address}/v1/chat/completions", json=body, headers=headers, timeout=60)

    return send


def test_repeated_request_gets_the_first_answer(send: Callable[..., httpx2.Response], owner: Any):
    first, second = send(), send()
    assert (first.status_code, second.status_code) == (200, 200)
    assert second.json() == first.json()
    assert Call.objects.count() == 1
    assert "one two" not in str(IdempotencyKey.objects.get().body)
    assert send("other").json()["error"]["code"] == "idempotency_key_reused"
    assert send(secret=issue_token(owner)).json()["error"]["code"] == "idempotency_key_reused"


def test_repeated_battle_is_the_first_battle(
    site: str,
    owner: Actor,
    send: Callable[..., httpx2.Response],
    model: Callable[..., Any],
    fake_provider: FakeProvider,
):
    model()
    token = issue_token(owner, keeps_texts=True)
    first, second = (send(secret=token, name="battle") for _ in range(2))
    assert (first.status_code, second.status_code) == (200, 200)
    assert second.json()["choices"] == first.json()["choices"]
    assert second.headers["X-Arena-Battle"] == first.headers["X-Arena-Battle"]
    assert (Battle.objects.count(), fake_provider.calls["honest"]) == (1, 2)
    other_token = issue_token(owner, keeps_texts=True)
    assert send(secret=other_token, name="battle").json()["error"]["code"] == "idempotency_key_reused"


def test_failed_battle_may_be_repeated(
    site: str, owner: Actor, send: Callable[..., httpx2.Response], model: Callable[..., Any]
):
    LanguageModel.objects.update(status=LanguageModel.Status.RETIRED)
    model("cut-after-1"), model("cut-after-1")
    token = issue_token(owner, keeps_texts=True)
    assert [send(secret=token, name="battle").status_code for _ in range(2)] == [503, 503]
    assert (Battle.objects.count(), IdempotencyKey.objects.count()) == (2, 0)


def test_running_request_is_not_repeated(send: Callable[..., httpx2.Response], fake_provider: FakeProvider):
    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(send, f"one {PAUSE} two")
        wait_for(lambda: fake_provider.paused == 1)
        second = send(f"one {PAUSE} two")
        assert (second.status_code, second.json()["error"]["code"]) == (409, "still_running")
        fake_provider.go_on()
        assert first.result().status_code == 200
    assert Call.objects.count() == 1


def test_failed_request_may_be_repeated(send: Callable[..., httpx2.Response], model: Callable[..., Any]):
    broken = model("html").slug
    assert [send(name=broken).status_code for _ in range(2)] == [503, 503]
    assert (Call.objects.count(), IdempotencyKey.objects.count()) == (2, 0)
    assert send(name="none").status_code == 404
    assert IdempotencyKey.objects.count() == 0
