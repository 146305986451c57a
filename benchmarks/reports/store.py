from functools import lru_cache

import msgspec
from django.db import transaction
from django.utils import timezone

from benchmarks.models import Run, RunReport
from benchmarks.statistics.payload import ReportPayload
from common.cache import TTLCached

# Number of a report that is not stored.
SO_FAR = 0
# A report of 100,000 items takes a second, and is then 20 seconds old at most.
MIN_SO_FAR_TTL_S, ITEMS_PER_SO_FAR_S = 5.0, 5_000


def compute_report(run: Run) -> ReportPayload:
    from benchmarks.reports.inputs import read_inputs  # both import scipy, which other processes do not need
    from benchmarks.statistics.figures import compute_figures

    return compute_figures(read_inputs(run))


@transaction.atomic
def store_report(run: Run, report: ReportPayload) -> RunReport:
    """Store a run's newest report, unless the newest has the same inputs."""
    Run.objects.lock(run.pk)
    newest = run.reports.order_by("-number").first()
    if newest is not None and (newest.digest, newest.method) == (report.digest, report.method):
        return newest
    return RunReport.objects.create(
        run=run, number=newest.number + 1 if newest else 1, version=run.scoring_version, digest=report.digest,
        method=report.method, payload=msgspec.to_builtins(report),
    )  # fmt: skip


def read_report(run: Run, number: int | None = None) -> ReportPayload:
    """Return a stored report, by default the newest; compute one if none is stored. Raises RunReport.DoesNotExist."""
    stored = run.reports.order_by("-number")
    if number is not None:
        return payload_of(stored.get(number=number))
    newest = stored.first()
    return compute_report(run) if newest is None else payload_of(newest)


def report_so_far(run: Run) -> RunReport | None:
    """Return an unstored report, seconds old, of a run under way; None for others."""
    if run.state not in (Run.State.RUNNING, Run.State.PAUSED, Run.State.SCORING) or not run.item_count:
        return None
    cached = _so_far(run.pk)
    cached.ttl_s = max(MIN_SO_FAR_TTL_S, run.item_count / ITEMS_PER_SO_FAR_S)
    return cached()


@lru_cache(maxsize=64)
def _so_far(run_id: int) -> TTLCached[RunReport]:
    def compute() -> RunReport:
        run = Run.objects.select_related("version__template", "checks_version").get(pk=run_id)
        report = compute_report(run)
        return RunReport(
            run=run, number=SO_FAR, version=run.scoring_version, digest=report.digest, method=report.method,
            payload=msgspec.to_builtins(report), computed_at=timezone.now(),
        )  # fmt: skip

    return TTLCached(compute, ttl_s=MIN_SO_FAR_TTL_S)


def payload_of(report: RunReport) -> ReportPayload:
    return msgspec.convert(report.payload, ReportPayload)
