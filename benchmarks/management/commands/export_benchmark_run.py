"""`manage.py export_benchmark_run RUN FILE`: write a run as a file whose ending says the format."""

from pathlib import Path

from django.core.management.base import BaseCommand, CommandError, CommandParser

from benchmarks.exports.formats import CONTENT_TYPES, INSPECT, WRITERS, file_ending
from benchmarks.exports.run_export import RunExport
from benchmarks.models import Run
from common.output_files import complete_file


class Command(BaseCommand):
    help = "Write a benchmark run as JSON lines, CSV, Parquet, a workbook, one JSON object, or inspect-ai's logs."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("run", help="its public id")
        parser.add_argument("file", type=Path, help=f"ends in {', '.join(f'.{ending}' for ending in CONTENT_TYPES)}")
        parser.add_argument("--wide", action="store_true", help="CSV with a row per case")
        parser.add_argument("--scores-only", action="store_true", help="without prompts, references and replies")

    def handle(self, *args: object, run: str, file: Path, wide: bool, scores_only: bool, **options: object) -> None:
        of_file = max((ending for ending in CONTENT_TYPES if file.name.endswith(f".{ending}")), key=len, default="")
        if not of_file:
            raise CommandError(f"Choose a file that ends in one of {', '.join(CONTENT_TYPES)}.")
        name = INSPECT if of_file.startswith(INSPECT) else of_file
        stored_run = Run.objects.select_related("version__template", "checks_version").filter(public_id=run).first()
        if stored_run is None:
            raise CommandError("There is no such run.")
        if not stored_run.item_count:
            raise CommandError("The run has no items yet.")
        exported = RunExport(stored_run, with_contents=not scores_only, is_wide=wide)
        if (needed := file_ending(exported, name)) != of_file:
            raise CommandError(f"Choose a file that ends in {needed} for a run with {len(exported.entrants)} entrants.")
        with complete_file(file) as out:
            out.writelines(WRITERS[name](exported))
        self.stderr.write(f"{file}: {stored_run.item_count:,} items.")
