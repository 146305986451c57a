"""Stored reports that a person may read."""

from django.db.models import QuerySet

from accounts.actor import Actor
from benchmarks import access
from benchmarks.models import Run, RunReport
from benchmarks.reports.store import SO_FAR, report_so_far
from common.text.numbers import parse_whole_number


def readable_reports(actor: Actor, run: Run) -> QuerySet[RunReport]:
    """Return a run's reports, newest first; to others the one that its owner chose."""
    reports = run.reports.order_by("-number")
    if run.published_number is None or access.owns(actor, run):
        return reports
    return reports.filter(number=run.published_number)


def find_report(actor: Actor, run: Run, number: str) -> RunReport | None:
    """Return the newest report, or the one with a number."""
    reports = readable_reports(actor, run).select_related("version")
    if number:
        reports = reports.filter(number=parse_whole_number(number, max_digits=9) or 0)
    return reports.first()


def find_report_or_so_far(actor: Actor, run: Run, number: str) -> RunReport | None:
    """Return a stored report; by the number 0, or without any, the one so far."""
    if number != str(SO_FAR) and (stored := find_report(actor, run, number)):
        return stored
    return report_so_far(run) if number in ("", str(SO_FAR)) and access.owns(actor, run) else None
