"""Fixtures of all tests."""

import gc
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from datetime import timedelta
from functools import cache as cache_results

import httpcore2
import pgtrigger
import pytest
import redis
from django.contrib.auth.models import Group
from django.db import connections
from django.db.backends.postgresql.operations import DatabaseOperations
from django.test import Client, TransactionTestCase
from django.utils import timezone, translation
from pytest_django import DjangoDbBlocker

from accounts.limiting import chosen, groups
from accounts.models import User
from arena_site.moderators import MODERATORS
from battles import feedback, suggestions
from battles.labels import custom_categories
from battles.moderation import endpoint
from battles.worker import runner as battles_engine
from battles.worker import turn_store
from battles.worker.runner import Engine
from common import cache
from common.db.triggers import allow_truncate_sql
from common.valkey import connections as valkey
from common.valkey.connections import connection
from common.valkey.limits import counting
from leaderboard.boards import live_figures
from metrics import views as metrics_views
from models_registry import drawable_cache, profiles
from models_registry.admin import base as registry_admin
from models_registry.models import budgets
from models_registry.providers import refusals
from routing.deciding import router_cache
from site_content import current
from tests import database_reset, make, migrated
from tests.fake_provider import FakeProvider
from tests.kept_renderer import RendererOfTests, stop_kept_children
from tests.services import has_own_database
from tests.site import Reader, answer_worker, serve
from tests.valkey import valkey_at


def pytest_configure() -> None:
    gc.disable()  # of 8 s of collecting tests, 1.7 were spent on collecting garbage


def pytest_collection_finish() -> None:
    """Leave modules and tests out of later garbage collections, which took a tenth of the CPU time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    gc.enable()


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
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    with django_db_blocker.unblock():
        database_reset.remember()
    yield
    database_reset.close()


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
def _nothing_is_left_of_the_previous_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """One fixture: a dozen would take each test a millisecond, and its collection another."""
    translation.deactivate()  # the thread keeps the language of the last request
    _empty_valkey(monkeypatch)
    _look_up_anew(monkeypatch)
    _fill_caches()


def _empty_valkey(monkeypatch: pytest.MonkeyPatch) -> None:
    """Delete limits, streams, queues and cached values, and close Valkey's circuit breaker."""
    monkeypatch.setattr(valkey, "_away_until", 0.0)
    monkeypatch.setattr(valkey, "_has_missed", False)
    connection().flushdb()


def _look_up_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget what the previous test cached or learnt, such as the outage of moderation's endpoint."""
    cache.reset_all()
    for cached in cache.registered:
        # On a busy machine, seconds pass within a test. Threads would not see its rows.
        monkeypatch.setattr(cached, "ttl_s", 3600)
    # Not cached within a test either: many change models without the ORM's signals.
    for cached in (drawable_cache.cached_roster, live_figures.cached_figures, custom_categories.rules):
        monkeypatch.setattr(cached, "ttl_s", 0.0)
    monkeypatch.setattr(drawable_cache, "TTL_S", 0.0)  # of rosters of teams
    monkeypatch.setattr(metrics_views, "CHARTS_KEPT_S", 0.0)
    metrics_views.kept_charts.cache_clear()
    monkeypatch.setattr(endpoint, "_away_until", 0.0)
    router_cache.forget()


def _fill_caches() -> None:
    """Cache an arena without profiles of models and without an operator's content, so that no test counts a query."""
    profiles.cached_profiles.preset({})
    registry_admin.has_teams.preset(False)
    current.site.preset(current.Site())
    feedback.tags.preset(feedback.built_in())
    suggestions.shown.preset([])


@pytest.fixture
def nothing_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep drawable models cached while queries are counted."""
    monkeypatch.setattr(drawable_cache.cached_roster, "ttl_s", 3600)
    monkeypatch.setattr(drawable_cache, "TTL_S", 3600)


@pytest.fixture
def limits_are_known(nothing_is_forgotten: None, db: None) -> None:
    """Cache limits first, so that threads under test open no database connection."""
    chosen.in_force()
    groups.in_force()
    budgets.chosen()


@pytest.fixture
def limits_are_slow_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the first count of a limit time out; later ones reach Valkey."""
    script, replies = counting._script, iter([redis.TimeoutError("slow")])

    def slow_script(name: str) -> Callable[..., object]:
        for error in replies:
            raise error
        return script(name)

    monkeypatch.setattr(counting, "_script", slow_script)


@pytest.fixture(scope="session", autouse=True)
def _kept_children_end() -> Iterator[None]:
    yield
    stop_kept_children()


@pytest.fixture
def _tasks() -> Iterator[list[Executor]]:
    """Threads of ended workers; their tasks end when the engine has released its turns."""
    running: list[Executor] = []
    yield running
    for threads in running:
        threads.shutdown(cancel_futures=True)


@pytest.fixture
def engine(_tasks: list[Executor], monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """A worker's event loop in this process."""
    monkeypatch.setattr(battles_engine, "Renderer", RendererOfTests)
    engine = Engine()
    yield engine
    engine.close()
    engine._loop.run_until_complete(engine._loop.shutdown_default_executor())  # a thread may still be storing


@pytest.fixture
def worker(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """Engine of the Celery worker's tasks."""
    monkeypatch.setattr(battles_engine, "_engine", engine)
    return engine


@pytest.fixture
def site(worker: Engine, _tasks: list[Executor]) -> Iterator[str]:
    """URL of a running site with a worker that answers battles."""
    with serve() as address, answer_worker() as threads:
        worker.take_turns()
        _tasks.append(threads)
        yield address


@pytest.fixture
def reader(site: str) -> Reader:
    return Reader(site)


@pytest.fixture
def no_valkey() -> Iterator[None]:
    """Valkey is unreachable."""
    with valkey_at("redis://127.0.0.1:1/0"):
        yield


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
