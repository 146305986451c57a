import logging
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from django.utils.functional import Promise
from limits import RateLimitItem
from redis.commands.core import Script

from common.errors import ServiceAway, TooManyRequests
from common.valkey.connections import UNREACHABLE, connection, fail_fast, with_retry
from common.valkey.limits.counter import Counter, Key, Keys, Usage, counters
from common.valkey.limits.messages import NOT_COUNTED, reached_message

logger = logging.getLogger(__name__)


class LimitReached(TooManyRequests):
    """usages: of all counters, the full one first."""

    def __init__(self, full: Counter, usages: list[Usage], *, retry_after: float) -> None:
        super().__init__(reached_message(full), retry_after=retry_after)
        self.usages = sorted(usages, key=lambda usage: usage.counter is not full)


def count(
    action: str,
    keys: Keys,
    *,
    fail_open: bool,
    not_counted: str | Promise = NOT_COUNTED,
    extra_counters: Iterable[Counter] = (),
) -> list[Usage]:
    """Count `action` of a person and its networks, and `extra_counters`, or none if a limit is reached.

    Raises LimitReached with the seconds to wait. If Valkey is away: returns [] if `fail_open`, otherwise retries a slow
    call once (which may count twice) and raises ServiceAway with the message `not_counted`.
    """
    all_counters = [*counters(action, keys), *extra_counters]
    try:
        if fail_open:
            with fail_fast():
                full, wait, usages = _count(all_counters)
        else:
            full, wait, usages = with_retry(lambda: _count(all_counters))  # a stall of Valkey must not refuse anyone
    except UNREACHABLE as error:
        logger.warning("limits are not counted: Valkey is away (%s)", error)
        if not fail_open:
            raise ServiceAway(not_counted) from error
        return []
    if full is not None:
        raise LimitReached(full, usages, retry_after=wait)
    return usages


def read(counters: Sequence[Counter]) -> list[Usage]:
    """Return the counters' states without counting; [] while Valkey is away."""
    with suppress(*UNREACHABLE), fail_fast():
        return _usages(counters, _script("read")(keys=[counter.name for counter in counters])) if counters else []
    return []


def require_room(action: str, keys: Keys) -> None:
    """Count nothing. Raises LimitReached if a limit is reached, and ServiceAway if Valkey is away."""
    wanted = counters(action, keys)
    usages = read(wanted)
    if wanted and not usages:
        raise ServiceAway(NOT_COUNTED)
    for usage in usages:
        if not usage.remaining:
            raise LimitReached(usage.counter, usages, retry_after=max(1.0, usage.reset_s))


def uncount(action: str, keys: Keys, *, extra_counters: Iterable[Counter] = ()) -> None:
    """Take back one count; no effect while Valkey is away."""
    if names := [counter.name for counter in (*counters(action, keys), *extra_counters)]:
        with suppress(*UNREACHABLE), fail_fast():
            _script("uncount")(keys=names)


def reset(action: str, keys: Keys) -> None:
    """Set the counts to zero; no effect while Valkey is away."""
    if names := [counter.name for counter in counters(action, keys)]:
        with suppress(*UNREACHABLE), fail_fast():
            connection().delete(*names)


def seconds_over(item: RateLimitItem, action: str, key: str) -> float | None:
    """Return None within the limit, else the seconds to wait. Raises one of UNREACHABLE."""
    full, wait, _usages = _count([Counter("", item, action, Key(key))])
    return None if full is None else wait


def _count(counters: Sequence[Counter]) -> tuple[Counter | None, float, list[Usage]]:
    """Return None, or the refusing counter and the seconds to wait; then each counter's state."""
    if not counters:
        return None, 0, []
    arguments = [number for counter in counters for number in (counter.amount, counter.window_s)]
    full, wait, *states = _script("count")(keys=[counter.name for counter in counters], args=arguments)
    return counters[full - 1] if full else None, max(1.0, wait), _usages(counters, states)


def _usages(counters: Sequence[Counter], states: list[int]) -> list[Usage]:
    """Combine counters with their states: the count and the remaining seconds of each, below 0 before the first."""
    return [
        Usage(counter, used, remaining_s if remaining_s >= 0 else counter.window_s)
        for counter, used, remaining_s in zip(counters, states[::2], states[1::2], strict=True)
    ]


@cache
def _script(name: str) -> Script:
    return connection().register_script(Path(__file__).with_name(f"{name}.lua").read_text(encoding="utf-8"))
