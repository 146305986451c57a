"""While the database is away for long, requests do not queue up behind each other to learn of it."""

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
    """With a pool, of which nobody waits for longer than two seconds, and no server behind it."""
    monkeypatch.setattr(base, "outage", base.Outage())
    monkeypatch.setattr(base, "PATIENCE_S", 0.0)
    settings = dict(connections["default"].settings_dict)
    settings["OPTIONS"] = {**settings["OPTIONS"], "pool": {"min_size": 0, "max_size": 2, "timeout": 2}}
    database = DatabaseWrapper(settings, alias="of outages")
    database.pool.kwargs = {**database.pool.kwargs, **NOWHERE}
    yield database
    database.close_pool()


def borrow(database: DatabaseWrapper) -> Any:
    return database.get_new_connection({})


def come_back(database: DatabaseWrapper) -> None:
    database.pool.kwargs = {**connections["default"].get_connection_params(), "autocommit": True}
    database.pool.timeout = 60


def test_in_a_long_outage_everybody_is_told_at_once(database: DatabaseWrapper):
    with pytest.raises(PoolTimeout):
        borrow(database)
    for _ in range(3):
        with pytest.raises(psycopg.OperationalError, match="is being looked for"):
            borrow(database)


def test_everybody_waits_as_long_as_it_may_be_a_restart(database: DatabaseWrapper, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(base, "PATIENCE_S", 60.0)
    for _ in range(2):
        with pytest.raises(PoolTimeout):
            borrow(database)


def test_it_ends_when_the_database_is_back_though_nobody_asks(database: DatabaseWrapper):
    with pytest.raises(PoolTimeout):
        borrow(database)
    come_back(database)
    wait_for(lambda: base.outage._since is None, within=30)
    with ThreadPoolExecutor(2) as people:
        lent = list(people.map(lambda _: borrow(database), range(2)))
    assert [connection.execute("SELECT 1").fetchone() for connection in lent] == [(1,), (1,)]
    for connection in lent:
        database.pool.putconn(connection)


def test_that_all_connections_are_lent_is_no_outage(database: DatabaseWrapper):
    come_back(database)
    lent = [borrow(database) for _ in range(2)]
    database.pool.timeout = 0.5
    with pytest.raises(PoolTimeout):
        borrow(database)
    assert base.outage._since is None
    for connection in lent:
        database.pool.putconn(connection)


def test_a_pool_that_is_closed_is_not_looked_after_any_more(database: DatabaseWrapper):
    with pytest.raises(PoolTimeout):
        borrow(database)
    database.close_pool()
    wait_for(lambda: "outage" not in {thread.name for thread in threading.enumerate()}, within=30)
