"""One run against an earlier one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext as _

from accounts.actor import Actor
from benchmarks.access import readable_runs
from benchmarks.models import Case, Entrant, Run, RunReport
from benchmarks.queries.left_out import LeftOut, read_left_out
from benchmarks.reports.item_rows import entrant_key
from benchmarks.statistics.payload import EntrantComparison, RunComparison
from common.text.numbers import format_numbers

LISTED_RUNS = 50
LISTED_CASES = 50


@dataclass(frozen=True)
class ChangedCase:
    """case_id: None where the newer run has no longer a case of this key."""

    key: str
    case_id: int | None


@dataclass(frozen=True)
class EntrantChange:
    entrant: Entrant
    comparison: EntrantComparison
    broken: list[ChangedCase]
    mended: list[ChangedCase]

    @property
    def verdict(self) -> str:
        """Return "better", "worse" or "open"."""
        value, p = self.comparison.difference.value, self.comparison.holm_p
        if value is None or p is None or p >= 0.05:
            return "open"
        return "better" if value > 0 else "worse"


@dataclass(frozen=True)
class RunChanges:
    older: Run
    newer: Run
    numbers: RunComparison
    entrants: list[EntrantChange]
    left_out: list[tuple[Run, LeftOut]]

    @property
    def left_out_sentences(self) -> list[str]:
        sentence = _("%(entrant)s was left out of the run “%(run)s”, with %(answers)s of %(items)s answers.")
        return [
            sentence
            % {"entrant": entry.entrant, "run": run, **format_numbers(answers=entry.answers, items=entry.items)}
            for run, entry in self.left_out
        ]

    @property
    def reused_cases(self) -> int:
        return max((change.comparison.reused_cases for change in self.entrants), default=0)


def comparable_runs(actor: Actor, run: Run) -> QuerySet[Run]:
    """Return readable runs of the same template that have a report, the latest first."""
    runs = readable_runs(actor).filter(version__template=run.version.template_id).exclude(pk=run.pk)
    reported = Exists(RunReport.objects.filter(run=OuterRef("pk")))
    return runs.filter(reported).select_related("version__template").order_by("-created_at")


def read_changes(run: Run, other: Run) -> RunChanges:
    """Return the differences of the later run from the earlier one. Takes seconds for very large runs."""
    older, newer = sorted((run, other), key=lambda each: each.created_at)
    numbers = _compared(older.pk, _newest_report(older), newer.pk, _newest_report(newer))
    entrants = {entrant_key(entrant): entrant for entrant in newer.entrants.select_related("model", "prompt")}
    keys = {
        key
        for comparison in numbers.entrants
        for key in (*comparison.broken[:LISTED_CASES], *comparison.mended[:LISTED_CASES])
    }
    ids = dict(Case.objects.filter(version=newer.version_id, key__in=keys).values_list("key", "pk"))
    changes = [
        EntrantChange(
            entrants[comparison.newer], comparison, _cases(comparison.broken, ids), _cases(comparison.mended, ids)
        )
        for comparison in numbers.entrants
    ]
    left_out = [(compared, entry) for compared in (older, newer) for entry in read_left_out(compared)]
    return RunChanges(older, newer, numbers, changes, left_out)


def _cases(keys: Sequence[str], ids: Mapping[str, int]) -> list[ChangedCase]:
    return [ChangedCase(key, ids.get(key)) for key in keys[:LISTED_CASES]]


def _newest_report(run: Run) -> int:
    return int(run.reports.order_by("-number").values_list("pk", flat=True)[0])


# Keyed by the reports, too: a run that is scored again is compared again.
@lru_cache(maxsize=32)
def _compared(older: int, _older_report: int, newer: int, _newer_report: int) -> RunComparison:
    from benchmarks.reports.inputs import read_inputs
    from benchmarks.statistics.comparison import compare_runs  # both import scipy, which few requests need

    runs = Run.objects.select_related("version__template").in_bulk([older, newer])
    return compare_runs(read_inputs(runs[older]), read_inputs(runs[newer]))
