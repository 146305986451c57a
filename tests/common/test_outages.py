"""While the database is away for long, requests do not queue up behind each other to learn of it."""

import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import psycopg
import pytest
from django.db import connections
from psycopg_pool import PoolTimeout

from common.postgresql import base
from common.postgresql.base import DatabaseWrapper

NOWHERE = {"host": "127.0.0.1", "port": 1}
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def database(monkeypatch: pytest.MonkeyPatch) -> Iterator[DatabaseWrapper]:
    """With a pool, of which nobody waits for longer than half a second, and no server behind it."""
    monkeypatch.setattr(base, "outage", base.Outage())
    monkeypatch.setattr(base, "PATIENCE_S", 0.0)
    settings = dict(connections["default"].settings_dict)
    settings["OPTIONS"] = {**settings["OPTIONS"], "pool": {"min_size": 0, "max_size": 2, "timeout": 0.5}}
    database = DatabaseWrapper(settings, alias="of outages")
    database.pool.kwargs = {**database.pool.kwargs, **NOWHERE}
    yield database
    database.close_pool()


def borrow(database: DatabaseWrapper) -> Any:
    return database.get_new_connection({})


def borrow_as_soon_as_it_is_back(database: DatabaseWrapper) -> Any:
    """The pool rests for a second between its tries."""
    for _ in range(20):
        with suppress(PoolTimeout):
            return borrow(database)
    raise AssertionError("it does not come back")


def test_who_comes_while_somebody_waits_in_a_long_outage_is_told_at_once(database: DatabaseWrapper):
    with pytest.raises(PoolTimeout):
        borrow(database)
    refused = threading.Event()

    def wait() -> None:
        with pytest.raises(PoolTimeout):
            borrow(database)
        refused.set()

    waiting = threading.Thread(target=wait)
    waiting.start()
    while not base.outage._somebody_waits.locked():
        pass
    with pytest.raises(psycopg.OperationalError, match="somebody waits"):
        borrow(database)
    waiting.join()
    assert refused.is_set()


def test_everybody_waits_as_long_as_it_may_be_a_restart(database: DatabaseWrapper, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(base, "PATIENCE_S", 60.0)
    for _ in range(2):
        with pytest.raises(PoolTimeout):
            borrow(database)
    assert not base.outage._somebody_waits.locked()


def test_it_is_over_with_the_next_connection(database: DatabaseWrapper):
    with pytest.raises(PoolTimeout):
        borrow(database)
    database.pool.kwargs = {**connections["default"].get_connection_params(), "autocommit": True}
    lent = [borrow_as_soon_as_it_is_back(database) for _ in range(2)]
    assert [connection.execute("SELECT 1").fetchone() for connection in lent] == [(1,), (1,)]
    with pytest.raises(PoolTimeout):  # all are lent: that is no outage
        borrow(database)
    assert base.outage._since is None
    for connection in lent:
        database.pool.putconn(connection)
