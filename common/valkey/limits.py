import logging
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cache
from typing import NamedTuple

from django.conf import settings
from django.utils.functional import Promise
from django.utils.timesince import TIME_STRINGS
from django.utils.translation import gettext, ngettext_lazy
from django.utils.translation import gettext_lazy as _
from limits import RateLimitItem, parse_many
from redis.commands.core import Script

from common.errors import ServiceAway, TooManyRequests
from common.valkey.connections import UNREACHABLE, connection, fail_fast, with_retry

logger = logging.getLogger(__name__)

# Periods that Django's TIME_STRINGS lack.
SECONDS = ngettext_lazy("%(num)d second", "%(num)d seconds", "num")
NOT_COUNTED = _("New battles are temporarily unavailable. Voting still works.")


# KEYS: counters. Returns the count and the remaining seconds (-2 before the first count) of each.
_READ = """
local found = {}
for i, key in ipairs(KEYS) do
  found[2 * i - 1], found[2 * i] = tonumber(redis.call("GET", key) or "0"), redis.call("TTL", key)
end
return found
"""
# KEYS: counters; ARGV: amount and window in seconds of each. Increments all counters, or none if one is full. Returns
# the index of the counter that is full for the longest time, or 0, and its seconds; then the same as _READ.
_COUNT = """
local full, wait = 0, -1
for i, key in ipairs(KEYS) do
  if tonumber(redis.call("GET", key) or "0") >= tonumber(ARGV[2 * i - 1]) then
    local left = redis.call("TTL", key)
    if left > wait then full, wait = i, left end
  end
end
for i, key in ipairs(full > 0 and {} or KEYS) do
  if redis.call("INCR", key) == 1 then redis.call("EXPIRE", key, ARGV[2 * i]) end
end
local found = {full, wait}
for i, key in ipairs(KEYS) do
  found[2 * i + 1], found[2 * i + 2] = tonumber(redis.call("GET", key) or "0"), redis.call("TTL", key)
end
return found
"""
# A counter whose window is over is not decremented: the next window must not start below zero.
_UNCOUNT = """
for _, key in ipairs(KEYS) do
  if tonumber(redis.call("GET", key) or "0") > 0 then redis.call("DECR", key) end
end
"""

# "network" is an IPv4 address or an IPv6 /64, "network48" the /48 around it.
NETWORKS = ("network", "network48")
# Prompts of all people to one model.
MODEL = "model"
# Counted for several people together: the rest of these limits tells how much others have used.
SHARED = (*NETWORKS, MODEL)


class Key(NamedTuple):
    """Identifier that is counted, such as "visitor:7". times: factor of its rate."""

    id: str
    times: int = 1


# By kind of limit, e.g. {"visitor": Key("visitor:7"), "network": Key("visitors:…")}.
Keys = Mapping[str, Key]
# By (action, who), e.g. {("battle", "visitor"): "30/hour,150/day"}.
Rates = Mapping[tuple[str, str], str]
_read_overrides: Callable[[], Rates] = dict


@cache
def _script(source: str) -> Script:
    return connection().register_script(source)


def use_overrides(read: Callable[[], Rates]) -> None:
    """Let rates returned by `read` replace those of the settings."""
    global _read_overrides
    _read_overrides = read


def limits_of(action: str, who: str) -> list[RateLimitItem]:
    return parse_rate(_read_overrides().get((action, who)) or settings.ARENA_LIMITS[action, who])


def parse_rate(rate: str) -> list[RateLimitItem]:
    """Parse a rate such as “30/hour,150/day”; “off” has no limits. Raises ValueError."""
    return [] if rate == "off" else parse_many(rate.replace(",", ";"))


class Counter(NamedTuple):
    """who: the kind of limit. subject: a name for its refusal."""

    who: str
    item: RateLimitItem
    action: str
    key: Key
    subject: str = ""

    @property
    def name(self) -> str:
        return f"LIMITS:{self.item.key_for(self.action, self.key.id)}"

    @property
    def amount(self) -> int:
        return self.item.amount * self.key.times

    @property
    def window_s(self) -> int:
        return self.item.get_expiry()

    @property
    def period(self) -> str:
        """Return “hour”, or “15minute”."""
        return f"{self.item.multiples if self.item.multiples > 1 else ''}{self.item.GRANULARITY.name}"


class Usage(NamedTuple):
    """State of a counter. reset_s: seconds until it starts anew."""

    counter: Counter
    used: int
    reset_s: int

    @property
    def remaining(self) -> int:
        return max(0, self.counter.amount - self.used)


class LimitReached(TooManyRequests):
    """usages: of the counters that were asked, the full one first."""

    def __init__(self, full: Counter, usages: list[Usage], *, retry_after: float) -> None:
        super().__init__(_reached_message(full), retry_after=retry_after)
        self.usages = sorted(usages, key=lambda usage: usage.counter is not full)


def count(
    action: str,
    keys: Keys,
    *,
    fail_open: bool,
    not_counted: str | Promise = NOT_COUNTED,
    beside: Iterable[Counter] = (),
) -> list[Usage]:
    """Count `action` of a person and its networks, and `beside`, or none if a limit is reached.

    Raises LimitReached with the seconds to wait. If Valkey is away: returns [] if `fail_open`, otherwise retries a slow
    call once (which may count twice) and raises ServiceAway with the message `not_counted`.
    """
    asked = [*counters(action, keys), *beside]
    try:
        if fail_open:
            with fail_fast():
                full, wait, usages = _count(asked)
        else:
            full, wait, usages = with_retry(lambda: _count(asked))  # a stall of Valkey must not refuse anyone
    except UNREACHABLE as error:
        logger.warning("limits are not counted: Valkey is away (%s)", error)
        if not fail_open:
            raise ServiceAway(not_counted) from error
        return []
    if full is not None:
        raise LimitReached(full, usages, retry_after=wait)
    return usages


def read(asked: list[Counter]) -> list[Usage]:
    """Return the counters' states without counting; [] while Valkey is away."""
    with suppress(*UNREACHABLE), fail_fast():
        return _usages(asked, _script(_READ)(keys=[counter.name for counter in asked])) if asked else []
    return []


def uncount(action: str, keys: Keys, *, beside: Iterable[Counter] = ()) -> None:
    """Take back one count; no effect while Valkey is away."""
    if names := [counter.name for counter in (*counters(action, keys), *beside)]:
        with suppress(*UNREACHABLE), fail_fast():
            _script(_UNCOUNT)(keys=names)


def reset(action: str, keys: Keys) -> None:
    """Set the counts to zero; no effect while Valkey is away."""
    if names := [counter.name for counter in counters(action, keys)]:
        with suppress(*UNREACHABLE), fail_fast():
            connection().delete(*names)


def seconds_over(item: RateLimitItem, action: str, key: str) -> float | None:
    """Return None within the limit, else the seconds to wait. Raises one of UNREACHABLE."""
    full, wait, _usages = _count([Counter("", item, action, Key(key))])
    return None if full is None else wait


def counters(action: str, keys: Keys) -> list[Counter]:
    return [Counter(who, item, action, key) for who, key in keys.items() for item in limits_of(action, who)]


def _count(asked: list[Counter]) -> tuple[Counter | None, float, list[Usage]]:
    """Return None, or the refusing counter and the seconds to wait; then each counter's state."""
    if not asked:
        return None, 0, []
    arguments = [number for counter in asked for number in (counter.amount, counter.window_s)]
    full, wait, *found = _script(_COUNT)(keys=[counter.name for counter in asked], args=arguments)
    return asked[full - 1] if full else None, max(1.0, wait), _usages(asked, found)


def _usages(asked: list[Counter], found: list[int]) -> list[Usage]:
    return [
        Usage(counter, used, left if left >= 0 else counter.window_s)
        for counter, used, left in zip(asked, found[::2], found[1::2], strict=True)
    ]


def _reached_message(counter: Counter) -> str:
    if counter.who in NETWORKS:
        sentence = gettext("Your network has reached the limit of %(amount)d in %(period)s. Please wait.")
    elif counter.who == MODEL:
        sentence = gettext(
            "%(subject)s has reached its limit of %(amount)d prompts in %(period)s. Choose another model, or wait."
        )
    else:
        sentence = gettext("You have reached the limit of %(amount)d in %(period)s. Please wait.")
    return sentence % {"amount": counter.amount, "period": period_words(counter.item), "subject": counter.subject}


def period_words(item: RateLimitItem) -> str:
    """Return “1 hour”, “15 minutes”."""
    return TIME_STRINGS.get(item.GRANULARITY.name, SECONDS) % {"num": item.multiples}
