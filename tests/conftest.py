"""Fixtures of all tests."""

import gc
import math
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from datetime import timedelta
from functools import cache as cache_results
from pathlib import Path
from typing import Any

import httpcore2
import pgtrigger
import pytest
import redis
from django.contrib.auth.models import Group
from django.core.cache import cache
from django.db import connections
from django.db.backends.postgresql.operations import DatabaseOperations
from django.test import Client, TransactionTestCase
from django.utils import timezone, translation
from pytest_django import DjangoDbBlocker

from accounts import bans
from accounts.limiting import chosen, groups
from accounts.models import User
from arena_site.moderators import MODERATORS
from battles import feedback, suggestions
from battles.labels import custom_categories
from battles.moderation import endpoint, policy
from battles.worker import runner as battles_engine
from battles.worker import turn_store
from battles.worker.runner import Engine
from common.db.triggers import allow_truncate_sql
from common.rendering.frames import Rendered
from common.rendering.renderer import Renderer
from common.valkey import connections as valkey
from common.valkey import limits
from common.valkey.connections import connection, pool
from leaderboard.boards import live_figures
from leaderboard.models.listed import listed_boards
from models_registry import drawable_cache, model_limits, profiles
from models_registry.models import budgets
from models_registry.providers import refusals
from routing import router_cache
from routing.call_medians import call_medians
from routing.rules import current_policy
from site_content import current
from tests import database_reset, make, migrated
from tests.fake_provider import FakeProvider
from tests.scheduling import SharedArenaScheduling, start_order
from tests.services import RUN_DIR, has_own_database
from tests.site import Reader, answer_worker, serve


def pytest_configure(config: pytest.Config) -> None:
    """Create the directory shared by the processes of this run; the controlling process removes it."""
    gc.set_threshold(50_000, 20, 20)  # of 8 s of collecting tests, 1.7 were spent on collecting garbage
    if not hasattr(config, "workerinput"):
        os.environ[RUN_DIR] = directory = tempfile.mkdtemp(prefix="arena-test-run-", dir="/tmp")
        Path(directory).chmod(0o711)  # for the unprivileged user that PostgreSQL runs as under root
        config.add_cleanup(lambda: shutil.rmtree(directory))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> SharedArenaScheduling | None:
    return SharedArenaScheduling(config, log) if config.getoption("dist") == "loadfile" else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run tests with whole arenas first, grouped by shared arena; otherwise keep the random order."""
    items.sort(key=start_order)


def pytest_collection_finish() -> None:
    """Leave modules and tests out of later garbage collections, which took a tenth of the CPU time."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _patience_with_valkey() -> Iterator[None]:
    """On a busy machine Valkey may take longer than the half second after which an arena counts it as unreachable."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(valkey, "SOCKET_TIMEOUT_S", 20.0)
        yield


@pytest.fixture(scope="session", autouse=True)
def _leases_outlast_tests() -> Iterator[None]:
    """A busy machine renews leases late, and without a sweeper no worker would take the turn over."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(turn_store, "LEASE", timedelta(minutes=30))
        yield


@pytest.fixture(scope="session", autouse=True)
def _certificates_are_loaded_once() -> Iterator[None]:
    """Every engine and client would load the system's certificates anew, for 20 ms."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(httpcore2, "default_ssl_context", cache_results(httpcore2.default_ssl_context))
        yield


@pytest.fixture(scope="session", autouse=True)
def _short_pauses_before_retries() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(refusals, "_MIN_BACKOFF_S", 0.0)
        patched.setattr(refusals, "_MAX_BACKOFF_S", 0.02)
        yield


@pytest.fixture(scope="session", autouse=True)
def _tests_may_empty_tables() -> Iterator[None]:
    """Allow TRUNCATE, and avoid it after most tests with transactions of their own."""
    flush = DatabaseOperations.sql_flush

    def allowed_flush(self: DatabaseOperations, *args: object, **options: object) -> list[str]:
        return [allow_truncate_sql(), *flush(self, *args, **options)]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(DatabaseOperations, "sql_flush", allowed_flush)
        patched.setattr(TransactionTestCase, "_fixture_teardown", database_reset.reset)
        yield


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings: None, django_db_blocker: DjangoDbBlocker) -> None:
    """Copy the tests' database from one that has all migrations."""
    if has_own_database():
        with django_db_blocker.unblock():
            migrated.fill_default()
        connections["default"].settings_dict["TEST"] |= {"TEMPLATE": "arena", "MIGRATE": False}


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> None:
    with django_db_blocker.unblock():
        database_reset.remember()


@pytest.fixture(autouse=True)
def _not_across_midnight() -> None:
    """Wait until after midnight (UTC) shortly before it, because many figures are counted per day."""
    now = timezone.now()
    left = timedelta(days=1) - timedelta(hours=now.hour, minutes=now.minute, seconds=now.second)
    if left < timedelta(seconds=20):
        time.sleep(left.total_seconds())


@pytest.fixture(scope="session")
def _fake_provider() -> Iterator[FakeProvider]:
    provider = FakeProvider().start()
    yield provider
    provider.stop()


@pytest.fixture
def fake_provider(_fake_provider: FakeProvider) -> FakeProvider:
    _fake_provider.forget()
    return _fake_provider


@pytest.fixture(autouse=True)
def _votes_are_numbered_at_once(request: pytest.FixtureRequest, _django_db_marker: None) -> None:
    """Number votes immediately, because the transaction around a test is never committed."""
    if "db" in request.fixturenames:
        request.getfixturevalue("db")
    if connections["default"].in_atomic_block:
        pgtrigger.constraints(pgtrigger.Immediate, "battles.Vote:a_vote_is_numbered_at_commit")


@pytest.fixture(autouse=True)
def _empty_valkey(monkeypatch: pytest.MonkeyPatch) -> None:
    """Delete limits, streams and queues of the previous test, and close Valkey's circuit breaker."""
    monkeypatch.setattr(valkey, "_away_until", 0.0)
    monkeypatch.setattr(valkey, "_has_missed", False)
    connection().flushdb()
    cache.clear()


@pytest.fixture(autouse=True)
def _reset_language() -> None:
    """The thread keeps the language of the previous test's last request."""
    translation.deactivate()


@pytest.fixture(autouse=True)
def _models_are_looked_up_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not cache models: many tests change them without the ORM's signals."""
    monkeypatch.setattr(drawable_cache.cached_roster, "ttl_s", 0.0)
    drawable_cache.cached_roster.invalidate()


@pytest.fixture(autouse=True)
def _no_model_has_a_profile() -> None:
    """Begin with a filled cache, so that no test counts its query; profiles that a test stores are read."""
    cached = profiles.cached_profiles
    cached._value, cached._expires_at, cached._loaded_version = {}, float("inf"), cached._version


@pytest.fixture(autouse=True)
def _live_figures_are_read_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_figures.cached_figures, "ttl_s", 0.0)
    live_figures.cached_figures.invalidate()


@pytest.fixture(autouse=True)
def _categories_are_looked_up_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not cache categories of the previous test."""
    monkeypatch.setattr(custom_categories.rules, "ttl_s", 0.0)
    custom_categories.rules.invalidate()


@pytest.fixture(autouse=True)
def _auto_mode_is_looked_up_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read rules, routers and figures again, and not in a thread, which would not see the test's rows."""
    current_policy.invalidate()
    call_medians.invalidate()
    router_cache.forget()
    for cached in (call_medians, router_cache.held_router):
        monkeypatch.setattr(cached, "ttl_s", 3600)


@pytest.fixture(autouse=True)
def _bans_and_limits_are_looked_up_anew() -> None:
    for cached in (
        bans.in_force, chosen.in_force, groups.in_force, model_limits.in_force, budgets.chosen, listed_boards
    ):  # fmt: skip
        cached.invalidate()


@pytest.fixture(autouse=True)
def _site_content_is_the_arenas_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cache the content of an arena without an operator's, so that no page of a test reads it with a query."""
    own = ((current.site, current.Site()), (feedback.tags, feedback.built_in()), (suggestions.shown, []))
    for cached, value in own:
        cached.invalidate()
        monkeypatch.setattr(cached, "_value", value, raising=False)
        monkeypatch.setattr(cached, "_loaded_version", cached._version)
        monkeypatch.setattr(cached, "_expires_at", math.inf)
        monkeypatch.setattr(cached, "ttl_s", math.inf)


@pytest.fixture
def nothing_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep bans, limits and rules cached while queries are counted."""
    limits = (chosen.in_force, groups.in_force, model_limits.in_force)
    others = (budgets.chosen, listed_boards, policy.current, drawable_cache.cached_roster)
    for cached in (bans.in_force, *limits, *others):
        monkeypatch.setattr(cached, "ttl_s", 3600)


@pytest.fixture
def limits_are_known(nothing_is_forgotten: None, db: None) -> None:
    """Cache limits first, so that threads under test open no database connection."""
    chosen.in_force()
    groups.in_force()
    budgets.chosen()


@pytest.fixture
def limits_are_slow_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the first count of a limit time out; later ones reach Valkey."""
    script, replies = limits._script, iter([redis.TimeoutError("slow")])

    def slow_script(source: str) -> Callable[..., object]:
        for error in replies:
            raise error
        return script(source)

    monkeypatch.setattr(limits, "_script", slow_script)


@pytest.fixture(autouse=True)
def _moderation_is_looked_up_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget rules and the endpoint's outage of the previous test."""
    policy.current.invalidate()
    monkeypatch.setattr(endpoint, "_away_until", 0.0)


@pytest.fixture
def _tasks() -> Iterator[list[Executor]]:
    """Threads of ended workers; their tasks end when the engine has released its turns."""
    running: list[Executor] = []
    yield running
    for threads in running:
        threads.shutdown(cancel_futures=True)


class LateRenderer(Renderer):
    """Renderer that starts its child process with the first text: a start takes half a second, few tests need one."""

    def start(self) -> None:
        pass

    async def _exchange(self, text: str) -> Rendered:
        super().start()
        return await super()._exchange(text)


@pytest.fixture
def engine(_tasks: list[Executor], monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """A worker's event loop in this process."""
    monkeypatch.setattr(battles_engine, "Renderer", LateRenderer)
    engine = Engine()
    yield engine
    engine.close()
    engine._loop.run_until_complete(engine._loop.shutdown_default_executor())  # a thread may still be storing


@pytest.fixture
def worker(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """Engine that answers queued turns in threads, as in a Celery worker."""
    monkeypatch.setattr(battles_engine, "_engine", engine)
    return engine


@pytest.fixture
def site(worker: Engine, _tasks: list[Executor]) -> Iterator[str]:
    """URL of a running site with a worker that answers battles."""
    with serve() as address, answer_worker() as threads:
        _tasks.append(threads)
        yield address


@pytest.fixture
def reader(site: str) -> Reader:
    return Reader(site)


@pytest.fixture
def no_valkey(settings) -> Iterator[None]:
    """Valkey is unreachable."""
    cached = (limits._script, connection, pool)
    for function in cached:
        function.cache_clear()
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    yield
    for function in cached:
        function.cache_clear()


@pytest.fixture
def full_valkey() -> Iterator[None]:
    """Valkey answers but refuses writes."""
    connection().config_set("maxmemory", 1)
    yield
    connection().config_set("maxmemory", 0)


@pytest.fixture
def moderator() -> User:
    user = make.user("moderator@example.org", is_staff=True)
    user.groups.add(Group.objects.get(name=MODERATORS))
    return user


@pytest.fixture
def administrator() -> User:
    return make.user("admin@example.org", is_staff=True, is_superuser=True)


@pytest.fixture
def at_work(client: Client, moderator: User) -> Client:
    client.force_login(moderator)
    return client
