"""A worker's connection to an unreachable broker."""

import pytest
from kombu.exceptions import OperationalError

from arena_site.celery import app


def test_worker_tries_broker_again_every_two_seconds(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("kombu.utils.functional.sleep", lambda seconds: None)
    pauses: list[float] = []
    nowhere = app.connection_for_read("redis://127.0.0.1:1/0")
    with pytest.raises(OperationalError):
        nowhere.ensure_connection(lambda error, pause: pauses.append(pause), max_retries=8)
    assert pauses == [0.5, 1, 1.5, 2, 2, 2, 2, 2]


def test_worker_retries_broker_without_end():
    assert app.conf.broker_connection_max_retries is None
