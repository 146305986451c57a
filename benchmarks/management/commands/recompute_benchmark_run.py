"""`manage.py recompute_benchmark_run EXPORT`: compute a run's report from its export alone and compare every number."""

from pathlib import Path

from django.core.management.base import BaseCommand, CommandError, CommandParser

from benchmarks.exports import verification
from benchmarks.models import Run
from benchmarks.reports.store import read_report
from benchmarks.statistics.payload import ReportPayload

MAX_SHOWN = 100


class Command(BaseCommand):
    help = (
        "Compute a benchmark run's report again from an export alone and compare every number, to 1e-9. A whole run as "
        "JSON has its report; other exports need --report or --run."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("export", type=Path, help="JSON lines, Parquet, or a whole run as JSON")
        parser.add_argument("--report", type=Path, metavar="FILE", help="a whole run as JSON, whose report is compared")
        parser.add_argument("--run", default="", metavar="ID", help="a run of this arena, whose report is compared")

    def handle(self, *args: object, export: Path, report: Path | None, run: str, **options: object) -> None:
        try:
            stored = _stored(report or export, run)
            computed = verification.recompute_file(export)
        except verification.CannotRecompute as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"{error.filename} cannot be read: {error.strerror}.") from error
        differences = verification.differences(stored, computed)
        if differences:
            more = [f"… and {len(differences) - MAX_SHOWN} more."] if len(differences) > MAX_SHOWN else []
            raise CommandError("\n".join(["The report does not agree:", *differences[:MAX_SHOWN], *more]))
        self.stdout.write(
            f"The report agrees: {len(computed.entrants)} entrants, {computed.cases} cases, {computed.repeats} repeats."
        )


def _stored(file: Path, run: str) -> ReportPayload:
    if not run:
        return verification.read_report_file(file)
    stored_run = Run.objects.filter(public_id=run).first()
    if stored_run is None:
        raise CommandError("There is no such run.")
    return read_report(stored_run)
