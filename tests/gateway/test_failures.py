"""Models that fail, callers that hang up, money that runs out."""

import asyncio
import gc
import json
import random
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from decimal import Decimal
from typing import Any

import httpx2
import openai
import pytest
from django.utils import timezone
from openai import OpenAI

from accounts.actor import Actor
from battles.calls.store import mark_abandoned_lost
from battles.models import Call
from gateway.models import Exchange
from models_registry.health.failure_messages import failure_message
from models_registry.models import Breaker, SpendingDay
from models_registry.models.ledger import person_account
from models_registry.versions import set_price
from tests.battles.worker.test_provider_faults import FAULTS
from tests.fake_provider import PAUSE, FakeProvider
from tests.gateway.software import ASKED, settled
from tests.models_registry.paid_models import A_CENT_A_TOKEN, accounts, cents, paid_model
from tests.waiting import wait_for

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
# The fake provider's model → status and code without a stream.
STATUSES = {
    "status-429": (429, "model_busy"),
    "status-500": (503, "models_failed"),
    "status-401": (503, "models_failed"),
    "status-400": (400, "rejected"),
    "status-413": (400, "context_length_exceeded"),
    "html": (503, "models_failed"),
    "json-error": (503, "models_failed"),
    "empty": (503, "models_failed"),
    "redirect": (503, "models_failed"),
    "malformed": (503, "models_failed"),
    "cut-after-0": (503, "models_failed"),
    "cut-after-1": (503, "models_failed"),
}


@pytest.fixture
def raw(address: str, token: str) -> httpx2.Client:
    return httpx2.Client(base_url=f"{address}/v1", headers={"Authorization": f"Bearer {token}"}, timeout=60)


def body(model: str, content: str = "one two three", **fields: Any) -> dict[str, Any]:
    return {"model": model, "messages": [{"role": "user", "content": content}], **fields}


def test_failure_is_an_openai_error(raw: httpx2.Client, model: Callable[..., Any], fake_provider: FakeProvider):
    for name, expected in STATUSES.items():
        response = raw.post("/chat/completions", json=body(model(name).slug))
        assert (name, response.status_code, response.json()["error"]["code"]) == (name, *expected)
        assert ("Retry-After" in response.headers) == (response.status_code in (429, 503))
        assert "canary" not in response.text or name == "status-400"
    assert settled()
    assert set(Exchange.objects.values_list("call__state", flat=True)) == {"failed"}


def test_failure_before_first_byte_has_a_status(raw: httpx2.Client, model: Callable[..., Any]):
    response = raw.post("/chat/completions", json=body(model("cut-after-0").slug, stream=True))
    assert (response.status_code, response.headers["Content-Type"]) == (503, "application/json")


def test_failure_in_the_stream_is_its_last_event(client: OpenAI, model: Callable[..., Any]):
    texts: list[str] = []
    stream = client.chat.completions.create(model=model("cut-after-2").slug, messages=ASKED, stream=True)
    with pytest.raises(openai.APIError, match="The connection broke") as failure:
        texts.extend(chunk.choices[0].delta.content or "" for chunk in stream)
    assert ("".join(texts), failure.value.code) == ("one two ", "models_failed")
    wait_for(settled)
    assert Exchange.objects.get().error == "cut"


def test_faulty_stream_ends_with_a_code_and_nothing_raw(
    raw: httpx2.Client, model: Callable[..., Any], fake_provider: FakeProvider
):
    answers = ("only-thoughts", "tool-calls")  # of the gateway
    faults = [fault for fault in FAULTS if not (fault[2] or fault[0].startswith("endless") or fault[0] in answers)]
    for name, code, _, beginning in faults:
        response = raw.post("/chat/completions", json=body(model(name).slug, stream=True, max_tokens=50))
        *events, last = [line[6:] for line in response.text.splitlines() if line.startswith("data: ")] or [
            response.text
        ]
        error = json.loads(last)["error"]
        assert (error.keys(), response.status_code >= 400) == ({"message", "type", "param", "code"}, not events), name
        assert "".join(json.loads(event)["choices"][0]["delta"].get("content", "") for event in events) == beginning
        own_words = error["message"].replace(failure_message(code), "")
        passed_on = response.status_code in (400, 404, 422)  # in the server's words
        assert not [secret for secret in ("canary", "Traceback", name) if secret in own_words and not passed_on]
        wait_for(settled)
        assert (name, Exchange.objects.latest("pk").error) == (name, code)
    assert fake_provider.calls["redirect"] == 1


def test_callers_parameters_open_no_breaker(raw: httpx2.Client, model: Callable[..., Any]):
    slug = model("status-400").slug
    for _ in range(6):
        raw.post("/chat/completions", json=body(slug))
    assert not Breaker.objects.open().exists()


def test_refused_parameter_of_caller_is_dropped_or_named(raw: httpx2.Client, model: Callable[..., Any]):
    tools = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]
    for name, field, value in [
        ("picky-tools", "tools", tools),
        ("picky-stop", "stop", ["x"]),
        ("picky-response_format", "response_format", {"type": "json_object"}),
    ]:
        response = raw.post("/chat/completions", json={**body(model(name, abilities=["tools"]).slug), field: value})
        error = response.json()["error"]
        assert (response.status_code, error["code"], error["param"]) == (400, "unsupported_parameter", field)
        assert f"“{field}”" in error["message"]
    for stream in (False, True):
        request = {**body(model("picky-temperature").slug, stream=stream), "temperature": 0.4}
        response = raw.post("/chat/completions", json=request)
        assert (response.status_code, response.headers["X-Arena-Dropped"]) == (200, "temperature")


def test_own_refused_value_is_not_named_to_callers(raw: httpx2.Client, model: Callable[..., Any]):
    own = model("picky-temperature", parameters={"temperature": 0.7})
    response = raw.post("/chat/completions", json=body(own.slug))
    assert (response.status_code, "X-Arena-Dropped" in response.headers) == (200, False)


def test_failure_says_whose_fault_it_is(raw: httpx2.Client, model: Callable[..., Any]):
    sentences = {
        "status-402": "This arena's account at the provider has no credit or quota left.",
        "status-401": "The provider did not accept this arena's key.",
        "redirect": "The provider's address has moved.",
    }
    for name, sentence in sentences.items():
        assert raw.post("/chat/completions", json=body(model(name).slug)).json()["error"]["message"] == sentence


def test_hang_up_cancels_and_settles(raw: httpx2.Client, model: Callable[..., Any], fake_provider: FakeProvider):
    """The streams pause at random words, where the callers leave."""
    prompts = []
    random.seed(7)
    paid = model("honest")
    set_price(paid, Decimal(0), A_CENT_A_TOKEN)
    for _ in range(8):
        before = random.randint(1, 20)
        prompts.append((before, " ".join(["ab"] * before + [PAUSE, "never"])))
    for number, (before, prompt) in enumerate(prompts):
        with raw.stream("POST", "/chat/completions", json=body(paid.slug, prompt, stream=True)) as response:
            received = ""
            for line in response.iter_lines():
                if line.startswith("data: {"):
                    received += json.loads(line[6:])["choices"][0]["delta"].get("content", "")
                if received.count("ab") == before:
                    break
            assert number < 8
        wait_for(lambda: fake_provider.paused == 0)
        wait_for(settled)
    counts = list(Call.objects.order_by("pk").values_list("completion_tokens", "state", "finish_reason"))
    assert counts == [(before, "stopped", "stopped") for before, _ in prompts]
    assert sum(before for before, _ in prompts) == fake_provider.words_sent
    assert accounts()["site"] == (0, fake_provider.words_sent)


def test_hang_up_keeps_reported_usage(raw: httpx2.Client, model: Callable[..., Any], fake_provider: FakeProvider):
    prompt = f"{'a-long-word ' * 5}{PAUSE} never"
    with raw.stream("POST", "/chat/completions", json=body(model("growing").slug, prompt, stream=True)) as response:
        lines = response.iter_lines()  # kept, because the collected iterator would close the stream
        text = ""
        while text.count("a-long-word") < 5:  # words that arrive together are passed on together
            text += next(lines)
    wait_for(settled)
    call = Call.objects.get()
    assert (call.prompt_tokens, call.tokens_estimated, call.state) == (7, False, "stopped")
    assert call.completion_tokens in (4, 5)  # the last chunk may still be on its way


def test_hang_up_without_stream_is_settled(raw: httpx2.Client, model: Callable[..., Any], fake_provider: FakeProvider):
    with pytest.raises(httpx2.TimeoutException):
        raw.post("/chat/completions", json=body(model().slug, f"one {PAUSE} two"), timeout=1)
    wait_for(lambda: fake_provider.paused == 0)
    wait_for(settled)
    assert Call.objects.get().state == "stopped"


def test_crowd_never_exceeds_the_budget(
    address: str, token: str, fake_provider: FakeProvider, owner: Actor, settings: Any
):
    settings.ARENA_BUDGETS = {**settings.ARENA_BUDGETS, "member": cents(30)}
    slug = paid_model("honest", at=fake_provider.base_url).slug  # reserves three cents

    async def ask(client: openai.AsyncOpenAI) -> str:
        try:
            answer = await client.chat.completions.create(model=slug, messages=ASKED)
        except openai.APIStatusError as refusal:
            return f"{refusal.status_code} {refusal.code}"
        return answer.choices[0].message.content or ""

    async def ask_at_once() -> Counter[str]:
        async with openai.AsyncOpenAI(base_url=f"{address}/v1", api_key=token, max_retries=0) as client:
            return Counter(await asyncio.gather(*(ask(client) for _ in range(50))))

    assert asyncio.run(ask_at_once()) == {"one two three ": 10, "429 budget_reached": 40}
    assert owner.user is not None
    assert accounts()[person_account(owner.key)] == (0, 30)
    assert fake_provider.calls["honest"] == 10


def test_call_of_a_killed_process_is_swept(raw: httpx2.Client, fake_provider: FakeProvider, owner: Actor):
    slug = paid_model("hang-after-1", at=fake_provider.base_url).slug
    with raw.stream("POST", "/chat/completions", json=body(slug, stream=True)) as response:
        lines = response.iter_lines()  # kept, because the collected iterator would close the stream
        next(lines)
        call = Call.objects.get()
        assert call.lease_until > timezone.now() + timedelta(seconds=180)
        Call.objects.update(lease_until=timezone.now())  # as after the deadline
        mark_abandoned_lost()
        assert accounts()[person_account(owner.key)] == (0, 3)
        assert Call.objects.get().state == "lost"


def test_full_model_makes_callers_wait(raw: httpx2.Client, model: Callable[..., Any], fake_provider: FakeProvider):
    slug = model("honest", calls_at_once=1).slug
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(raw.post, "/chat/completions", json=body(slug, f"one {PAUSE} two"))
        wait_for(lambda: fake_provider.paused == 1)
        second = threads.submit(raw.post, "/chat/completions", json=body(slug, "three"))
        fake_provider.go_on()
        assert second.result().json()["choices"][0]["message"]["content"] == "three "
        assert first.result().status_code == 200
    assert SpendingDay.objects.count() == 0


def test_silent_model_is_commented(raw: httpx2.Client, model: Callable[..., Any], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("gateway.answers.answering.KEEP_ALIVE_S", 0.05)
    with raw.stream("POST", "/chat/completions", json=body(model("hang-after-1").slug, stream=True)) as response:
        assert any(line.startswith(":") for line in response.iter_lines())


def test_member_has_few_requests_at_once(
    raw: httpx2.Client, model: Callable[..., Any], fake_provider: FakeProvider, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("gateway.answers.slots.MAX_AT_ONCE_OF_PERSON", 1)
    slug = model().slug
    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(raw.post, "/chat/completions", json=body(slug, f"one {PAUSE} two"))
        wait_for(lambda: fake_provider.paused == 1)
        refused = raw.post("/chat/completions", json=body(slug))
        assert (refused.status_code, refused.json()["error"]["code"]) == (429, "too_many_at_once")
        fake_provider.go_on()
        assert first.result().status_code == 200
    assert raw.post("/chat/completions", json=body(slug)).status_code == 200


def test_refused_requests_free_their_slots(
    raw: httpx2.Client, fake_provider: FakeProvider, settings: Any, monkeypatch: pytest.MonkeyPatch
):
    """Garbage collections may be far apart: tracebacks refer to frames, and these to slots."""
    monkeypatch.setattr("gateway.answers.slots.MAX_AT_ONCE_OF_PERSON", 1)
    settings.ARENA_BUDGETS = {**settings.ARENA_BUDGETS, "member": cents(0)}
    slug = paid_model("honest", at=fake_provider.base_url).slug
    gc.disable()
    try:
        refused = [raw.post("/chat/completions", json=body(slug)).json()["error"]["code"] for _ in range(3)]
    finally:
        gc.enable()
    assert refused == ["budget_reached"] * 3
    assert not fake_provider.calls
