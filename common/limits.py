"""How often somebody may do something, counted exactly on Valkey."""

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache

from django.conf import settings
from django.utils.functional import Promise
from django.utils.module_loading import import_string
from django.utils.timesince import TIME_STRINGS
from django.utils.translation import gettext, ngettext_lazy
from django.utils.translation import gettext_lazy as _
from limits import RateLimitItem, parse_many
from limits.storage import RedisStorage
from limits.strategies import FixedWindowRateLimiter

from common.errors import ServiceAway, TooManyRequests
from common.valkey import UNREACHABLE, pool, while_a_person_waits

logger = logging.getLogger(__name__)

# Beside those that Django has words for.
SECONDS = ngettext_lazy("%(num)d second", "%(num)d seconds", "num")
NOT_COUNTED = _("New battles are paused for a moment: part of the arena is away. Voting goes on. Please try again.")


@cache
def _limiter() -> FixedWindowRateLimiter:
    return FixedWindowRateLimiter(RedisStorage(settings.LIMITS_URL, connection_pool=pool()))


def limits_of(action: str, who: str) -> list[RateLimitItem]:
    """Those that hold, e.g. of ("battle", "visitor"): what administrators chose, otherwise what is set."""
    return parsed(_chosen()().get((action, who)) or settings.ARENA_LIMITS[action, who])


def parsed(rate: str) -> list[RateLimitItem]:
    """rate: as “30/hour,150/day”; of “off” there is none. Raises ValueError."""
    return [] if rate == "off" else parse_many(rate.replace(",", ";"))


@cache
def _chosen() -> Callable[[], dict[tuple[str, str], str]]:
    found: Callable[[], dict[tuple[str, str], str]] = import_string(settings.ARENA_CHOSEN_LIMITS)
    return found


def count(action: str, who: str, *keys: str, fail_open: bool, not_counted: str | Promise = NOT_COUNTED) -> None:
    """Count one `action` against each of `keys` (a person, a network).

    Raises TooManyRequests with the seconds to wait. When Valkey is away: passes if `fail_open`,
    otherwise raises ServiceAway, saying `not_counted`.
    """
    try:
        with while_a_person_waits():
            _hit(action, limits_of(action, who), keys)
    except UNREACHABLE as error:
        logger.warning("limits are not counted: Valkey is away (%s)", error)
        if not fail_open:
            raise ServiceAway(not_counted) from error


def give_back(action: str, who: str, *keys: str) -> None:
    """One that was counted turned out to be none. When Valkey is away, it stays counted."""
    with suppress(*UNREACHABLE), while_a_person_waits():
        for item in limits_of(action, who):
            for key in keys:
                _limiter().hit(item, action, key, cost=-1)


def forget(action: str, who: str, key: str) -> None:
    """Counting begins anew. When Valkey is away, it does not."""
    with suppress(*UNREACHABLE), while_a_person_waits():
        for item in limits_of(action, who):
            _limiter().clear(item, action, key)


def seconds_over(item: RateLimitItem, action: str, key: str) -> float | None:
    """Count one. None within the limit, otherwise the seconds until counting begins anew. Raises one of UNREACHABLE."""
    if _limiter().hit(item, action, key):
        return None
    return _limiter().get_window_stats(item, action, key).reset_time - time.time()


def _hit(action: str, items: list[RateLimitItem], keys: tuple[str, ...]) -> None:
    for item in items:
        for key in keys:
            wait = seconds_over(item, action, key)
            if wait is not None:
                raise TooManyRequests(_reached(item), retry_after=wait)


def _reached(item: RateLimitItem) -> str:
    period = TIME_STRINGS.get(item.GRANULARITY.name, SECONDS) % {"num": item.multiples}
    return gettext("You have reached the limit of %(amount)d in %(period)s. Please wait.") % {
        "amount": item.amount,
        "period": period,
    }
