from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event
from typing import Any

import pytest
import redis
from cryptography.fernet import Fernet
from django.db import OperationalError
from django.db.migrations.executor import MigrationExecutor
from django.test import Client

from arena_site import health
from common.valkey import connections, heartbeat
from common.valkey.connections import connection
from models_registry.models import LanguageModel, Provider
from tests import make
from tests.site import Reader, serve

pytestmark = pytest.mark.django_db
PARTS = {"database", "valkey", "migrations", "provider_keys", *heartbeat.EXPECTED}


def away(error: Exception) -> Any:
    def fail(*_: object, **__: object) -> None:
        raise error

    return fail


def readiness(status: int) -> dict[str, Any]:
    response = Client().get("/readyz")
    body: dict[str, Any] = response.json()
    assert (response.status_code, body["ready"]) == (status, status == 200)
    assert Client().get("/livez").content == b"ok"
    return body


@pytest.fixture(autouse=True)
def _all_processes_are_alive() -> Iterator[None]:
    for name in heartbeat.EXPECTED:
        connection().set(f"heartbeat:{name}", "alive")
    health._check_migrations.cache_clear()
    yield
    health._check_migrations.cache_clear()


def test_healthy_arena_is_ready():
    make.model("ada"), make.model("bert")
    assert readiness(200) == {
        "ready": True,
        "checks": dict.fromkeys(PARTS, "ok"),
        "drawable_models": 2,
        "failed_boards": [],
    }


def test_silent_process_is_named():
    connection().delete("heartbeat:sweeper")
    assert readiness(503)["checks"] == {**dict.fromkeys(PARTS, "ok"), "sweeper": "not heard"}


def test_readyz_without_database_omits_dependent_checks(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(health, "_check_database", away(OperationalError()))
    assert readiness(503)["checks"] == {
        "database": "away", "valkey": "ok", **dict.fromkeys(heartbeat.EXPECTED, "ok"),
    }  # fmt: skip


@pytest.mark.usefixtures("no_valkey")
def test_readyz_without_valkey_omits_dependent_checks():
    assert readiness(503)["checks"] == {
        "database": "ok", "valkey": "away", "migrations": "ok", "provider_keys": "ok",
    }  # fmt: skip


def test_process_that_refuses_battles_is_not_ready(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(connections, "_away_until", float("inf"))
    assert readiness(503)["checks"]["valkey"] == "away"


def test_unapplied_migration_is_not_ready(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(MigrationExecutor, "migration_plan", lambda *_: ["one more"])
    assert readiness(503)["checks"]["migrations"] == "not applied"
    monkeypatch.undo()
    readiness(200)


def test_undecryptable_keys_are_not_ready(settings: Any):
    provider = Provider(name="Paid", base_url="http://paid.test/v1")
    provider.store_key("sk-a-provider-key")
    provider.save()
    readiness(200)
    settings.ARENA_ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    assert "ARENA_ENCRYPTION_KEYS" in readiness(503)["checks"]["provider_keys"]


def test_valkey_lost_between_two_checks_is_away(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(heartbeat, "missing", away(redis.ConnectionError()))
    assert readiness(503)["checks"]["valkey"] == "away"


def test_database_lost_between_two_checks_is_away(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(type(LanguageModel.objects), "configured", away(OperationalError()))
    assert readiness(503)["checks"]["database"] == "away"


@pytest.mark.django_db(transaction=True)
def test_livez_answers_while_threads_wait_for_database(monkeypatch: pytest.MonkeyPatch, settings: Any):
    all_wait, is_back = Barrier(settings.ARENA_DATABASE_POOL + 1), Event()

    def wait() -> None:
        all_wait.wait(60)
        is_back.wait(60)

    monkeypatch.setattr(health, "_check_database", wait)
    with serve() as site, ThreadPoolExecutor(settings.ARENA_DATABASE_POOL) as crowd:
        responses = [crowd.submit(Reader(site).get, "/readyz") for _ in range(settings.ARENA_DATABASE_POOL)]
        try:
            all_wait.wait(60)
            assert Reader(site).get("/livez").status_code == 200
        finally:
            is_back.set()
        assert {response.result(60).status_code for response in responses} == {200}
