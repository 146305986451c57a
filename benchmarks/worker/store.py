"""Group commit of ended calls: replies, scores, costs, counts and pace in one transaction.

The order of locks is that of benchmarks.worker.claims.
"""

import asyncio
import logging
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

import msgspec
from django.db import connection, transaction
from django.db.models import F

from battles.calls import CallResult, record_failure, store_results
from benchmarks import streaming
from benchmarks.checks.check_set import AnswerScoring, CaseFacts, ScoredItem
from benchmarks.models import Entrant, Run, RunItem
from benchmarks.models.entrant_calls import CHANGING, SETUP_FAILURES, WITHOUT_TEXT, note_ends
from benchmarks.scoring.ports import ScoredAnswer
from benchmarks.sql import read_sql
from benchmarks.worker import pace, reuse
from benchmarks.worker.claims import ClaimedItem
from common.db.execution import run_in_db_with_retry
from common.group_commit import GroupCommit
from common.payload_types import JsonObject
from models_registry.health import outcomes
from models_registry.providers import FailureCode

logger = logging.getLogger(__name__)

DUE_GROUP, MAX_GROUP = 16, 64
MAX_DELAY_S = 0.05
# Ended by the provider or the way to it: the next attempt may succeed.
TRANSIENT = {
    FailureCode.UNREACHABLE,
    FailureCode.RATE_LIMITED,
    FailureCode.PROVIDER_ERROR,
    FailureCode.CUT,
    FailureCode.FIRST_TIMEOUT,
    FailureCode.IDLE_TIMEOUT,
    FailureCode.TOTAL_TIMEOUT,
    FailureCode.NOT_A_STREAM,
    FailureCode.MALFORMED,
    FailureCode.INTERRUPTED,
}
MAX_EMPTY_ATTEMPTS = 2
MAX_BACKOFF_S, MAX_RETRY_AFTER_S = 60.0, 3600.0
# Failures that concern a provider's key or account, even where no call was sent.
_KEY_FAILURES = {FailureCode.REFUSED_KEY, FailureCode.ACCOUNT, FailureCode.NO_KEY}


@dataclass(frozen=True)
class Ended:
    """An item whose call has ended. is_preempted: stopped for a person's call."""

    item: ClaimedItem
    result: CallResult
    is_preempted: bool = False


@dataclass(frozen=True)
class RunFacts:
    """Facts of a run that storing needs."""

    run_id: int
    owner_id: int | None
    team_id: int | None
    attempts: int
    checks: AnswerScoring


def outcome_of(ended: Ended, run: RunFacts, case: CaseFacts) -> JsonObject:
    """Return the row of store_items.sql for an ended call. An answer whose checks take long is scored later."""
    item, result, error = ended.item, ended.result, _error_of(ended)
    row: JsonObject = {
        "id": item.item_id, "fence": item.fence, "turn": item.turn, "next_turn": item.turn, "attempt": item.attempt,
        "due_s": 0.0, "error": "", "preempted": item.preempted, "score": None, "passed": None, "scored_by": "",
        "call_id": item.call.row.pk, "model_id": item.call.row.model_id, "text": None, "reasoning": "",
        "finish_reason": "", "answer_key": "", "scores": [],
    }  # fmt: skip
    if ended.is_preempted:
        return row | {"state": RunItem.State.QUEUED, "attempt": item.attempt - 1, "preempted": item.preempted + 1}
    if result.stopped:
        return row | {"state": RunItem.State.SKIPPED}
    if error is not None:
        if may_retry(error, item.attempt, run.attempts):
            return row | {"state": RunItem.State.QUEUED, "due_s": _delay_s(item.attempt, result.retry_after)}
        return row | {"state": RunItem.State.FAILED, "error": error}
    answer = ScoredAnswer(
        text="".join(result.texts), reasoning="".join(result.reasonings), variables=case.variables,
        metadata=case.metadata, finish_reason=result.completion.finish_reason,
    )  # fmt: skip
    row |= {
        "text": answer.text, "reasoning": answer.reasoning, "finish_reason": answer.finish_reason,
        "answer_key": item.answer_key if answer.finish_reason in reuse.REUSABLE else "",
    }  # fmt: skip
    is_last = item.turn == item.last_turn
    score = _score(run.checks, case, answer) if is_last or run.checks.ends_with_a_score else None
    if not is_last and (score is None or score.value is None):  # attempts count for each turn
        return row | {"state": RunItem.State.QUEUED, "next_turn": item.turn + 1, "attempt": 0}
    if score is None:
        return row | {"state": RunItem.State.ANSWERED}
    return row | {
        "state": RunItem.State.SCORED, "score": score.value, "passed": score.passed, "scored_by": score.digest,
        "scores": score.checks,
    }  # fmt: skip


def _error_of(ended: Ended) -> FailureCode | None:
    result = ended.result
    if result.error is None and not result.stopped and not result.has_text:
        result.error = result.missing_answer().code
    return result.error


def _score(checks: AnswerScoring, case: CaseFacts, answer: ScoredAnswer) -> ScoredItem | None:
    """Return None if this takes long or raises: the answer is stored all the same, and scored later."""
    try:
        return checks.score_at_once(case, answer)
    except Exception:
        logger.exception("an answer was not scored")
        return None


def may_retry(error: FailureCode, attempt: int, attempts: int) -> bool:
    """Return whether an item that failed in this attempt (from 1) is asked again."""
    if error in WITHOUT_TEXT:
        return attempt < min(MAX_EMPTY_ATTEMPTS, attempts)
    return (error in TRANSIENT or error in SETUP_FAILURES) and attempt < attempts


def _delay_s(attempt: int, retry_after: float | None) -> float:
    """Return seconds until the next attempt: Retry-After, or doubled each time, with jitter."""
    backoff = min(2.0**attempt, MAX_BACKOFF_S) * random.uniform(0.75, 1.25)  # noqa: S311
    requested = min(retry_after or 0.0, MAX_RETRY_AFTER_S) * random.uniform(1, 1.25)  # noqa: S311
    return max(backoff, requested)


@transaction.atomic
def store_group(run: RunFacts, group: Sequence[Ended], paces: Mapping[int, int]) -> bool:
    """Store ended calls; return whether entrants changed. Each item's fence guards its own part.

    paces: as last read, by provider id.
    """
    cases = run.checks.read_cases({ended.item.case_id for ended in group})
    rows = [outcome_of(ended, run, cases[ended.item.case_id]) for ended in group]
    stored = Run.objects.lock(run.run_id)
    entrants = Entrant.objects.in_bulk({ended.item.entrant.pk for ended in group})
    for ended, row in zip(group, rows, strict=True):
        if row["state"] in (RunItem.State.QUEUED, RunItem.State.SKIPPED):  # nothing is asked again
            if entrants[ended.item.entrant.pk].left_out_at is not None:
                row["state"] = RunItem.State.LEFT_OUT
            elif stored.state == Run.State.CANCELLED:
                row["state"] = RunItem.State.SKIPPED
    with connection.cursor() as cursor:
        cursor.execute(
            read_sql("store_items.sql"),
            {"outcomes": msgspec.json.encode(rows).decode(), "owner": run.owner_id, "team": run.team_id},
        )
        if len(cursor.fetchall()) < len(group):
            logger.info("some items of run %s were taken over", run.run_id)
    costs = store_results([(ended.item.call, ended.result) for ended in group])
    released = sum((ended.item.reserved for ended in group if ended.item.call.row.pk in costs), Decimal(0))
    if released:
        spent = sum(costs.values(), Decimal(0))
        Run.objects.filter(pk=run.run_id).update(reserved=F("reserved") - released, spent=F("spent") + spent)
    changed = [entrant for entrant in entrants.values() if note_ends(entrant, _ends(group, entrant.pk))]
    Entrant.objects.bulk_update(changed, CHANGING)
    pace.observe(_observed(group), known=paces)
    return bool(changed)


def _ends(group: Sequence[Ended], entrant_id: int) -> list[tuple[FailureCode | None, float | None]]:
    return [
        (ended.result.error, ended.result.retry_after)
        for ended in group
        if ended.item.entrant.pk == entrant_id and not ended.result.stopped
    ]


def _observed(group: Sequence[Ended]) -> dict[int, pace.Observed]:
    observed: dict[int, pace.Observed] = defaultdict(pace.Observed)
    for ended in group:
        seen, error = observed[ended.item.call.row.model.provider_id], ended.result.error
        if error is FailureCode.RATE_LIMITED:
            seen.refusals += 1
            seen.retry_after = max(seen.retry_after, ended.result.retry_after or 0.0)
        elif error is None and not ended.result.stopped:
            seen.answers += 1
    return observed


def record_outcomes(group: Sequence[Ended]) -> None:
    """Record breaker outcomes, each in a transaction of its own. A 429 to a run takes no model away from people."""
    answered = {ended.item.call.row.model for ended in group if not (ended.result.error or ended.result.stopped)}
    if answered:
        with transaction.atomic():
            outcomes.record_answers(list(answered))
    for ended in group:
        error = ended.result.error
        if error and error is not FailureCode.RATE_LIMITED and (ended.result.was_sent or error in _KEY_FAILURES):
            with transaction.atomic():
                record_failure(ended.item.call, ended.result)


class RunCommit:
    """Stores the ended calls of a run in groups. Nothing is lost if the database is away: the items' leases decide."""

    def __init__(self, run: RunFacts, paces: Mapping[int, int], stored: asyncio.Event) -> None:
        self._run, self.paces, self._stored = run, paces, stored
        self._commit = GroupCommit(self._store, delay_s=MAX_DELAY_S, due_size=DUE_GROUP, max_size=MAX_GROUP)
        # Items handed over and not stored yet.
        self.unstored: set[int] = set()
        # Whether an entrant changed since the plan was last read.
        self.has_changed_entrants = False

    def put(self, ended: Ended) -> None:
        self.unstored.add(ended.item.item_id)
        self._commit.put(ended, is_urgent=ended.is_preempted)  # a person waits for the slot

    async def finish(self) -> None:
        await self._commit.finish()

    async def _store(self, group: Sequence[Ended]) -> None:
        try:
            self.has_changed_entrants |= await run_in_db_with_retry(_store_and_record, self._run, group, self.paces)
            streaming.publish_soon(self._run.run_id, [ended.item.item_id for ended in group])
        except Exception:
            logger.exception("%s answers of run %s were not stored", len(group), self._run.run_id)
        finally:
            self.unstored.difference_update(ended.item.item_id for ended in group)
            self._stored.set()


def _store_and_record(run: RunFacts, group: Sequence[Ended], paces: Mapping[int, int]) -> bool:
    has_changed_entrants = store_group(run, group, paces)
    try:
        record_outcomes(group)
    except Exception:  # of breakers only: the answers are stored
        logger.exception("outcomes of calls were not recorded")
    return has_changed_entrants
