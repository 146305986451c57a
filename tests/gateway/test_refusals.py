"""Refusals of a request by its model's server are passed on, those of the arena's account are not."""

from collections.abc import Callable
from typing import Any

import httpx2
import pytest
from openai import BadRequestError, OpenAI

from battles.models import Call
from tests.fake_provider import FakeProvider
from tests.gateway.software import ASKED
from tests.waiting import wait_for

pytestmark = pytest.mark.django_db(transaction=True)
KEY = "sk-canary-of-the-provider-0123456789"


@pytest.fixture
def raw(address: str, token: str) -> httpx2.Client:
    return httpx2.Client(base_url=f"{address}/v1", headers={"Authorization": f"Bearer {token}"}, timeout=60)


@pytest.fixture
def keyed(model: Callable[..., Any]) -> Callable[..., Any]:
    def make(name: str, **fields: Any) -> Any:
        made = model(name, **fields)
        made.provider.store_key(KEY)
        made.provider.save()
        return made

    return make


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("status", "code"), [(400, "rejected"), (404, "model_not_found"), (422, "rejected")])
def test_refused_request_keeps_status_and_words(
    raw: httpx2.Client, keyed: Callable[..., Any], status: int, code: str, stream: bool
):
    body = {"model": keyed(f"wordy-{status}").slug, "messages": ASKED, "stream": stream}
    response = raw.post("/chat/completions", json=body)
    error = response.json()["error"]
    assert (response.status_code, error["code"], error["type"]) == (status, code, "invalid_request_error")
    assert error["message"].startswith("tools.3.name: must match ^[a-z]+$ for organization [removed], ")
    secrets = ("canary", "AbCdEf", "x1y2z3", "77fgh", "10.1.2.3", "8000", "internal", "9000", KEY)
    assert not [secret for secret in secrets if secret in response.text]


@pytest.mark.parametrize("status", [401, 402, 403, 429, 500, 503])
def test_refusal_of_the_account_has_own_words(raw: httpx2.Client, keyed: Callable[..., Any], status: int):
    response = raw.post("/chat/completions", json={"model": keyed(f"wordy-{status}").slug, "messages": ASKED})
    assert response.status_code == (429 if status == 429 else 503)
    assert "tools.3" not in response.text
    assert "removed" not in response.text


def test_too_long_prompt_is_told_in_openais_words(client: OpenAI, model: Callable[..., Any]):
    """Agents shorten their conversation when they read them."""
    prompt: Any = [{"role": "user", "content": "too long"}]
    with pytest.raises(BadRequestError) as refusal:
        client.chat.completions.create(model=model("judges", context_length=4_000).slug, messages=prompt)
    assert (refusal.value.code, refusal.value.param) == ("context_length_exceeded", "messages")
    assert "This model's maximum context length is 4000 tokens. However, your messages resulted in" in str(
        refusal.value
    )


def test_late_model_is_awaited_with_comments(
    raw: httpx2.Client, model: Callable[..., Any], fake_provider: FakeProvider, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("gateway.answers.responses.HEAD_S", 0.05)
    monkeypatch.setattr("gateway.answers.responses.KEEP_ALIVE_S", 0.05)
    slug = model("patient").slug
    body = {"model": slug, "messages": ASKED, "stream": True}
    with raw.stream("POST", "/chat/completions", json=body) as response:
        lines = response.iter_lines()
        assert [next(lines) for _ in range(4)] == [": still here", ""] * 2
        fake_provider.go_on()
        rest = "".join(lines)
    assert (response.status_code, "X-Arena-Model" in response.headers) == (200, False)
    assert f'"model":"{slug}"' in rest
    assert rest.endswith("data: [DONE]")


@pytest.mark.parametrize("stream", [False, True])
def test_other_model_answers_after_the_head(
    raw: httpx2.Client, model: Callable[..., Any], fake_provider: FakeProvider, settings: Any,
    monkeypatch: pytest.MonkeyPatch, stream: bool,
):  # fmt: skip
    monkeypatch.setattr("gateway.answers.responses.HEAD_S", 0.05)
    settings.ARENA_GATEWAY_BLANKS_AFTER_S = 0.05
    settings.ARENA_ROUTER = "battles.auto.port.heaviest_weight"
    model("patient-501", weight=2)
    other = model("honest").slug
    body = {"model": "auto", "messages": ASKED, "stream": stream}
    with raw.stream("POST", "/chat/completions", json=body) as response:
        assert "X-Arena-Decision" in response.headers
        fake_provider.go_on()
        text = response.read().decode()
    assert f'"model":"{other}"' in text
    assert text.startswith(": still here" if stream else " ")


def test_late_refusal_is_an_event(
    raw: httpx2.Client, model: Callable[..., Any], fake_provider: FakeProvider, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("gateway.answers.responses.HEAD_S", 0.05)
    body = {"model": model("patient-400").slug, "messages": ASKED, "stream": True}
    with raw.stream("POST", "/chat/completions", json=body) as response:
        fake_provider.go_on()
        lines = response.read().decode().splitlines()
    assert (response.status_code, lines[0]) == (200, ": still here")
    assert '"message":"no, after a while"' in lines[-2]


def test_late_failure_without_a_stream_breaks_off(
    raw: httpx2.Client, model: Callable[..., Any], fake_provider: FakeProvider, settings: Any
):
    settings.ARENA_GATEWAY_BLANKS_AFTER_S = 0.05
    body = {"model": model("patient-400").slug, "messages": ASKED}
    with raw.stream("POST", "/chat/completions", json=body) as response:
        assert response.status_code == 200
        fake_provider.go_on()
        with pytest.raises(httpx2.RemoteProtocolError):
            response.read()
    wait_for(lambda: not Call.objects.unfinished().exists())


def test_blanks_can_be_switched_off(
    raw: httpx2.Client, model: Callable[..., Any], fake_provider: FakeProvider, settings: Any
):
    settings.ARENA_GATEWAY_BLANKS_AFTER_S = 0
    slug = model("late").slug
    response = raw.post("/chat/completions", json={"model": slug, "messages": ASKED})
    assert response.headers["X-Arena-Model"] == slug
    assert response.content.startswith(b"{")
