import threading

import pytest
import redis

from common.valkey import counters
from common.valkey.connections import UNREACHABLE, connection


@pytest.fixture(autouse=True)
def _nothing_counted_yet() -> None:
    counters._pending.clear()
    counters._gauges.clear()


def test_counts_add_up_over_threads_and_flushes():
    def count() -> None:
        for _ in range(100):
            counters.add("calls", "ada", "done")

    for _ in range(2):
        threads = [threading.Thread(target=count) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        counters.flush()
    counters.flush()
    assert counters.read() == {"calls": {("ada", "done"): 800}}


def test_duration_counts_in_bucket_and_sum():
    for ms in (3.4, 50, 50.1, 181_000):
        counters.observe("wait", "ada", ms=ms)
    counters.flush()
    assert counters.read() == {
        "wait.50": {("ada",): 2}, "wait.100": {("ada",): 1}, "wait.inf": {("ada",): 1}, "wait.sum": {("ada",): 181_103},
    }  # fmt: skip


def test_counts_during_outage_are_flushed_later(monkeypatch: pytest.MonkeyPatch):
    def away() -> None:
        raise redis.ConnectionError

    counters.add("requests", "pages", "2xx")
    with monkeypatch.context() as patched:
        patched.setattr(counters, "connection", away)
        with pytest.raises(redis.ConnectionError):
            counters.flush()
    counters.add("requests", "pages", "2xx")
    counters.flush()
    assert counters.read() == {"requests": {("pages", "2xx"): 2}}


def test_gauges_of_processes_add_up_until_they_expire(monkeypatch: pytest.MonkeyPatch):
    counters.add_to_gauge("streams", 3)
    counters.flush()
    connection().hset(counters.GAUGES_KEY, "streams\x1fanother", f"4 {2**40}")
    connection().hset(counters.GAUGES_KEY, "streams\x1fa dead one", "9 1000")
    assert counters.gauges()["streams"] == 7
    counters.add_to_gauge("streams", -3)
    counters.flush()
    assert counters.gauges()["streams"] == 4


@pytest.mark.usefixtures("full_valkey")
def test_full_valkey_loses_no_count():
    counters.add("requests", "pages", "2xx")
    with pytest.raises(UNREACHABLE):
        counters.flush()
    connection().config_set("maxmemory", 0)
    counters.flush()
    assert counters.read() == {"requests": {("pages", "2xx"): 1}}
