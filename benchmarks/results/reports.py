import msgspec
from django.db import transaction

from benchmarks.models import Run, RunReport
from benchmarks.statistics.payload import ReportPayload


def compute_report(run: Run) -> ReportPayload:
    from benchmarks.results.report_inputs import read_inputs  # both import scipy, which other processes do not need
    from benchmarks.statistics.report import report

    return report(read_inputs(run))


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


def payload_of(report: RunReport) -> ReportPayload:
    return msgspec.convert(report.payload, ReportPayload)
