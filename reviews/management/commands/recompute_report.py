"""`manage.py recompute_report FILE`: compute a decision report again from its inputs and compare every number."""

from pathlib import Path

from django.core.management.base import BaseCommand, CommandError, CommandParser

from benchmarks.exports.verification import CannotRecompute as CannotRecomputeRun
from leaderboard.exports.readers import NotAnExport
from leaderboard.exports.verification import CannotRecompute as CannotRecomputeSnapshot
from reviews.reports import verification

MAX_SHOWN = 100


class Command(BaseCommand):
    help = (
        "Compute a decision report again from the inputs in its JSON, and compare the checksum and every number. With "
        "--export, compute the inputs again as well: of a run from its export, of a board with --standings from the "
        "snapshot as the API gives it and its votes. No database is needed."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("report", type=Path, help="the report’s JSON")
        parser.add_argument("--export", type=Path, metavar="FILE", help="the run’s export, or the snapshot’s votes")
        parser.add_argument("--standings", type=Path, metavar="FILE", help="the board’s snapshot as the API gives it")

    def handle(
        self, *args: object, report: Path, export: Path | None, standings: Path | None, **options: object
    ) -> None:
        try:
            document, differences = verification.recompute(report.read_bytes())
            if export is not None:
                differences += verification.recompute_inputs(document, export, standings)
        except (verification.NotAReport, CannotRecomputeRun, CannotRecomputeSnapshot, NotAnExport) as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"{error.filename} cannot be read: {error.strerror}.") from error
        if differences:
            more = [f"… and {len(differences) - MAX_SHOWN} more."] if len(differences) > MAX_SHOWN else []
            raise CommandError("\n".join(["The report does not agree:", *differences[:MAX_SHOWN], *more]))
        inputs = "" if export is None else " Its inputs follow from the export."
        self.stdout.write(f"The report agrees: {len(document.figures.lines)} lines, and its checksum.{inputs}")
