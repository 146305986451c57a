"""A finished run's numbers for its page."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Sum
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from benchmarks.models import Entrant, ItemReply, Run
from benchmarks.reports.item_rows import entrant_key
from benchmarks.reports.store import read_report
from benchmarks.statistics.payload import EntrantUsage, Mean, Rank, ReportPayload
from common.text.money import rounded_dollars
from common.text.numbers import format_numbers

FEW_CASES = 30


@dataclass(frozen=True)
class ResultRow:
    entrant: Entrant
    label: str
    mean: Mean
    rank: Rank | None
    usage: EntrantUsage

    @property
    def is_left_out(self) -> bool:
        return self.entrant.left_out_at is not None and self.mean.scored + self.mean.unscored < self.mean.planned

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
    report: ReportPayload
    labels: Mapping[str, str]


def read_results(run: Run, number: int | None = None) -> Results:
    """Return the results of a run's report, by default the newest."""
    return results_of(run, read_report(run, number))


def results_of(
    run: Run, report: ReportPayload, labels: Mapping[str, str] | None = None, *, is_so_far: bool = False
) -> Results:
    """Return a report's results. labels: of entrants by key; without them, their names."""
    entrants = {entrant_key(entrant): entrant for entrant in run.entrants.select_related("model", "prompt")}
    labels = labels or {key: str(entrant) for key, entrant in entrants.items()}
    primary = next(metric for metric in report.metrics if metric.is_primary)
    ranks = {rank.entrant: rank for rank in report.ranks}
    usage = {figures.entrant: figures for figures in report.usage}
    rows = [
        ResultRow(entrants[mean.entrant], labels[mean.entrant], mean, ranks.get(mean.entrant), usage[mean.entrant])
        for mean in primary.means
    ]
    rows.sort(key=lambda row: (row.rank is None, -(row.mean.mean.value or 0.0), row.entrant.position))
    has_scores = any(row.mean.mean.value is not None for row in rows)
    warnings = _warnings(run, report, rows, has_scores=has_scores, is_so_far=is_so_far)
    return Results(rows, list(warnings), has_scores, report, labels)


def _saved(run: Run) -> Decimal:
    """Return the US dollars that reused answers cost in their own runs."""
    reused = ItemReply.objects.filter(item__run=run, is_reused=True)
    return reused.aggregate(cost=Sum("reply__call__cost"))["cost"] or Decimal(0)


def _warnings(
    run: Run, report: ReportPayload, rows: list[ResultRow], *, has_scores: bool, is_so_far: bool
) -> Iterator[str]:
    if run.state == Run.State.CANCELLED:
        yield _("The run was cancelled: its numbers are of a part of the items.")
    if is_so_far:
        yield _("The run is under way: these numbers are of the answers so far.")
    for row in rows:
        if row.is_left_out:
            details = {**format_numbers(scored=row.mean.scored, planned=row.mean.planned), "entrant": row.label}
            yield _("%(entrant)s was left out of the run, with %(scored)s of %(planned)s scores.") % details
    if not has_scores and not is_so_far:
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
        yield sentence % {**format_numbers(n=reused), "cost": rounded_dollars(_saved(run))}
    if lost := sum(row.usage.lost_cost for row in rows):
        sentence = _("Calls without an answer cost %(cost)s, beside the costs of the entrants.")
        yield sentence % {"cost": rounded_dollars(Decimal(lost))}
    for row in rows:
        if not (row.mean.is_complete or row.is_left_out or is_so_far):
            details = {**format_numbers(scored=row.mean.scored, planned=row.mean.planned), "entrant": row.label}
            yield _("%(entrant)s has %(scored)s of %(planned)s scores, and no rank.") % details
    unscored = sum(row.mean.unscored for row in rows)
    if unscored:
        sentence = ngettext("%(n)d answer could not be scored.", "%(n)d answers could not be scored.", unscored)
        yield sentence % {"n": unscored}
    best = [row for row in rows if row.rank is not None and row.rank.is_in_best_group]
    if len(best) > 1:
        yield _("%(n)d entrants cannot be told apart from the best one.") % {"n": len(best)}
