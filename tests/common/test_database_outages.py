"""During a long outage requests fail at once instead of queueing."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from django.db import connections
from psycopg_pool import PoolTimeout

from common.db.postgresql import base
from common.db.postgresql.base import DatabaseWrapper
from tests.waiting import wait_for

NOWHERE = {"host": "127.0.0.1", "port": 1}
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def database(monkeypatch: pytest.MonkeyPatch) -> Iterator[DatabaseWrapper]:
    """Return a database whose pool times out after two seconds and has no server."""
    monkeypatch.setattr(base, "breaker", base.CircuitBreaker())
    monkeypatch.setattr(base, "GRACE_S", 0.0)
    settings = dict(connections["default"].settings_dict)
    settings["OPTIONS"] = {**settings["OPTIONS"], "pool": {"min_size": 0, "max_size": 2, "timeout": 2}}
    database = DatabaseWrapper(settings, alias="of outages")
    database.pool.kwargs = {**database.pool.kwargs, **NOWHERE}
    yield database
    database.close_pool()


def connect(database: DatabaseWrapper) -> Any:
    return database.get_new_connection({})


def restore_server(database: DatabaseWrapper) -> None:
    database.pool.kwargs = {**connections["default"].get_connection_params(), "autocommit": True}
    database.pool.timeout = 60


@pytest.mark.slow
def test_long_outage_fails_requests_at_once(database: DatabaseWrapper):
    with pytest.raises(PoolTimeout):
        connect(database)
    for _ in range(3):
        with pytest.raises(psycopg.OperationalError, match="the database is away"):
            connect(database)


@pytest.mark.slow
def test_requests_wait_during_the_grace_period(database: DatabaseWrapper, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(base, "GRACE_S", 60.0)
    for _ in range(2):
        with pytest.raises(PoolTimeout):
            connect(database)


@pytest.mark.slow
def test_breaker_closes_without_a_request(database: DatabaseWrapper):
    with pytest.raises(PoolTimeout):
        connect(database)
    restore_server(database)
    wait_for(lambda: base.breaker._opened_at is None, within=30)
    with ThreadPoolExecutor(2) as threads:
        lent = list(threads.map(lambda _: connect(database), range(2)))
    assert [connection.execute("SELECT 1").fetchone() for connection in lent] == [(1,), (1,)]
    for connection in lent:
        database.pool.putconn(connection)


def test_open_breaker_fails_requests_at_once(database: DatabaseWrapper):
    base.breaker._opened_at = 0.0
    with pytest.raises(psycopg.OperationalError, match="the database is away"):
        connect(database)


def test_exhausted_pool_does_not_open_the_breaker(database: DatabaseWrapper):
    restore_server(database)
    lent = [connect(database) for _ in range(2)]
    database.pool.timeout = 0.5
    with pytest.raises(PoolTimeout):
        connect(database)
    assert base.breaker._opened_at is None
    for connection in lent:
        database.pool.putconn(connection)


@pytest.mark.slow
def test_closed_pool_ends_the_probe(database: DatabaseWrapper):
    with pytest.raises(PoolTimeout):
        connect(database)
    database.close_pool()
    wait_for(lambda: "database-probe" not in {thread.name for thread in threading.enumerate()}, within=30)
