"""Benchmark runs under way, for metrics and the administration's first page."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, OuterRef, Subquery, Sum
from django.utils import timezone

from battles.models import Call
from benchmarks.models import Entrant, ProviderPace, Run, RunCount, RunItem
from benchmarks.queries.listing import ItemCounts, progress_of
from benchmarks.queries.run_progress import EntrantProgress, entrant_progress, reasons_to_wait

MAX_RUNS = 20
CALLS_WITHIN = timedelta(hours=1)


@dataclass(frozen=True)
class LiveRun:
    """reasons: why it is paused or its items wait."""

    run: Run
    progress: ItemCounts
    reasons: list[str]


def live_runs() -> list[LiveRun]:
    """Return the oldest first, in a fixed number of queries."""
    runs = list(Run.objects.live().select_related("owner").order_by("pk")[:MAX_RUNS])
    if not runs:
        return []
    entrants: dict[int, list[EntrantProgress]] = defaultdict(list)
    for entrant in Entrant.objects.filter(run__in=runs).select_related("model").prefetch_related("counts"):
        entrants[entrant.run_id].append(entrant_progress(entrant))
    progress = progress_of(runs)
    return [
        LiveRun(
            run,
            progress[run.pk],
            [run.reason_sentence] if run.reason_sentence else reasons_to_wait(run, entrants[run.pk]),
        )
        for run in runs
    ]


def items_by_state() -> dict[str, int]:
    counts = RunCount.objects.filter(entrant__run__in=Run.objects.live()).order_by().values_list("state")
    return dict(counts.annotate(Sum("n")))


def calls_by_outcome(purpose: Call.Purpose = Call.Purpose.ITEM) -> dict[str, int]:
    """Return numbers of calls of the last hour, by error or state."""
    recent = Call.objects.filter(purpose=purpose, started_at__gte=timezone.now() - CALLS_WITHIN)
    counts: dict[str, int] = defaultdict(int)
    for state, error, n in recent.order_by().values_list("state", "error").annotate(Count("pk")):
        counts[error or state] += n
    return counts


def preemptions() -> int:
    """Return how often calls of runs under way made room for people."""
    items = RunItem.objects.filter(entrant__run__in=Run.objects.live(), preempted__gt=0)
    return items.aggregate(n=Sum("preempted"))["n"] or 0


def queue_age_s() -> float:
    """Return for how long the first due item of running runs waits."""
    oldest = RunItem.objects.filter(entrant=OuterRef("pk"), state=RunItem.State.QUEUED).order_by("due_at")
    entrants = Entrant.objects.filter(run__state=Run.State.RUNNING)
    due = entrants.annotate(due=Subquery(oldest.values("due_at")[:1])).values_list("due", flat=True)
    first: datetime | None = min((each for each in due if each is not None), default=None)
    return 0.0 if first is None else max(0.0, (timezone.now() - first).total_seconds())


def paces() -> dict[str, int]:
    """Return how many calls of runs each provider takes at once, as learned."""
    of_site = ProviderPace.objects.filter(provider__team=None)
    return dict(of_site.order_by("provider__name").values_list("provider__name", "allowed"))
