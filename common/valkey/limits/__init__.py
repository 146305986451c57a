"""Limits of actions per person, network and model, counted in Valkey."""

from common.valkey.limits.counter import Counter, Key, Keys, Usage, counters
from common.valkey.limits.counting import LimitReached, count, read, require_room, reset, seconds_over, uncount
from common.valkey.limits.messages import NOT_COUNTED, period_words
from common.valkey.limits.rates import MODEL, NETWORKS, SHARED, Rates, limits_of, parse_rate, use_overrides

__all__ = [
    "MODEL", "NETWORKS", "NOT_COUNTED", "SHARED", "Counter", "Key", "Keys", "LimitReached", "Rates", "Usage",
    "count", "counters", "limits_of", "parse_rate", "period_words", "read", "require_room", "reset", "seconds_over",
    "uncount", "use_overrides",
]  # fmt: skip
