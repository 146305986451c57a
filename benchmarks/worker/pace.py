"""The learned pace of providers: halved by a 429, raised by answers."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from django.conf import settings
from django.db import connection
from django.utils import timezone

from battles.calls import headroom
from benchmarks.models import ProviderPace
from benchmarks.sql import read_sql
from models_registry.models import Provider

START = 8
MAX_ALLOWED = 256
# Answers that raise the pace of a provider that once refused calls by one; before, each answer does.
ANSWERS_PER_STEP = 20
# One burst of refusals halves the pace once.
HALVING_INTERVAL_S = 5.0
MAX_RETRY_AFTER_S = 3600.0


@dataclass
class Observed:
    """Ends of a group of calls to a provider. retry_after: seconds."""

    answers: int = 0
    refusals: int = 0
    retry_after: float = 0.0


def read_paces(provider_ids: Collection[int]) -> dict[int, int]:
    """Return allowed calls at once by provider id; 0 before its Retry-After is over."""
    now, allowed = timezone.now(), dict.fromkeys(provider_ids, START)
    for pace in ProviderPace.objects.filter(pk__in=list(provider_ids)):
        is_blocked = pace.blocked_until is not None and pace.blocked_until > now
        allowed[pace.provider_id] = 0 if is_blocked else pace.allowed
    return allowed


def room_at(provider: Provider) -> int:
    """Return calls of runs that a provider's limit leaves beside those of people."""
    limit = provider.calls_at_once
    if limit is None:
        return int(settings.ARENA_BACKGROUND_CALLS)
    return max(1, limit - headroom(limit))


def observe(observed: Mapping[int, Observed], *, known: Mapping[int, int]) -> None:
    """Move the paces. Last in a transaction, in the order of ids.

    known: paces as last read; a pace at its maximum is not written again for answers.
    """
    for provider_id in sorted(observed):
        seen = observed[provider_id]
        if not seen.refusals and (not seen.answers or known.get(provider_id, START) >= MAX_ALLOWED):
            continue
        with connection.cursor() as cursor:
            cursor.execute(
                read_sql("move_pace.sql"),
                {
                    "provider": provider_id, "answered": seen.answers, "refusals": seen.refusals,
                    "retry_after": min(seen.retry_after, MAX_RETRY_AFTER_S), "start": START, "maximum": MAX_ALLOWED,
                    "step": ANSWERS_PER_STEP, "burst": HALVING_INTERVAL_S,
                },
            )  # fmt: skip
