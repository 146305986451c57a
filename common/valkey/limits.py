import logging
from collections.abc import Callable, Mapping
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


# KEYS: counters; ARGV: amount and window in seconds of each. Increments all counters, or none if one is full.
# Returns the index of the counter that is full for the longest time and its seconds, or an empty list.
_COUNT = """
local full, wait = 0, -1
for i, key in ipairs(KEYS) do
  if tonumber(redis.call("GET", key) or "0") >= tonumber(ARGV[2 * i - 1]) then
    local left = redis.call("TTL", key)
    if left > wait then full, wait = i, left end
  end
end
if full > 0 then return {full, wait} end
for i, key in ipairs(KEYS) do
  if redis.call("INCR", key) == 1 then redis.call("EXPIRE", key, ARGV[2 * i]) end
end
return {}
"""
# A counter whose window is over is not decremented: the next window must not start below zero.
_UNCOUNT = """
for _, key in ipairs(KEYS) do
  if tonumber(redis.call("GET", key) or "0") > 0 then redis.call("DECR", key) end
end
"""

# "network" is an IPv4 address or an IPv6 /64, "network48" the /48 around it.
NETWORKS = ("network", "network48")
# {kind of limit: identifier}, e.g. {"visitor": "visitor:7", "network": "network:…"}.
Keys = Mapping[str, str]
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


def count(action: str, keys: Keys, *, fail_open: bool, not_counted: str | Promise = NOT_COUNTED) -> None:
    """Count one `action` of a person and its networks, or of none of them if a limit is reached.

    Raises TooManyRequests with the seconds to wait. If Valkey is away: returns if `fail_open`, otherwise retries a slow
    call once (which may count twice) and raises ServiceAway with the message `not_counted`.
    """
    counters = _counters(action, keys)
    try:
        if fail_open:
            with fail_fast():
                refusal = _count(counters)
        else:
            refusal = with_retry(lambda: _count(counters))  # a stall of Valkey must not refuse anyone
    except UNREACHABLE as error:
        logger.warning("limits are not counted: Valkey is away (%s)", error)
        if not fail_open:
            raise ServiceAway(not_counted) from error
        return
    if refusal is not None:
        full, wait = refusal
        raise TooManyRequests(_reached_message(full.item, is_network=full.who in NETWORKS), retry_after=wait)


def uncount(action: str, keys: Keys) -> None:
    """Take back one count of `action`; no effect while Valkey is away."""
    if names := [counter.name for counter in _counters(action, keys)]:
        with suppress(*UNREACHABLE), fail_fast():
            _script(_UNCOUNT)(keys=names)


def reset(action: str, keys: Keys) -> None:
    """Set the counts to zero; no effect while Valkey is away."""
    if names := [counter.name for counter in _counters(action, keys)]:
        with suppress(*UNREACHABLE), fail_fast():
            connection().delete(*names)


def seconds_over(item: RateLimitItem, action: str, key: str) -> float | None:
    """Count one against `item`; return None within it, else the seconds to wait. Raises one of UNREACHABLE."""
    refusal = _count([_Counter("", item, action, key)])
    return None if refusal is None else refusal[1]


class _Counter(NamedTuple):
    """Counter in Valkey of one limit. who: the kind of limit."""

    who: str
    item: RateLimitItem
    action: str
    key: str

    @property
    def name(self) -> str:
        return f"LIMITS:{self.item.key_for(self.action, self.key)}"


def _counters(action: str, keys: Keys) -> list[_Counter]:
    return [_Counter(who, item, action, key) for who, key in keys.items() for item in limits_of(action, who)]


def _count(counters: list[_Counter]) -> tuple[_Counter, float] | None:
    """Return None if counted, else the counter that refuses and the seconds to wait."""
    if not counters:
        return None
    arguments = [number for counter in counters for number in (counter.item.amount, counter.item.get_expiry())]
    found = _script(_COUNT)(keys=[counter.name for counter in counters], args=arguments)
    return (counters[found[0] - 1], max(1.0, found[1])) if found else None


def _reached_message(item: RateLimitItem, *, is_network: bool) -> str:
    period = TIME_STRINGS.get(item.GRANULARITY.name, SECONDS) % {"num": item.multiples}
    if is_network:
        sentence = gettext("Your network has reached the limit of %(amount)d in %(period)s. Please wait.")
    else:
        sentence = gettext("You have reached the limit of %(amount)d in %(period)s. Please wait.")
    return sentence % {"amount": item.amount, "period": period}
