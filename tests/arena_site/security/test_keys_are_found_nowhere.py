"""A key repeated by its provider appears in no response, row, Valkey key or log line."""

import json
import logging
from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest
from celery.signals import before_task_publish
from django.db import connection
from django.test import Client

from accounts.models import Scope
from battles.models import Answer, Call
from common import logs
from common.valkey import counters
from common.valkey.connections import connection as valkey
from models_registry.models import LanguageModel, Provider
from tests import make
from tests.fake_provider import FakeProvider
from tests.site import Reader

pytestmark = pytest.mark.django_db(transaction=True)
KEY = "sk-canary-4f9c-do-not-show-7Q2z"


@pytest.fixture
def written() -> Iterator[StringIO]:
    """All log lines from DEBUG on, in both styles."""
    lines, root = StringIO(), logging.getLogger()
    handlers = [logging.StreamHandler(lines) for _ in range(2)]
    for handler, style in zip(handlers, ("json", "text"), strict=True):
        handler.setFormatter(logs.formatter(style))
        root.addHandler(handler)
    level = root.level
    root.setLevel(logging.DEBUG)  # not `root.level =`: setLevel also clears the cache of isEnabledFor
    yield lines
    root.setLevel(level)
    for handler in handlers:
        root.removeHandler(handler)


@pytest.fixture
def messages() -> Iterator[list[str]]:
    published: list[str] = []

    def record(headers: Any, body: Any, **_: object) -> None:
        published.append(repr((headers, body)))

    before_task_publish.connect(record, weak=False)
    yield published
    before_task_publish.disconnect(record)


@pytest.fixture
def admin() -> Client:
    client = Client()
    client.force_login(make.user("admin@example.org", is_staff=True, is_superuser=True))
    return client


@pytest.fixture
def provider(admin: Client, fake_provider: FakeProvider) -> Provider:
    """Provider whose key was entered in the administration."""
    entered = {"name": "Indiscreet", "base_url": fake_provider.base_url, "needs_key": "on", "key": KEY}
    assert admin.post("/admin/models_registry/provider/add/", entered).status_code == 302
    return Provider.objects.get()


def contestants(provider: Provider, *names: str) -> None:
    for number, name in enumerate(names):
        LanguageModel.objects.create(
            provider=provider, upstream_name=name, slug=f"m{number}", name=f"M {number}", status="active"
        )


def whole_database() -> str:
    rows = []
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            with cursor.copy(f'COPY "{table}" TO STDOUT') as copied:
                rows += [bytes(piece).decode() for piece in copied]
    return "".join(rows)


def whole_valkey() -> str:
    read: dict[str, Any] = {
        "string": valkey().get, "hash": valkey().hgetall, "set": valkey().smembers, "stream": valkey().xrange,
        "list": lambda key: valkey().lrange(key, 0, -1), "zset": lambda key: valkey().zrange(key, 0, -1),
        "none": lambda key: "went meanwhile",
    }  # fmt: skip
    return "\n".join(f"{key} {read[valkey().type(key)](key)}" for key in valkey().keys("*"))


def administration(admin: Client) -> str:
    """Return the admin's lists of providers and calls, the pages of their rows, and the metrics."""
    counters.flush()
    seen = [admin.get("/admin/").text, admin.get("/metrics").text]
    for model in (
        "models_registry/provider", "models_registry/languagemodel", "models_registry/cataloguechange",
        "battles/call", "battles/answer", "battles/battle", "battles/session", "accounts/auditentry",
    ):  # fmt: skip
        listed = admin.get(f"/admin/{model}/")
        assert listed.status_code == 200, model
        seen.append(listed.text)
        for row in listed.context["cl"].result_list:
            seen += [admin.get(f"/admin/{model}/{row.pk}/{page}/").text for page in ("change", "history")]
    return "".join(seen)


def assert_nowhere(*places: str) -> None:
    for place in places:
        assert place
        assert KEY not in place
        assert KEY[:-4] not in place


@pytest.mark.slow
def test_key_repeated_by_provider_is_redacted(
    provider: Provider, admin: Client, reader: Reader, written: StringIO, messages: list[str]
):
    contestants(provider, "indiscreet", "indiscreet")
    battle = reader.start_battle()
    streamed = list(reader.follow(battle["stream_url"]))
    in_valkey = whole_valkey()
    battle = reader.wait_until_answered(battle)
    assert [side["text"] for side in battle["turns"][0]["answers"]] == [
        "Your key is [secret], [secret], thus it ends in sk-c"
    ] * 2
    assert reader.api("POST", f"battles/{battle['id']}/vote/", {"choice": "left"}).status_code == 201
    session = reader.api("GET", "sessions/").json()["results"][0]["id"]
    exports = [
        reader.get(f"/api/v1/sessions/{session}/export/?format={ending}").text for ending in ("json", "markdown")
    ]
    token = make.token(scopes=[Scope.EXPORT])
    exports.append(Reader(reader.site, token).get("/api/v1/exports/votes.jsonl").text)
    assert {call.state for call in Call.objects.all()} == {"done"}
    assert_nowhere(
        json.dumps(streamed), in_valkey, whole_valkey(), b"".join(reader.received).decode(), *exports,
        whole_database(), administration(admin), written.getvalue(), *messages,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("status", [400, 401, 500])
def test_key_in_provider_error_is_redacted(
    provider: Provider, admin: Client, reader: Reader, written: StringIO, messages: list[str], status: int
):
    contestants(provider, f"indiscreet-{status}", f"indiscreet-{status}")
    battle = reader.wait_until_answered(reader.start_battle())
    assert {answer.state for answer in Answer.objects.all()} == {"failed"}
    assert f"HTTP {status}" in written.getvalue()  # upstream's words are there, without the key
    assert_nowhere(
        json.dumps(battle), whole_valkey(), b"".join(reader.received).decode(), whole_database(),
        administration(admin), written.getvalue(), *messages,
    )  # fmt: skip


def test_key_in_list_of_models_is_redacted(
    provider: Provider, admin: Client, fake_provider: FakeProvider, written: StringIO
):
    fake_provider.serves = {"object": "list", "data": [{"id": f"for-{KEY}", "object": "model", "owned_by": KEY}]}
    page = admin.post(f"/admin/models_registry/provider/{provider.pk}/discover/", {"ask": "1"}, follow=True).text
    assert "for-[secret]" in page
    assert_nowhere(page, whole_database(), administration(admin), written.getvalue() or "nothing")
