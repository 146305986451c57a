import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from django.conf import settings

from models_registry.providers import refusals
from models_registry.providers.refusals import (
    MAX_RETRY_AFTER_S,
    error_for_status,
    may_help,
    parse_retry_after,
    retry_delay_s,
)


@pytest.fixture(autouse=True)
def _real_backoff(monkeypatch: pytest.MonkeyPatch) -> None:
    """Undo the short pauses of all other tests."""
    monkeypatch.setattr(refusals, "_MIN_BACKOFF_S", 0.2)
    monkeypatch.setattr(refusals, "_MAX_BACKOFF_S", 1.0)


@pytest.mark.parametrize(("retry_after", "shortest"), [(None, 0.2), (0.0, 0.2), (3.0, 3.2), (MAX_RETRY_AFTER_S, 5.2)])
@pytest.mark.parametrize("status", [408, 429, 500, 503])
def test_retry_waits_for_retry_after_and_a_random_pause(status: int, retry_after: float | None, shortest: float):
    delays = [retry_delay_s(status, retry_after) for _ in range(50)]
    assert all(delay is not None and shortest <= delay <= shortest + 0.8 for delay in delays)
    assert len(set(delays)) > 1


@pytest.mark.parametrize(("status", "retry_after"), [(400, None), (401, None), (404, 1.0), (429, 7.0), (503, 3600.0)])
def test_permanent_errors_and_long_waits_are_not_retried(status: int, retry_after: float | None):
    assert retry_delay_s(status, retry_after) is None


@pytest.mark.parametrize(
    ("value", "seconds"), [("2", 2), ("0.5", 0.5), ("-3", 0), ("soon", None), ("", None), ("1 Jan 99999 0:0:0", None)]
)
def test_retry_after_is_read(value: str, seconds: float | None):
    assert parse_retry_after({"retry-after": value}) == seconds


def test_retry_after_may_be_a_date():
    later = datetime.now(UTC) + timedelta(hours=1)
    assert parse_retry_after({"retry-after": format_datetime(later)}) == pytest.approx(3600, abs=60)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("20s", 20), ("1m30s", 90), ("1m 30s", 90), ("7.66s", 7.66), ("250ms", 0.25), ("2 minutes", 120),
        ("1h2m3s", 3723), ("36.5s", 36.5), ("2d", 172_800), ("9999999999999", 31 * 86_400), ("inf", None),
        ("nan", None),
        ("3 apples", None),
    ],
)  # fmt: skip
def test_pause_may_have_units(value: str, seconds: float | None):
    assert parse_retry_after({"retry-after": value}) == (None if seconds is None else pytest.approx(seconds))


@pytest.mark.parametrize(
    ("headers", "body", "seconds"),
    [
        ({"retry-after-ms": "1500"}, "", 1.5),
        ({"retry-after-ms": "1500", "retry-after": "7"}, "", 1.5),
        ({"x-ratelimit-reset-requests": "6m0s"}, "", 360),
        (
            {"x-ratelimit-reset-tokens": "7.66s", "x-ratelimit-remaining-tokens": "0",
             "x-ratelimit-reset-requests": "2m"},
            "", 7.66,
        ),
        ({"ratelimit-reset": "30"}, "", 30),
        ({}, {"error": {"retry_after": 12}}, 12),
        ({}, {"retry_after_ms": 800}, 0.8),
        ({}, [{"error": {"details": [{"@type": "RetryInfo", "retryDelay": "36s"}]}}], 36),
        ({}, {"retryDelay": {"seconds": 9}}, 9),
        ({}, {"error": {"message": "Rate limit reached. Please try again in 1m2.5s. Visit our page."}}, 62.5),
        ({}, {"error": {"message": "Please retry in 300ms."}}, 0.3),
        ({"retry-after": "soon"}, {"error": "busy"}, None),
    ],
)  # fmt: skip
def test_pause_is_found_wherever_it_stands(headers: dict[str, str], body: object, seconds: float | None):
    for written in (body, json.dumps(body)):
        pause = error_for_status(429, written, headers=headers).retry_after
        assert pause == (None if seconds is None else pytest.approx(seconds))


def test_reset_may_be_a_time():
    at = datetime.now(UTC) + timedelta(seconds=90)
    for value in (
        f"{at.timestamp():.0f}",
        f"{at.timestamp() * 1000:.0f}",
        at.isoformat(),
        at.strftime("%Y-%m-%dT%H:%M:%SZ"),
    ):
        assert parse_retry_after({"anthropic-ratelimit-tokens-reset": value}) == pytest.approx(90, abs=5)


@pytest.mark.parametrize(("body", "helps"), [("", True), ({"error": {"code": "insufficient_quota"}}, False)])
def test_account_without_money_is_not_asked_again(body: object, helps: bool):
    assert may_help(error_for_status(429, body)) is helps


def test_default_deadlines_in_seconds():
    assert settings.ARENA_DEADLINES == {"connect": 5, "first": 30, "idle": 30, "total": 180}
