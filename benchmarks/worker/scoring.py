"""Scoring of stored answers for the driver of a run."""

import logging
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Event

from django.db import transaction
from django.utils import timezone

from benchmarks.checks.check_set import AnswerScoring, CaseFacts, ScoredItem
from benchmarks.checks.children import scoring_children
from benchmarks.models import ItemReply, Run, RunItem, Score
from benchmarks.preparation.rendered_targets import render_targets
from benchmarks.scoring.ports import ScoredAnswer

logger = logging.getLogger(__name__)

BATCH = 64
MAX_LOGGED = 20
# Scoring processes at once.
THREADS = os.cpu_count() or 1


@dataclass(frozen=True)
class _Unscored:
    item: RunItem
    case: CaseFacts
    answer: ScoredAnswer


def prepare_rescoring(run_id: int) -> None:
    """Render targets of the run's `checks_version`; bad ones leave items unscored."""
    run = Run.objects.select_related("checks_version").get(pk=run_id)
    if run.checks_version is not None:
        for problems in render_targets(run.checks_version):
            for problem in problems[:MAX_LOGGED]:
                logger.warning("a target of run %s is not usable: %s", run_id, problem)


def score_batch(run_id: int, checks: AnswerScoring, stopping: Event) -> list[int]:
    """Score stored answers without a score; return the ids of their items. Safe to repeat.

    Holds no lock meanwhile. Nothing is stored once `stopping` is set: killed children give no verdicts.
    """
    items = list(RunItem.objects.filter(run=run_id, state=RunItem.State.ANSWERED).order_by("pk")[:BATCH])
    if not items:
        return []
    cases = checks.read_cases({item.case_id for item in items})
    replies = _last_replies(items)
    unscored = [_Unscored(item, cases[item.case_id], _answer(replies[item.pk], cases[item.case_id])) for item in items]

    def score(item: _Unscored) -> ScoredItem:
        return ScoredItem() if stopping.is_set() else checks.score(item.case, item.answer, scoring_children())

    with ThreadPoolExecutor(THREADS, thread_name_prefix="scoring") as threads:
        scores = list(threads.map(score, unscored))
    return [] if stopping.is_set() else _store(run_id, checks, items, scores)


def _last_replies(items: Sequence[RunItem]) -> dict[int, ItemReply]:
    replies = ItemReply.objects.filter(item__in=items).select_related("reply__call").order_by("item", "turn")
    return {reply.item_id: reply for reply in replies}


def _answer(given: ItemReply, case: CaseFacts) -> ScoredAnswer:
    reply = given.reply
    answer = ScoredAnswer(
        text=reply.text, reasoning=reply.reasoning, variables=case.variables, metadata=case.metadata,
        finish_reason=reply.finish_reason,
    )  # fmt: skip
    call = reply.call
    if call is not None:
        answer.tokens_in, answer.tokens_out = call.prompt_tokens, call.completion_tokens
    if call is not None and not given.is_reused:
        answer.first_token_ms, answer.total_ms = call.first_token_ms, call.total_ms
        answer.cost = None if call.cost is None else float(call.cost)
    return answer


@transaction.atomic
def _store(run_id: int, checks: AnswerScoring, items: Sequence[RunItem], scores: Sequence[ScoredItem]) -> list[int]:
    """Store scores of items that still have none."""
    run = Run.objects.lock(run_id)
    if (run.checks_version_id or run.version_id) != checks.version_id:
        return []
    waiting = RunItem.objects.filter(pk__in=[item.pk for item in items], state=RunItem.State.ANSWERED)
    still = set(waiting.values_list("pk", flat=True))
    scored = [(item, score) for item, score in zip(items, scores, strict=True) if item.pk in still]
    for item, score in scored:
        item.score, item.passed, item.scored_by = score.value, score.passed, score.digest
        item.state, item.finished_at = RunItem.State.SCORED, item.finished_at or timezone.now()
    RunItem.objects.bulk_update([item for item, _ in scored], ["score", "passed", "scored_by", "state", "finished_at"])
    Score.objects.filter(item__in=still, source="check").delete()
    Score.objects.bulk_create([Score(item=item, **row) for item, score in scored for row in score.checks])
    return sorted(still)
