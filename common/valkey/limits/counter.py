from collections.abc import Mapping
from typing import NamedTuple

from limits import RateLimitItem

from common.valkey.limits.rates import limits_of


class Key(NamedTuple):
    """Identifier that is counted, such as "visitor:7". times: factor of its rate."""

    id: str
    times: int = 1


# Keys by kind of limit, e.g. {"visitor": Key("visitor:7"), "network": Key("visitors:…")}.
Keys = Mapping[str, Key]


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


def counters(action: str, keys: Keys) -> list[Counter]:
    return [Counter(who, item, action, key) for who, key in keys.items() for item in limits_of(action, who)]
