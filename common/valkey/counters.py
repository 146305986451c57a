"""What happens, counted over all processes: added up in each, and handed to Valkey every two seconds.

So counting costs a request nothing, nothing lives in a process, and one that is killed takes two seconds of counts with
it. Where Valkey was emptied they begin again from nothing, as monitoring expects of counters.
"""

import secrets
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Mapping

from common.valkey.connections import UNREACHABLE, connection

COUNTS_KEY, LEVELS_KEY = "counters", "levels"
EVERY_S, FADES_AFTER_S = 2, 30
# Upper bounds, in milliseconds.
BUCKETS_MS = (50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000)
_SEPARATOR = "\x1f"

Labels = tuple[str, ...]

_lock = threading.Lock()
_unsaid: Counter[str] = Counter()
_levels: Counter[str] = Counter()
_process = secrets.token_hex(6)


def add(name: str, *labels: str, by: int = 1) -> None:
    with _lock:
        _unsaid[_SEPARATOR.join((name, *labels))] += by


def observe(name: str, *labels: str, ms: float) -> None:
    """One more that took so long: `read` has the sum under `name.sum`, and each bucket under `name.<upper bound>`."""
    bound = next((str(bound) for bound in BUCKETS_MS if ms <= bound), "inf")
    add(f"{name}.{bound}", *labels)
    add(f"{name}.sum", *labels, by=round(ms))


def raise_level(name: str, by: int = 1) -> None:
    """How many there are now in this process; lowered with a negative number."""
    with _lock:
        _levels[name] += by


def start() -> None:
    """Hand over what is counted for as long as this process lives."""
    threading.Thread(target=_hand_over_for_ever, name="counters", daemon=True).start()


def hand_over() -> None:
    """Raises one of UNREACHABLE; what was counted is then handed over the next time."""
    with _lock:
        counted, levels = dict(_unsaid), dict(_levels)
        _unsaid.clear()
    now = time.time()
    try:
        with connection().pipeline() as pipeline:
            for field, number in counted.items():
                pipeline.hincrby(COUNTS_KEY, field, number)
            for name, level in levels.items():
                pipeline.hset(LEVELS_KEY, f"{name}{_SEPARATOR}{_process}", f"{level} {now:.0f}")
            pipeline.execute()
    except UNREACHABLE:
        with _lock:
            _unsaid.update(counted)
        raise


def read() -> dict[str, dict[Labels, int]]:
    """By name, then by labels. Raises one of UNREACHABLE."""
    found: dict[str, dict[Labels, int]] = defaultdict(dict)
    fields: Mapping[str, str] = connection().hgetall(COUNTS_KEY)  # type: ignore[assignment]
    for field, number in fields.items():
        name, *labels = field.split(_SEPARATOR)
        found[name][tuple(labels)] = int(number)
    return found


def levels() -> Counter[str]:
    """Over all processes that were heard lately. Raises one of UNREACHABLE."""
    found: Counter[str] = Counter()
    fields: Mapping[str, str] = connection().hgetall(LEVELS_KEY)  # type: ignore[assignment]
    for field, said in fields.items():
        level, at = said.split()
        if float(at) > time.time() - FADES_AFTER_S:
            found[field.split(_SEPARATOR)[0]] += int(level)
        else:
            connection().hdel(LEVELS_KEY, field)
    return found


def _hand_over_for_ever() -> None:
    while True:
        time.sleep(EVERY_S)
        try:
            hand_over()
        except UNREACHABLE:
            continue
