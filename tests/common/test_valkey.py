"""Circuit breaker of Valkey: one slow reply is a stall, two timeouts in a row are an outage."""

import pytest
import redis

from common.errors import ServiceAway
from common.valkey import connections, limits
from common.valkey.connections import connection, fail_fast

pytestmark = pytest.mark.django_db


def fail_once(error: Exception | None = None) -> None:
    with pytest.raises(redis.RedisError), fail_fast():
        raise error or redis.TimeoutError("slow")


def is_tried() -> bool:
    try:
        with fail_fast():
            return True
    except redis.ConnectionError:
        return False


def test_one_miss_leaves_breaker_closed():
    fail_once()
    assert is_tried()


def test_misses_with_an_answer_between_leave_breaker_closed():
    for _ in range(3):
        fail_once()
        with fail_fast():
            connection().ping()
    assert is_tried()


def test_second_miss_in_a_row_opens_breaker(no_valkey):
    fail_once(redis.ConnectionError("away"))
    assert not is_tried()  # after a failed ping
    assert connections.is_open()


def test_open_breaker_fails_without_connecting(no_valkey, monkeypatch: pytest.MonkeyPatch):
    fail_once()
    assert not is_tried()
    monkeypatch.setattr(connections, "connection", lambda: pytest.fail("Valkey was asked"))
    assert not is_tried()


def test_breaker_closes_when_its_time_is_over(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(connections, "_away_until", 1.0)  # long ago
    assert is_tried()


def test_refusal_opens_breaker_at_once():
    fail_once(redis.ResponseError("OOM"))
    assert not is_tried()


def test_page_is_not_paused_by_one_slow_reply(monkeypatch: pytest.MonkeyPatch):
    answers = iter([redis.TimeoutError("slow")])

    class Slow(redis.Redis):
        def ping(self, **options: object) -> object:
            for error in answers:
                raise error
            return super().ping(**options)

    monkeypatch.setattr(connections, "connection", lambda: Slow(connection_pool=connections.pool()))
    assert not connections.is_away()


@pytest.mark.usefixtures("limits_are_known", "limits_are_slow_once")
def test_one_slow_reply_refuses_no_closed_limit():
    limits.count("battle", {"visitor": limits.Key("user:1")}, fail_open=False)
    assert connection().keys("*user:1*")


@pytest.mark.usefixtures("limits_are_known", "no_valkey")
def test_closed_limit_without_valkey_is_refused():
    with pytest.raises(ServiceAway):
        limits.count("battle", {"visitor": limits.Key("user:1")}, fail_open=False)
    assert connections.is_open()
