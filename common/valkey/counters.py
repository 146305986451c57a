"""Counters and gauges of all processes, flushed to Valkey every two seconds.

A killed process loses at most two seconds of counts. Why not prometheus-client's multiprocess mode: docs/adr/0022.
"""

import resource
import secrets
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from itertools import count
from pathlib import Path

from common.valkey.connections import UNREACHABLE, connection

# When Valkey is emptied, counters restart from zero, which Prometheus handles.
COUNTS_KEY, GAUGES_KEY = "counters", "levels"
FLUSH_INTERVAL_S, GAUGE_TTL_S = 2, 30
# Upper bounds, in milliseconds.
BUCKETS_MS = (50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 180_000)
# Flushes between two measurements of a process.
FLUSHES_PER_MEASUREMENT = 5
_SEPARATOR = "\x1f"
# Beginning of the gauges with the memory of processes by kind.
MEMORY = "memory."

Labels = tuple[str, ...]

_lock = threading.Lock()
_pending: Counter[str] = Counter()
_gauges: Counter[str] = Counter()
# Gauges that are written once, not with each flush.
_measured: dict[str, int] = {}


def add(name: str, *labels: str, by: int = 1) -> None:
    with _lock:
        _pending[_SEPARATOR.join((name, *labels))] += by


def observe(name: str, *labels: str, ms: float) -> None:
    """Add a duration to a histogram: `read` has its sum under `name.sum` and each bucket under `name.<upper bound>`."""
    bound = next((str(bound) for bound in BUCKETS_MS if ms <= bound), "inf")
    add(f"{name}.{bound}", *labels)
    add(f"{name}.sum", *labels, by=round(ms))


def add_to_gauge(name: str, by: int = 1) -> None:
    """This process's part of the gauge expires after it ends."""
    with _lock:
        _gauges[name] += by


def set_gauge(name: str, value: int) -> None:
    """Write this process's part of the gauge with the next flush; it expires unless it is set again."""
    with _lock:
        _measured[name] = value


def start(kind: str) -> None:
    """Flush from a background thread, and count what this process uses. kind: of the process, such as `web`."""
    used_ms = 0
    rounds = count()

    def run() -> None:
        nonlocal used_ms
        if next(rounds) % FLUSHES_PER_MEASUREMENT == 0:
            used_ms = measure(kind, used_ms)
        flush()

    flush_regularly(run, every_s=FLUSH_INTERVAL_S, name="counters")


def measure(kind: str, used_ms: int) -> int:
    """Count the processor time beyond `used_ms`, set the memory; return the processor time in milliseconds.

    The time is a counter of all processes of the kind, so that it grows also when one of them ends.
    """
    now_ms = round(time.process_time() * 1000)
    if now_ms > used_ms:
        add("cpu_ms", kind, by=now_ms - used_ms)
    with suppress(OSError):
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        set_gauge(f"{MEMORY}{kind}", pages * resource.getpagesize())
    return now_ms


def flush_regularly(flush: Callable[[], None], *, every_s: float, name: str) -> None:
    """Call `flush` in a thread of this name for ever; it may raise one of UNREACHABLE."""

    def run() -> None:
        while True:
            time.sleep(every_s)
            with suppress(*UNREACHABLE):
                flush()

    threading.Thread(target=run, name=name, daemon=True).start()


@cache
def _process_id() -> str:
    """Made at the first flush, which is after a fork."""
    return secrets.token_hex(6)


def flush() -> None:
    """Add the pending counts to Valkey. Raises one of UNREACHABLE, keeping the counts."""
    with _lock:
        counts, gauges = dict(_pending), {**_gauges, **_measured}
        _pending.clear()
        _measured.clear()
    now = time.time()
    try:
        with connection().pipeline() as pipeline:
            for field, number in counts.items():
                pipeline.hincrby(COUNTS_KEY, field, number)
            for name, value in gauges.items():
                pipeline.hset(GAUGES_KEY, f"{name}{_SEPARATOR}{_process_id()}", f"{value} {now:.0f}")
            pipeline.execute()
    except UNREACHABLE:
        with _lock:
            _pending.update(counts)
        raise


def read() -> dict[str, dict[Labels, int]]:
    """Return counts by metric and labels. Raises one of UNREACHABLE."""
    counts: dict[str, dict[Labels, int]] = defaultdict(dict)
    fields: Mapping[str, str] = connection().hgetall(COUNTS_KEY)  # type: ignore[assignment]
    for field, number in fields.items():
        name, *labels = field.split(_SEPARATOR)
        counts[name][tuple(labels)] = int(number)
    return counts


def gauges() -> Counter[str]:
    """Return gauges summed over processes that flushed within GAUGE_TTL_S. Raises one of UNREACHABLE."""
    totals: Counter[str] = Counter()
    fields: Mapping[str, str] = connection().hgetall(GAUGES_KEY)  # type: ignore[assignment]
    for field, stored in fields.items():
        value, flushed_at = stored.split()
        if float(flushed_at) > time.time() - GAUGE_TTL_S:
            totals[field.split(_SEPARATOR)[0]] += int(value)
        else:
            connection().hdel(GAUGES_KEY, field)
    return totals
