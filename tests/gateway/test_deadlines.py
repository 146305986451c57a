"""Deadlines of a gateway call and models without free slots: OpenAI's errors, and nothing stays reserved."""

import json
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import httpx2
import pytest

from battles.calls import slot_queue
from battles.models import Call
from common.valkey.connections import connection
from gateway.answers import answering
from gateway.answers.slots import _held as held_slots
from gateway.models import Exchange
from models_registry.models import LanguageModel
from models_registry.versions import set_price
from tests.fake_provider import PAUSE, FakeProvider
from tests.gateway.software import ASKED, settled
from tests.models_registry.paid_models import A_CENT_A_TOKEN, accounts
from tests.waiting import wait_for

pytestmark = pytest.mark.django_db(transaction=True)
# Longer than a test may take: a call ends at the one deadline that is shortened for it.
LONG_DEADLINES = {"connect": 900.0, "first": 900.0, "idle": 900.0, "total": 900.0}
SHORT_S = 0.5
# Name of the fake provider's model, the deadline that ends it, its code, the answer's beginning.
LATE = [
    ("hang-after-0", "first", "first_timeout", ""),
    ("comments", "first", "first_timeout", ""),
    ("hang-after-2", "idle", "idle_timeout", "one two "),
    ("talks-on-forever", "total", "total_timeout", "on on "),
]
FAILED = {"message": "No model could answer. Please try again.", "type": "server_error", "param": None}


@pytest.fixture
def raw(address: str, token: str) -> Iterator[httpx2.Client]:
    headers = {"Authorization": f"Bearer {token}"}
    with httpx2.Client(base_url=f"{address}/v1", headers=headers, timeout=120) as client:
        yield client


def paid(model: LanguageModel) -> LanguageModel:
    set_price(model, A_CENT_A_TOKEN, A_CENT_A_TOKEN)
    return model


def body(model: str, **fields: Any) -> dict[str, Any]:
    return {"model": model, "messages": ASKED, **fields}


def events_of(response: httpx2.Response) -> list[dict[str, Any]]:
    return [json.loads(line[6:]) for line in response.text.splitlines() if line.startswith("data: {")]


@contextmanager
def unaccepting_address() -> Iterator[str]:
    """Yield the address of a socket whose queue of connections is full."""
    with socket.socket() as bound, socket.socket() as first, socket.socket() as second:
        bound.bind(("127.0.0.1", 0))
        bound.listen(0)
        for connection in (first, second):
            connection.setblocking(False)
            connection.connect_ex(bound.getsockname())
        yield f"http://127.0.0.1:{bound.getsockname()[1]}/v1"


@pytest.mark.slow
@pytest.mark.parametrize(("name", "deadline", "code", "beginning"), LATE, ids=[late[0] for late in LATE])
def test_late_model_ends_in_an_openai_error(
    raw: httpx2.Client, model: Callable[..., Any], settings: Any, name: str, deadline: str, code: str, beginning: str
):
    settings.ARENA_DEADLINES = LONG_DEADLINES | {deadline: SHORT_S}
    slug = paid(model(name, parameters={"max_tokens": 5_000})).slug
    whole = raw.post("/chat/completions", json=body(slug))
    assert (whole.status_code, whole.headers["Retry-After"]) == (503, "5")
    assert {**whole.json()["error"], "message": FAILED["message"]} == {**FAILED, "code": "models_failed"}
    streamed = raw.post("/chat/completions", json=body(slug, stream=True))
    if beginning:
        *chunks, last = events_of(streamed)
        text = "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks)
        assert (streamed.status_code, text.startswith(beginning)) == (200, True)
        assert last["error"] == whole.json()["error"]
        assert "[DONE]" not in streamed.text
    else:
        assert (streamed.status_code, streamed.json()) == (503, whole.json())
    wait_for(settled)
    exchanges = Exchange.objects.values_list("error", "call__state", "cost")
    assert {exchange[:2] for exchange in exchanges} == {(code, "failed")}
    assert accounts()["site"] == (0, sum(cost for _, _, cost in exchanges) * 100)
    wait_for(lambda: not held_slots)


@pytest.mark.slow
def test_unaccepting_server_ends_at_the_connect_deadline(raw: httpx2.Client, model: Callable[..., Any], settings: Any):
    settings.ARENA_DEADLINES = LONG_DEADLINES | {"connect": SHORT_S}
    with unaccepting_address() as address:
        away = paid(model())
        away.provider.base_url = address
        away.provider.save()
        refused = raw.post("/chat/completions", json=body(away.slug, stream=True))
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "5")
    assert {**refused.json()["error"], "message": FAILED["message"]} == {**FAILED, "code": "models_failed"}
    wait_for(settled)
    assert Exchange.objects.values_list("error", "cost").get() == ("unreachable", 0)
    assert accounts()["site"] == (0, 0)


@pytest.mark.parametrize("asked", ["named", "auto"])
def test_full_model_is_refused_as_busy_without_a_call(
    raw: httpx2.Client, model: Callable[..., Any], fake_provider: FakeProvider, settings: Any, asked: str
):
    settings.ARENA_ROUTER = "battles.auto.port.heaviest_weight"
    settings.ARENA_DEADLINES = LONG_DEADLINES | {"first": SHORT_S}
    slug = paid(model("hang-after-1", calls_at_once=1)).slug
    with raw.stream("POST", "/chat/completions", json=body(slug, stream=True)) as held:
        assert held.status_code == 200
        reserved = accounts()
        for is_stream in (False, True):
            name = slug if asked == "named" else "auto"
            refused = raw.post("/chat/completions", json=body(name, stream=is_stream))
            assert (refused.status_code, refused.headers["Retry-After"]) == (429, "5")
            assert refused.json()["error"]["code"] == "model_busy"
        assert (Call.objects.count(), fake_provider.calls) == (1, {"hang-after-1": 1})
        assert accounts() == reserved
    wait_for(settled)
    wait_for(lambda: not held_slots)


def test_auto_passes_a_full_model_by(
    raw: httpx2.Client, model: Callable[..., Any], fake_provider: FakeProvider, settings: Any
):
    settings.ARENA_ROUTER = "battles.auto.port.heaviest_weight"
    full, free = model(weight=2, calls_at_once=1).slug, model().slug
    waiting = [{"role": "user", "content": f"one {PAUSE}"}]
    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(raw.post, "/chat/completions", json=body("auto") | {"messages": waiting})
        wait_for(lambda: fake_provider.paused == 1)
        answered = raw.post("/chat/completions", json=body("auto"))
        fake_provider.go_on()
        assert first.result().json()["model"] == full
    assert (answered.json()["model"], answered.headers["X-Arena-Fallback"]) == (free, "1")


def test_waiting_call_starts_when_a_slot_is_freed(
    raw: httpx2.Client, model: Callable[..., Any], fake_provider: FakeProvider, settings: Any,
    monkeypatch: pytest.MonkeyPatch,
):  # fmt: skip
    settings.ARENA_DEADLINES = LONG_DEADLINES
    monkeypatch.setattr(answering, "FIRST_BACKOFF_S", 400.0)  # no attempt by itself
    slug = model(calls_at_once=1).slug
    paused = [{"role": "user", "content": f"one {PAUSE}"}]
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(raw.post, "/chat/completions", json=body(slug) | {"messages": paused})
        wait_for(lambda: fake_provider.paused == 1)
        waiting = threads.submit(raw.post, "/chat/completions", json=body(slug))
        wait_for(lambda: subscriptions() == 1)
        assert not waiting.done()
        fake_provider.go_on()
        assert (first.result().status_code, waiting.result().status_code) == (200, 200)
    wait_for(lambda: subscriptions() == 0)


def subscriptions() -> int:
    return dict(connection().pubsub_numsub(slot_queue.CHANNEL))[slot_queue.CHANNEL]
