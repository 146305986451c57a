"""Rate limits of persons and networks, counted exactly on Valkey."""

import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache

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

# Beside those that Django has words for.
SECONDS = ngettext_lazy("%(num)d second", "%(num)d seconds", "num")
NOT_COUNTED = _("New battles are temporarily unavailable. Voting still works.")


# For each counter (KEYS) its amount and its window in seconds (ARGV): either all of them are incremented, or, where one
# is full, none. Returns the number of the full counter that is full for longest and its seconds, otherwise nothing.
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
# A counter whose window is over stays away: it must not begin the next one below zero.
_UNCOUNT = """
for _, key in ipairs(KEYS) do
  if tonumber(redis.call("GET", key) or "0") > 0 then redis.call("DECR", key) end
end
"""

# "network" is an IPv4 address or an IPv6 /64, "network48" the /48 around it.
NETWORKS = ("network", "network48")
# Which limit each key is counted against, e.g. {"visitor": "visitor:7", "network": "network:…"}.
Keys = Mapping[str, str]
# By (action, who), e.g. {("battle", "visitor"): "30/hour,150/day"}.
Rates = Mapping[tuple[str, str], str]
_read_overrides: Callable[[], Rates] = dict


@cache
def _script(source: str) -> Script:
    return connection().register_script(source)


def use_overrides(read: Callable[[], Rates]) -> None:
    """Let the rates that `read` returns replace those of the settings."""
    global _read_overrides
    _read_overrides = read


def limits_of(action: str, who: str) -> list[RateLimitItem]:
    """Return the limits in force, e.g. of ("battle", "visitor")."""
    return parsed(_read_overrides().get((action, who)) or settings.ARENA_LIMITS[action, who])


def parsed(rate: str) -> list[RateLimitItem]:
    """rate: as “30/hour,150/day”; of “off” there is none. Raises ValueError."""
    return [] if rate == "off" else parse_many(rate.replace(",", ";"))


def count(action: str, keys: Keys, *, fail_open: bool, not_counted: str | Promise = NOT_COUNTED) -> None:
    """Count one `action` of a person and its networks; where one of their limits is reached, count it for none.

    Raises TooManyRequests with the seconds to wait. When Valkey is away: passes if `fail_open`,
    otherwise raises ServiceAway with the message `not_counted`. Where the limit must hold, a slow call is repeated
    once, so that a stall refuses nobody; the slow call may have counted too.
    """
    counters = _counters(action, keys)

    def hit() -> tuple[int, float] | None:
        return _count([item for _who, item, _name in counters], [name for *_, name in counters])

    try:
        if fail_open:
            with fail_fast():
                refusal = hit()
        else:
            refusal = with_retry(hit)
    except UNREACHABLE as error:
        logger.warning("limits are not counted: Valkey is away (%s)", error)
        if not fail_open:
            raise ServiceAway(not_counted) from error
        return
    if refusal is not None:
        number, wait = refusal
        who, item, _name = counters[number]
        raise TooManyRequests(_reached(item, is_network=who in NETWORKS), retry_after=wait)


def uncount(action: str, keys: Keys) -> None:
    """Uncount one `action`. When Valkey is away, it stays counted."""
    if names := [name for *_, name in _counters(action, keys)]:
        with suppress(*UNREACHABLE), fail_fast():
            _script(_UNCOUNT)(keys=names)


def reset(action: str, keys: Keys) -> None:
    """Start counting anew. When Valkey is away, the counts stay."""
    if names := [name for *_, name in _counters(action, keys)]:
        with suppress(*UNREACHABLE), fail_fast():
            connection().delete(*names)


def seconds_over(item: RateLimitItem, action: str, key: str) -> float | None:
    """Count one against a limit that is not in the settings.

    Returns None within the limit, otherwise the seconds until its window ends. Raises one of UNREACHABLE.
    """
    refusal = _count([item], [_name(item, action, key)])
    return None if refusal is None else refusal[1]


def _counters(action: str, keys: Keys) -> list[tuple[str, RateLimitItem, str]]:
    """Whose limit it is, the limit, and the name of its counter on Valkey."""
    return [(who, item, _name(item, action, key)) for who, key in keys.items() for item in limits_of(action, who)]


def _name(item: RateLimitItem, action: str, key: str) -> str:
    return f"LIMITS:{item.key_for(action, key)}"


def _count(items: list[RateLimitItem], names: list[str]) -> tuple[int, float] | None:
    """Return None if counted, otherwise the index of the limit that refuses and the seconds to wait."""
    if not names:
        return None
    arguments = [number for item in items for number in (item.amount, item.get_expiry())]
    found = _script(_COUNT)(keys=names, args=arguments)
    return (found[0] - 1, max(1.0, found[1])) if found else None


def _reached(item: RateLimitItem, *, is_network: bool) -> str:
    period = TIME_STRINGS.get(item.GRANULARITY.name, SECONDS) % {"num": item.multiples}
    if is_network:
        sentence = gettext("Your network has reached the limit of %(amount)d in %(period)s. Please wait.")
    else:
        sentence = gettext("You have reached the limit of %(amount)d in %(period)s. Please wait.")
    return sentence % {"amount": item.amount, "period": period}
