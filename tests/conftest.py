"""What every test may ask for."""

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from datetime import timedelta
from pathlib import Path
from typing import Any

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

from accounts import bans, chosen_limits
from accounts.models import User
from arena_site.moderators import MODERATORS
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
from models_registry import drawable_cache
from tests import database_reset, make
from tests.fake_provider import FakeProvider
from tests.faults.running import RUN_DIR
from tests.scheduling import SharedArenaScheduling, start_order
from tests.site import Reader, answer_worker, serve


def pytest_configure(config: pytest.Config) -> None:
    """Make the directory that the processes of this run share; the first one removes it."""
    if not hasattr(config, "workerinput"):
        os.environ[RUN_DIR] = directory = tempfile.mkdtemp(prefix="arena-test-run-", dir="/tmp")
        Path(directory).chmod(0o711)  # PostgreSQL of a root user runs as nobody
        config.add_cleanup(lambda: shutil.rmtree(directory))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> SharedArenaScheduling | None:
    return SharedArenaScheduling(config, log) if config.getoption("dist") == "loadfile" else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run tests with whole arenas first, those that share one after another; otherwise keep the random order."""
    items.sort(key=start_order)


@pytest.fixture(scope="session", autouse=True)
def _valkey_is_waited_for() -> Iterator[None]:
    """However busy the machine is: an arena takes one that is silent for half a second for one that is away."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(valkey, "SOCKET_TIMEOUT_S", 20.0)
        yield


@pytest.fixture(scope="session", autouse=True)
def _leases_outlast_tests() -> Iterator[None]:
    """A busy machine renews late, and without a sweeper no worker would take over the turn."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(turn_store, "LEASE", timedelta(minutes=30))
        yield


@pytest.fixture(scope="session", autouse=True)
def _tests_may_empty_tables() -> Iterator[None]:
    """Allow TRUNCATE, and mostly do without it after tests with transactions of their own."""
    flush = DatabaseOperations.sql_flush

    def allowed(self: DatabaseOperations, *what: object, **how: object) -> list[str]:
        return [allow_truncate_sql(), *flush(self, *what, **how)]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(DatabaseOperations, "sql_flush", allowed)
        patched.setattr(TransactionTestCase, "_fixture_teardown", database_reset.reset)
        yield


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> None:
    with django_db_blocker.unblock():
        database_reset.remember()


@pytest.fixture(autouse=True)
def _a_test_is_of_one_day() -> None:
    """Much is told and counted by the day: what begins shortly before midnight begins after it."""
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
    """The transaction around a test is never committed."""
    if "db" in request.fixturenames:
        request.getfixturevalue("db")
    if connections["default"].in_atomic_block:
        pgtrigger.constraints(pgtrigger.Immediate, "battles.Vote:a_vote_is_numbered_at_commit")


@pytest.fixture(autouse=True)
def _empty_valkey(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits, streams and queues of one test are not the next one's, nor is a Valkey that was away."""
    monkeypatch.setattr(valkey, "_away_until", 0.0)
    monkeypatch.setattr(valkey, "_has_missed", False)
    connection().flushdb()
    cache.clear()


@pytest.fixture(autouse=True)
def _the_language_is_chosen_anew() -> None:
    """The one in which the test before read its last page stays with the thread."""
    translation.deactivate()


@pytest.fixture(autouse=True)
def _models_are_looked_up_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """One test's models are not the next one's, and many change them behind the ORM's signals."""
    monkeypatch.setattr(drawable_cache.cached_roster, "ttl_s", 0.0)
    drawable_cache.cached_roster.invalidate()


@pytest.fixture(autouse=True)
def _categories_are_looked_up_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """One test's categories are not the next one's."""
    monkeypatch.setattr(custom_categories.rules, "ttl_s", 0.0)
    custom_categories.rules.invalidate()


@pytest.fixture(autouse=True)
def _bans_and_limits_are_looked_up_anew() -> None:
    """One test's are not the next one's."""
    bans.in_force.invalidate()
    chosen_limits.in_force.invalidate()


@pytest.fixture
def nothing_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who is blocked, limits and rules are looked up once, however long it takes to count questions."""
    for looked_up in (bans.in_force, chosen_limits.in_force, policy.current):
        monkeypatch.setattr(looked_up, "ttl_s", 3600)


@pytest.fixture
def limits_are_known(nothing_is_forgotten: None, db: None) -> None:
    """So that of many threads that are counted none opens a connection to the database."""
    chosen_limits.in_force()


@pytest.fixture
def limits_are_slow_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first count of a limit times out, later ones reach the real Valkey."""
    script, replies = limits._script, iter([redis.TimeoutError("slow")])

    def slow_script(source: str) -> Callable[..., object]:
        for error in replies:
            raise error
        return script(source)

    monkeypatch.setattr(limits, "_script", slow_script)


@pytest.fixture(autouse=True)
def _moderation_is_looked_up_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """One test's rules are not the next one's, nor is an endpoint that was away."""
    policy.current.invalidate()
    monkeypatch.setattr(endpoint, "_away_until", 0.0)


@pytest.fixture
def _tasks() -> Iterator[list[Executor]]:
    """Of workers that have ended. What they still run ends once the engine has handed back its turns."""
    running: list[Executor] = []
    yield running
    for threads in running:
        threads.shutdown(cancel_futures=True)


class LateRenderer(Renderer):
    """Start the child process with the first text for it: few tests have one, and a start takes half a second."""

    def start(self) -> None:
        pass

    async def _exchange(self, text: str) -> Rendered:
        super().start()
        return await super()._exchange(text)


@pytest.fixture
def engine(_tasks: list[Executor], monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """A worker's event loop in this process."""
    monkeypatch.setattr(battles_engine, "Renderer", LateRenderer)
    made = Engine()
    yield made
    made.close()
    made._loop.run_until_complete(made._loop.shutdown_default_executor())  # some thread may be storing something


@pytest.fixture
def worker(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """Turns are answered as soon as they are woken, in a thread as a Celery worker would."""
    monkeypatch.setattr(battles_engine, "_engine", engine)
    return engine


@pytest.fixture
def site(worker: Engine, _tasks: list[Executor]) -> Iterator[str]:
    """The address of a running site whose worker answers battles."""
    with serve() as address, answer_worker() as threads:
        _tasks.append(threads)
        yield address


@pytest.fixture
def reader(site: str) -> Reader:
    return Reader(site)


@pytest.fixture
def no_valkey(settings) -> Iterator[None]:
    """Nobody can count."""
    cached = (limits._script, connection, pool)
    for made in cached:
        made.cache_clear()
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    yield
    for made in cached:
        made.cache_clear()


@pytest.fixture
def full_valkey() -> Iterator[None]:
    """It answers, and takes in nothing more."""
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
