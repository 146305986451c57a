import json
import logging
from collections.abc import Iterator
from io import StringIO
from typing import Any

import httpx2
import pytest
from django.test import Client

from accounts.models import Scope
from battles.models import Turn
from common import logs
from tests import make
from tests.fake_provider import FakeProvider
from tests.site import Reader, answer_worker, serve
from tests.waiting import wait_for


@pytest.fixture
def lines() -> Iterator[StringIO]:
    """Logged lines from INFO on, as JSON."""
    written, root = StringIO(), logging.getLogger()
    handler = logging.StreamHandler(written)
    handler.setFormatter(logs.formatter("json"))
    root.addHandler(handler)
    level = root.level
    root.setLevel(logging.INFO)  # not `root.level =`: setLevel also clears the cache of isEnabledFor
    yield written
    root.setLevel(level)
    root.removeHandler(handler)


def read(lines: StringIO, **facts: object) -> list[dict[str, Any]]:
    """Return the lines that contain all of `facts`."""
    logged = [json.loads(line) for line in lines.getvalue().splitlines()]
    return [line for line in logged if facts.items() <= line.items()]


@pytest.mark.django_db
def test_request_logs_one_line_without_person(client: Client, lines: StringIO):
    response = client.get("/api/v1/models/?search=a+secret+wish", REMOTE_ADDR="198.51.100.7")
    (line,) = read(lines, logger="arena_site.requests")
    assert line.pop("ms") > 0
    assert line.pop("time").endswith("Z")
    assert line == {
        "level": "info", "logger": "arena_site.requests", "message": "request", "method": "GET",
        "path": "/api/v1/models/", "status": 200, "actor": "visitor", "request_id": response["X-Request-ID"],
    }  # fmt: skip


@pytest.mark.django_db
def test_request_log_names_kind_of_actor(lines: StringIO):
    member, staff, program = Client(), Client(), Client()
    member.force_login(make.user())
    staff.force_login(make.user(is_staff=True))
    token = make.token(scopes=[Scope.READ])
    for client in (member, staff):
        client.get("/sessions/")
    program.get("/api/v1/sessions/", headers={"Authorization": f"Bearer {token}"})
    Client().get("/livez")
    logged = read(lines, logger="arena_site.requests")
    assert [line["actor"] for line in logged] == ["member", "staff", "token", "unknown"]


@pytest.mark.django_db
def test_secrets_in_url_are_not_logged(client: Client, lines: StringIO):
    client.get("/stream/a-signed-word/")
    client.get("/accounts/password/reset/key/1-c0ffee/")
    assert [line["path"] for line in read(lines, logger="arena_site.requests")] == [
        "/stream/…/",
        "/accounts/password/reset/key/…-…/",
    ]
    assert "a-signed-word" not in lines.getvalue()


def test_request_id_of_trusted_proxy_only_is_kept(client: Client, settings: Any):
    given = {"X-Request-ID": "proxy-5f0c3a"}
    assert client.get("/livez", headers=given)["X-Request-ID"] != "proxy-5f0c3a"
    settings.ARENA_TRUSTED_PROXIES = ["127.0.0.0/8"]
    assert client.get("/livez", headers=given)["X-Request-ID"] == "proxy-5f0c3a"


@pytest.mark.parametrize("given", ["short", "x" * 65, 'quote"quote', "two\tlines"])
def test_malformed_request_id_is_replaced(client: Client, settings: Any, given: str):
    settings.ARENA_TRUSTED_PROXIES = ["127.0.0.0/8"]
    answered = client.get("/livez", headers={"X-Request-ID": given})["X-Request-ID"]
    assert answered != given
    assert len(answered) == 24


@pytest.mark.django_db
def test_server_error_is_logged_with_request_id(lines: StringIO, monkeypatch: pytest.MonkeyPatch):
    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("leaderboard.boards.queries.read_board", fail)
    response = Client(raise_request_exception=False).get("/leaderboard/")
    traceback, line = read(lines, request_id=response["X-Request-ID"])
    assert "ZeroDivisionError" in traceback["exception"]
    assert (line["status"], line["level"]) == (500, "error")


@pytest.mark.django_db(transaction=True)
def test_worker_keeps_logging_settings():
    with answer_worker():
        assert logging.getLogger().level == logging.INFO


@pytest.mark.django_db(transaction=True)
def test_worker_logs_carry_request_id(fake_provider: FakeProvider, reader: Reader, lines: StringIO):
    for _ in range(2):
        make.model("status-400", at=fake_provider.base_url)
    answered = reader.api("POST", "sessions/", json={"prompt": "Who am I?"})
    reader.wait_until_answered(answered.json()["battles"][0])
    failures = read(lines, logger="battles.calls.attempt", request_id=answered.headers["X-Request-ID"])
    assert len(failures) == 2
    assert "Who am I?" not in lines.getvalue()
    assert Turn.objects.get().prompt == "Who am I?"


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_late_response_is_logged_with_its_own_status(lines: StringIO, fake_provider: FakeProvider):
    actor = make.member()
    assert actor.user is not None
    token = make.token(actor.user, scopes=[Scope.GATEWAY])
    names = ["honest", "status-500", "status-429", "silent"]
    models = {name: make.model(name, at=fake_provider.base_url).slug for name in names}
    ids = []
    with serve() as address, httpx2.Client(headers={"Authorization": f"Bearer {token}"}, timeout=60) as client:
        for name in names[:3]:
            body = {"model": models[name], "messages": [{"role": "user", "content": "one"}], "stream": True}
            ids.append(client.post(f"{address}/v1/chat/completions", json=body).headers["X-Request-ID"])
        body["model"] = models["silent"]
        with pytest.raises(httpx2.TimeoutException):
            client.post(f"{address}/v1/chat/completions", json=body, timeout=1)
        wait_for(lambda: len(read(lines, logger="arena_site.requests")) == 4)
    logged = read(lines, logger="arena_site.requests")
    assert [(line["status"], line["level"], line["actor"]) for line in logged] == [
        (200, "info", "token"), (503, "error", "token"), (429, "info", "token"), (499, "info", "token"),
    ]  # fmt: skip
    assert [line["request_id"] for line in logged[:3]] == ids
