"""Counts of oddities by model and hour, written to Valkey off the path of calls; they expire after KEPT.

A killed process loses at most FLUSH_INTERVAL_S of them.
"""

import threading
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from common.valkey import counters
from common.valkey.connections import UNREACHABLE, connection
from models_registry.providers.oddities import Oddity

FLUSH_INTERVAL_S = 5.0
KEPT = timedelta(days=7)
# Late counts are shown once every call of their hour is this old.
LATE_BY = timedelta(hours=1)
_HOUR = timedelta(hours=1)
_KINDS = frozenset(Oddity)
_lock = threading.Lock()
_pending: Counter[tuple[datetime, str]] = Counter()


@dataclass(frozen=True)
class SeenOddity:
    """last_seen: the beginning of its hour, UTC."""

    model_id: int
    kind: Oddity
    number: int
    last_seen: datetime


def record(model_id: int, kinds: Iterable[Oddity], *, is_late: bool) -> None:
    """Count one call's oddities. is_late: shown an hour later, so that they cannot reveal who answers now."""
    hour = _hour_of(datetime.now(UTC))
    with _lock:
        for kind in kinds:
            _pending[hour, f"{model_id}:{kind}:{int(is_late)}"] += 1


def start() -> None:
    counters.flush_regularly(flush, every_s=FLUSH_INTERVAL_S, name="oddities")


def flush() -> None:
    """Add the pending counts to Valkey. Raises one of UNREACHABLE, keeping the counts."""
    with _lock:
        counts = dict(_pending)
        _pending.clear()
    if not counts:
        return
    try:
        with connection().pipeline() as pipeline:
            for (hour, seen), number in counts.items():
                pipeline.hincrby(_key(hour), seen, number)
                pipeline.expire(_key(hour), KEPT)
            pipeline.execute()
    except UNREACHABLE:
        with _lock:
            _pending.update(counts)
        raise


def read(*, now: datetime | None = None) -> list[SeenOddity]:
    """Return what may be shown now, by model and kind. Raises one of UNREACHABLE."""
    now = now or datetime.now(UTC)
    hours = [_hour_of(now) - _HOUR * ago for ago in range(int(KEPT / _HOUR))]
    with connection().pipeline(transaction=False) as pipeline:
        for hour in hours:
            pipeline.hgetall(_key(hour))
        by_hour: list[dict[str, str]] = pipeline.execute()
    numbers: Counter[tuple[int, str]] = Counter()
    last_seen: dict[tuple[int, str], datetime] = {}
    for hour, counts in zip(hours, by_hour, strict=True):  # from the newest
        for seen, number in counts.items():
            model_id, kind, is_late = seen.split(":")
            if kind not in _KINDS or (is_late == "1" and now < hour + _HOUR + LATE_BY):
                continue
            key = int(model_id), kind
            numbers[key] += int(number)
            last_seen.setdefault(key, hour)
    return [SeenOddity(model, Oddity(kind), numbers[model, kind], last_seen[model, kind]) for model, kind in numbers]


def _hour_of(moment: datetime) -> datetime:
    return moment.replace(minute=0, second=0, microsecond=0)


def _key(hour: datetime) -> str:
    return f"oddities:{hour:%Y%m%d%H}"
