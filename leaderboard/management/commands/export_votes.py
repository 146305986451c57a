import sys
from pathlib import Path
from typing import IO, Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.management.team_argument import add_team_argument, team_of_argument
from common.errors import ArenaError
from common.output_files import complete_file
from common.tables.writers import WRITERS
from leaderboard.exports import selection


class Command(BaseCommand):
    help = "Write votes as JSON lines, CSV or Parquet: all that were cast, those since a time, or a snapshot's."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="its ending says the format; - is standard output")
        parser.add_argument("--as", dest="ending", choices=WRITERS, help="the format, for standard output")
        parser.add_argument("--snapshot", default="", metavar="ID", help="what this snapshot was computed from")
        parser.add_argument(
            "--since", default="", metavar="TIME", help="a time, or the number of the last vote you have"
        )
        parser.add_argument("--review", default="", metavar="ID", help="of this review's board")
        add_team_argument(parser)
        parser.add_argument("--prompts", action="store_true", help="with prompts and answers, where there is consent")

    def handle(
        self, *args: object, file: Path, ending: str | None, snapshot: str, since: str, prompts: bool, team: str,
        review: str, **options: object,
    ) -> None:  # fmt: skip
        ending = ending or file.suffix.removeprefix(".")
        if ending not in WRITERS:
            raise CommandError(f"Choose a file that ends in one of {', '.join(WRITERS)}, or say --as.")
        try:
            place = team_of_argument(team)
            team_id = None if place is None else place.pk
            export = selection.open_export(snapshot=snapshot, since=since, prompts=prompts, team=team_id, series=review)
        except ArenaError as error:
            raise CommandError(error.detail) from error
        if str(file) == "-":
            self._write(export, ending, sys.stdout.buffer)
            return
        with complete_file(file) as out:
            rows = self._write(export, ending, out)
        self.stderr.write(f"{file}: {rows:,} rows.")

    def _write(self, export: selection.Export, ending: str, out: IO[bytes]) -> int:
        rows = 0

        def counting_batches() -> Any:
            nonlocal rows
            for batch in export.batches():
                rows += len(batch)
                self.stderr.write(f"{rows:,} rows", ending="\r")
                yield batch

        for chunk in WRITERS[ending](counting_batches(), export.table):
            out.write(chunk)
        return rows
