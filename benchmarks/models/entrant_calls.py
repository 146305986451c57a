"""Entrants as their run's own calls show them; breakers and other calls do not count."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db.models import F, OuterRef, Subquery, Sum
from django.db.models.functions import Coalesce, Least, Now
from django.utils import timezone

from benchmarks.models.items import RunCount, RunItem
from benchmarks.models.runs import Entrant, Run
from models_registry import breaker_rule
from models_registry.health.outcomes import NEUTRAL_FAILURES
from models_registry.providers import FailureCode

# Nothing is asked of an entrant any more that fails for so long.
MAX_AWAY = timedelta(minutes=30)
# Each has held a slot for long, so one is enough for a cooldown.
TIMEOUTS = {FailureCode.FIRST_TIMEOUT, FailureCode.IDLE_TIMEOUT, FailureCode.TOTAL_TIMEOUT}
WITHOUT_TEXT = {FailureCode.EMPTY, FailureCode.ONLY_REASONING, FailureCode.NO_ROOM}
# The provider has answered, so the prompt may be the reason.
UNUSABLE_ANSWERS = {*WITHOUT_TEXT, FailureCode.REJECTED, FailureCode.TOO_LONG, FailureCode.TOOL_CALLS}
# Every further call would fail: why nothing is asked any more.
SETUP_FAILURES = {
    FailureCode.REFUSED_KEY: Run.Reason.REFUSED_KEY,
    FailureCode.NO_KEY: Run.Reason.NO_KEY,
    FailureCode.ADDRESS_REFUSED: Run.Reason.MODELS_AWAY,
    FailureCode.REDIRECTED: Run.Reason.MODELS_AWAY,
}
# Failures that do not count: the pace of the provider answers them.
_NOT_COUNTED = NEUTRAL_FAILURES | {FailureCode.RATE_LIMITED}
CHANGING = ["failures", "failing_since", "failure", "cooldowns", "next_try_at", "halted"]


def calls_at_once(entrant: Entrant, at: datetime) -> int:
    """Return how many calls an entrant may have: after a failure one, until it answers."""
    is_resting = entrant.next_try_at is not None and entrant.next_try_at > at
    if entrant.left_out_at is not None or entrant.halted or is_resting:
        return 0
    return 1 if entrant.failures else Run.MAX_CONCURRENCY


def note_ends(entrant: Entrant, ends: Iterable[tuple[FailureCode | None, float | None]]) -> bool:
    """Note errors, with seconds of Retry-After; return whether the entrant changed. Saves nothing."""
    before = [getattr(entrant, name) for name in CHANGING]
    for error, retry_after in ends:
        if error is None:
            entrant.failures, entrant.cooldowns, entrant.failure, entrant.halted = 0, 0, "", ""
            entrant.failing_since = entrant.next_try_at = None
        elif error is FailureCode.RATE_LIMITED:
            _wait(entrant, retry_after or 0.0, least_s=breaker_rule.OPENING_RETRY_AFTER_S)
        elif error not in _NOT_COUNTED:
            _note_failure(entrant, error, retry_after)
    return before != [getattr(entrant, name) for name in CHANGING]


def _note_failure(entrant: Entrant, error: FailureCode, retry_after: float | None) -> None:
    now = timezone.now()
    entrant.failures += 1
    entrant.failure = error
    entrant.failing_since = entrant.failing_since or now
    if error in SETUP_FAILURES:
        entrant.halted = SETUP_FAILURES[error]
    elif now - entrant.failing_since >= MAX_AWAY:
        entrant.halted = entrant.halted or Run.Reason.MODELS_AWAY
    is_resting = entrant.next_try_at is not None and entrant.next_try_at > now
    if entrant.failures >= _most_failures(error) and not is_resting:  # calls that end meanwhile prolong nothing
        entrant.cooldowns += 1
        _wait(entrant, breaker_rule.cooldown_s(entrant.cooldowns, retry_after=retry_after))


def _most_failures(error: FailureCode) -> int:
    if error in TIMEOUTS:
        return 1
    return breaker_rule.REJECTED_IN_A_ROW if error in UNUSABLE_ANSWERS else breaker_rule.FAILURES_IN_A_ROW


def _wait(entrant: Entrant, seconds: float, *, least_s: float = 0.0) -> None:
    if seconds >= least_s:
        until = timezone.now() + timedelta(seconds=min(seconds, breaker_rule.MAX_COOLDOWN_S))
        entrant.next_try_at = max(until, entrant.next_try_at or until)


def let_go_on(run_id: int) -> None:
    """Ask all entrants again, and count the run's pace from now."""
    ended = RunCount.objects.filter(entrant=OuterRef("pk")).exclude(state__in=RunItem.TO_ASK).order_by()
    Entrant.objects.filter(run=run_id).update(
        halted="", next_try_at=None, failing_since=None, cooldowns=0, failures=Least(F("failures"), 1),
        ended_before=Coalesce(Subquery(ended.values("entrant").annotate(items=Sum("n")).values("items")), 0),
    )  # fmt: skip
    Run.objects.filter(pk=run_id).update(paced_from=Now())
