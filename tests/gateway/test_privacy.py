import json
import logging
from typing import Any

import httpx2
import pytest
from django.apps import apps
from django.core import serializers

from accounts.actions import delete_account
from common.valkey.connections import connection
from models_registry.encryption import encrypt
from models_registry.models import Provider
from tests import make
from tests.fake_provider import CANARY as UPSTREAM
from tests.fake_provider import FakeProvider
from tests.gateway.software import issue_token, settled
from tests.waiting import wait_for

pytestmark = pytest.mark.django_db(transaction=True)
KEY = "sk-canary-of-the-provider-9d1c"
CANARIES = {
    "prompt": "canaryprompt", "system": "canarysystem", "tool": "canarytool", "stop": "canarystop",
    "session": "canarysession", "user": "canaryuser",
}  # fmt: skip


def everything_stored() -> str:
    rows = [row for model in apps.get_models() if model._meta.managed for row in model._default_manager.all()]
    keys = [str(key) for key in connection().scan_iter("*")]
    values = [str(connection().get(key)) for key in keys if connection().type(key) == "string"]
    return serializers.serialize("json", rows) + json.dumps([keys, values])


def body(model: str, **fields: Any) -> dict[str, Any]:
    tool = {"type": "function", "function": {"name": CANARIES["tool"], "parameters": {"type": "object"}}}
    return {
        "model": model, "user": CANARIES["user"], "stop": [CANARIES["stop"]], "tools": [tool],
        "metadata": {"session_id": CANARIES["session"]},
        "messages": [
            {"role": "system", "content": CANARIES["system"]}, {"role": "user", "content": CANARIES["prompt"]},
        ],
        **fields,
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("upstream_name", ["honest", "calls-tools", "html", "cut-after-0", "status-500", "indiscreet"])
@pytest.mark.parametrize("asked", ["named", "auto"])
def test_texts_and_secrets_are_found_nowhere(
    address: str, token: str, fake_provider: FakeProvider, caplog: pytest.LogCaptureFixture, capfd: Any,
    upstream_name: str, asked: str, settings: Any,
):  # fmt: skip
    settings.ARENA_ROUTER = "battles.auto.port.heaviest_weight"
    caplog.set_level(logging.DEBUG)
    model = make.model(upstream_name, at=fake_provider.base_url, abilities=["tools"])
    provider = Provider.objects.get()
    provider.key_encrypted = encrypt(KEY)
    provider.save()
    headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": "k-1"}
    name = model.slug if asked == "named" else "auto"
    for is_stream in (False, True):
        with httpx2.stream(
            "POST", f"{address}/v1/chat/completions", json=body(name, stream=is_stream), headers=headers, timeout=60
        ) as response:
            received = response.read().decode() + str(response.headers)
        assert KEY not in received
        assert UPSTREAM not in received
    wait_for(settled)
    written = everything_stored() + caplog.text + "".join(capfd.readouterr())
    assert [name for name, canary in CANARIES.items() if canary in written] == []
    assert token not in written
    assert KEY not in written
    assert fake_provider.requests  # a model was asked


def test_upstream_learns_nothing_about_the_caller(
    address: str, token: str, fake_provider: FakeProvider, owner: Any, monkeypatch: pytest.MonkeyPatch
):
    model = make.model("honest", at=fake_provider.base_url, abilities=["tools"])
    headers = {"Authorization": f"Bearer {token}", "X-Forwarded-For": "192.0.2.7", "Cookie": "a=canarycookie"}
    sent: list[str] = []
    complete = fake_provider._complete

    async def keep_head(request: Any) -> Any:
        sent.append(str(request.headers))
        return await complete(request)

    monkeypatch.setattr(fake_provider, "_complete", keep_head)
    response = httpx2.post(f"{address}/v1/chat/completions", json=body(model.slug), headers=headers, timeout=60)
    assert response.status_code == 200
    sent_texts = json.dumps(fake_provider.requests) + "".join(sent)
    secrets = (token, owner.user.email, "192.0.2.7", "canarycookie", CANARIES["user"], CANARIES["session"], address)
    assert [secret for secret in secrets if secret in sent_texts] == []


def test_only_keeping_tokens_keep_texts(address: str, owner: Any, fake_provider: FakeProvider):
    model = make.model("honest", at=fake_provider.base_url, abilities=["tools"])
    headers = {"Authorization": f"Bearer {issue_token(owner, keeps_texts=True)}"}
    httpx2.post(f"{address}/v1/chat/completions", json=body(model.slug), headers=headers, timeout=60)
    stored = everything_stored()
    assert [name for name, canary in CANARIES.items() if canary in stored] == ["prompt", "system"]


@pytest.mark.parametrize("upstream_name", ["honest", "cut-after-1"])
def test_download_has_texts_of_keeping_tokens_only(
    address: str, owner: Any, fake_provider: FakeProvider, upstream_name: str
):
    slug = make.model(upstream_name, at=fake_provider.base_url).slug
    for keeps_texts in (True, False):
        words = "kept-by-its-owner" if keeps_texts else "kept-by-none"
        message = {"role": "user", "content": f"{words} two three"}
        headers = {"Authorization": f"Bearer {issue_token(owner, keeps_texts=keeps_texts)}"}
        for is_stream in (False, True):
            body = {"model": slug, "messages": [message], "stream": is_stream}
            httpx2.post(f"{address}/v1/chat/completions", json=body, headers=headers, timeout=60)
    wait_for(settled)
    for path in ("/accounts/data/export/", "/api/v1/me/export/"):
        own, other = (make.browser(person).get(path) for person in (owner, make.member()))
        exchanges = own.json()["gateway_exchanges"]
        texts = [exchange["texts"] for exchange in exchanges]
        assert [text is not None for text in texts] == [True, True, False, False]
        assert all(text["messages"][0]["content"] == "kept-by-its-owner two three" for text in texts[:2])
        assert all(text["answer"]["content"].startswith("kept-by-its-owner ") for text in texts[:2])
        assert "kept-by-none" not in own.text + everything_stored()
        assert (other.json()["gateway_exchanges"], "kept-by" in other.text) == ([], False)
    make.user(is_superuser=True)
    delete_account(owner.user)
    assert "kept-by-its-owner" not in everything_stored()
