from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import NamedTuple, cast

from django.conf import settings
from django.dispatch import Signal
from django.utils import timezone

from accounts.limiting.words import ACTIONS
from accounts.payload_types import LimitPayload, TodayPayload
from common.valkey import limits

# Sent with `actor`; the one receiver returns a TodayPayload.
today_requested = Signal()


class LimitRow(NamedTuple):
    """period: “1 hour”. resets_at: None while nothing is used."""

    label: str
    is_network: bool
    limit: int
    used: int
    remaining: int
    period: str
    resets_at: datetime | None


def limit_payloads(keys: limits.Keys, *, kind: str) -> list[LimitPayload]:
    return [_payload(usage) for usage in _usages(keys, kind)]


def limit_rows(keys: limits.Keys, *, kind: str) -> list[LimitRow]:
    return [_row(usage) for usage in _usages(keys, kind)]


def _usages(keys: limits.Keys, kind: str) -> list[limits.Usage]:
    """Return the person's limits, and those their networks reached; [] without Valkey."""
    keys = {kind: limits.Key(f"{kind}:"), **keys}
    actions = [action for action, who in settings.ARENA_LIMITS if who == kind]
    counters = [counter for action in actions for counter in limits.counters(action, _of_action(action, keys))]
    usages = limits.read(counters)
    return [usage for usage in usages if usage.counter.who not in limits.NETWORKS or not usage.remaining]


def _row(usage: limits.Usage) -> LimitRow:
    counter = usage.counter
    return LimitRow(
        str(ACTIONS[counter.action]),
        counter.who in limits.NETWORKS,
        counter.amount,
        usage.used,
        usage.remaining,
        limits.period_words(counter.item),
        timezone.now() + timedelta(seconds=usage.reset_s) if usage.used else None,
    )


def today_payload(actor: object) -> TodayPayload:
    [(_receiver, payload)] = today_requested.send(sender=type(actor), actor=actor)
    return cast(TodayPayload, payload)


def _of_action(action: str, keys: limits.Keys) -> Mapping[str, limits.Key]:
    return {who: key for who, key in keys.items() if (action, who) in settings.ARENA_LIMITS}


def _payload(usage: limits.Usage) -> LimitPayload:
    counter = usage.counter
    return {
        "action": counter.action,
        "who": "network" if counter.who in limits.NETWORKS else "person",
        "limit": counter.amount,
        "window_s": counter.window_s,
        "used": usage.used,
        "remaining": usage.remaining,
        "reset_s": usage.reset_s,
    }
