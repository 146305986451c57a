"""Rates of the settings and of administrators."""

from collections.abc import Callable, Mapping

from django.conf import settings
from limits import RateLimitItem, parse_many

# "network" is an IPv4 address or an IPv6 /64, "network48" the /48 around it.
NETWORKS = ("network", "network48")
# Prompts of all people to one model.
MODEL = "model"
# Counted for several people together: the rest of these limits tells how much others have used.
SHARED = (*NETWORKS, MODEL)

# Rates by (action, who), e.g. {("battle", "visitor"): "30/hour,150/day"}.
Rates = Mapping[tuple[str, str], str]
_read_overrides: Callable[[], Rates] = dict


def use_overrides(read: Callable[[], Rates]) -> None:
    """Let rates returned by `read` replace those of the settings."""
    global _read_overrides
    _read_overrides = read


def limits_of(action: str, who: str) -> list[RateLimitItem]:
    return parse_rate(_read_overrides().get((action, who)) or settings.ARENA_LIMITS[action, who])


def parse_rate(rate: str) -> list[RateLimitItem]:
    """Parse a rate such as “30/hour,150/day”; “off” has no limits. Raises ValueError."""
    return [] if rate == "off" else parse_many(rate.replace(",", ";"))
