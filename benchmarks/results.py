"""A finished run's numbers for its page."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import cast

from django.db.models import Exists, OuterRef, Sum
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from benchmarks.models import Case, Entrant, ItemReply, Run, RunItem, Score
from benchmarks.statistics import recompute
from benchmarks.statistics.payload import EntrantUsage, Mean, Rank, ReportPayload
from benchmarks.statistics.rows import CheckResult, ItemRow, ItemState
from benchmarks.statistics.scores import ErrorsCount
from benchmarks.templatetags.benchmarks import cost
from common.text.numbers import format_numbers

FEW_CASES = 30


@dataclass(frozen=True)
class ResultRow:
    entrant: Entrant
    mean: Mean
    rank: Rank | None
    usage: EntrantUsage

    @property
    def range(self) -> str:
        if self.rank is None:
            return "–"
        return f"{self.rank.best}" if self.rank.best == self.rank.worst else f"{self.rank.best}–{self.rank.worst}"


@dataclass(frozen=True)
class Results:
    """rows: best first, entrants without a rank last."""

    rows: list[ResultRow]
    warnings: list[str]
    has_scores: bool


def read_results(run: Run) -> Results:
    """Return the results of a run's report."""
    entrants = {entrant_key(entrant): entrant for entrant in run.entrants.select_related("model", "prompt")}
    report = read_report(run)
    primary = next(metric for metric in report.metrics if metric.is_primary)
    ranks = {rank.entrant: rank for rank in report.ranks}
    usage = {one.entrant: one for one in report.usage}
    rows = [
        ResultRow(entrants[mean.entrant], mean, ranks.get(mean.entrant), usage[mean.entrant]) for mean in primary.means
    ]
    rows.sort(key=lambda row: (row.rank is None, -(row.mean.mean.value or 0.0), row.entrant.position))
    has_scores = any(row.mean.mean.value is not None for row in rows)
    return Results(rows, list(_warnings(run, report, rows, has_scores=has_scores)), has_scores)


def read_report(run: Run) -> ReportPayload:
    """Compute the report from the stored scores; to be replaced by the stored report."""
    return recompute.recompute(_item_rows(run))


def entrant_key(entrant: Entrant) -> str:
    return f"{entrant.position:03}"


def _item_rows(run: Run) -> Iterator[ItemRow]:
    version = run.version
    metrics = {check.key: (check.metric, check.weight) for check in version.checks.all()}
    scores: dict[int, dict[str, CheckResult]] = defaultdict(dict)
    if any(metric for metric, _weight in metrics.values()):
        found = Score.objects.filter(item__run=run, item__entrant__run=run)
        for item_id, key, value, passed, error in found.values_list("item", "check_key", "value", "passed", "error"):
            metric, weight = metrics.get(key, ("", 1.0))
            scores[item_id][key] = CheckResult(value, passed, error, metric, weight)
    entrants = {entrant.pk: entrant for entrant in run.entrants.select_related("model", "prompt")}
    cases = {case.pk: case for case in Case.objects.filter(version=version).defer("variables", "expected", "messages")}
    calls = _calls(run)
    reused = ItemReply.objects.filter(item=OuterRef("pk"), is_reused=True)
    items = (
        RunItem.objects.filter(entrant__in=entrants)
        .only("entrant", "case", "repeat", "state", "error", "score", "passed", "attempt")
        .annotate(is_reused=Exists(reused))
    )
    for item in items.iterator(chunk_size=5_000):
        entrant, case, call = entrants[item.entrant_id], cases[item.case_id], calls.get(item.pk, _NO_CALL)
        yield ItemRow(
            run=run.public_id, template=version.template.name, version_digest=version.digest,
            case_key=case.key, case_digest=case.digest, case_weight=case.weight, cluster=case.cluster,
            tags=tuple(case.tags), entrant=entrant_key(entrant), model=str(entrant.model or entrant.imported),
            prompt_label=entrant.prompt.label, is_baseline=entrant.is_baseline,
            errors_count=cast(ErrorsCount, version.errors_count), repeat=item.repeat,
            state=cast(ItemState, item.state), error=item.error, score=item.score, passed=item.passed,
            checks=scores.get(item.pk, {}), attempts=item.attempt, prompt_tokens=call[0], completion_tokens=call[1],
            reasoning_tokens=call[2], cost=call[3], first_token_ms=call[4], total_ms=call[5],
            reused=item.is_reused,
        )  # fmt: skip


_Call = tuple[int | None, int | None, int | None, float | None, int | None, int | None]
_NO_CALL: _Call = (None, None, None, None, None, None)


def _calls(run: Run) -> dict[int, _Call]:
    """Return tokens, cost and times of each item's last answer."""
    replies = RunItem.objects.filter(entrant__run=run, replies__reply__call__isnull=False).order_by("replies__turn")
    names = (
        "prompt_tokens", "completion_tokens", "reasoning_tokens", "cost", "first_token_ms", "total_ms",
    )  # fmt: skip
    rows = replies.values_list("pk", *(f"replies__reply__call__{name}" for name in names))
    return {row[0]: (*row[1:4], None if row[4] is None else float(row[4]), *row[5:]) for row in rows}


def _saved(run: Run) -> Decimal:
    """Return the US dollars that reused answers cost in their own runs."""
    reused = ItemReply.objects.filter(item__run=run, is_reused=True)
    return reused.aggregate(cost=Sum("reply__call__cost"))["cost"] or Decimal(0)


def _warnings(run: Run, report: ReportPayload, rows: list[ResultRow], *, has_scores: bool) -> Iterator[str]:
    if run.state == Run.State.CANCELLED:
        yield _("The run was cancelled: its numbers are of a part of the items.")
    if not has_scores:
        yield _("No answer has a score. Check the checks of the template.")
        return
    if report.clusters < FEW_CASES:
        sentence = ngettext(
            "The run has %(n)d independent case only: intervals are wide.",
            "The run has %(n)d independent cases only: intervals are wide.", report.clusters,
        )  # fmt: skip
        yield sentence % {"n": report.clusters}
    reused = sum(row.usage.reused for row in rows)
    if reused:
        sentence = ngettext(
            "%(n)s answer is of an earlier run: here it cost nothing, instead of %(cost)s.",
            "%(n)s answers are of earlier runs: here they cost nothing, instead of %(cost)s.", reused,
        )  # fmt: skip
        yield sentence % {**format_numbers(n=reused), "cost": cost(_saved(run))}
    for row in rows:
        if not row.mean.is_complete:
            found = {**format_numbers(scored=row.mean.scored, planned=row.mean.planned), "entrant": row.entrant}
            yield _("%(entrant)s has %(scored)s of %(planned)s scores, and no rank.") % found
    unscored = sum(row.mean.unscored for row in rows)
    if unscored:
        sentence = ngettext("%(n)d answer could not be scored.", "%(n)d answers could not be scored.", unscored)
        yield sentence % {"n": unscored}
    best = [row for row in rows if row.rank is not None and row.rank.is_in_best_group]
    if len(best) > 1:
        yield _("%(n)d entrants cannot be told apart from the best one.") % {"n": len(best)}
