from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from django.conf import settings

from models_registry.providers import refusals
from models_registry.providers.refusals import MAX_RETRY_AFTER_S, parse_retry_after, retry_delay_s


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


def test_default_deadlines_in_seconds():
    assert settings.ARENA_DEADLINES == {"connect": 5, "first": 30, "idle": 30, "total": 180}
