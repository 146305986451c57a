import sys
from pathlib import Path
from typing import IO

import msgspec
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db.models import QuerySet

from accounts import audit
from accounts.management.team_argument import add_team_argument, team_of_argument
from battles import interactions
from battles.models import Battle
from common.errors import InvalidInput
from common.output_files import complete_file
from leaderboard.exports import battle_records


class Command(BaseCommand):
    help = "Write battles as JSON lines, each with its prompts, answers, models, vote, cost and moderation."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "file", type=Path, nargs="?", default=Path("-"),
            help="a file, readable by its owner only; - or none is standard output",
        )  # fmt: skip
        parser.add_argument("--since", required=True, metavar="TIME", help="battles from this day or time on (UTC)")
        parser.add_argument("--until", default="", metavar="TIME", help="to the end of this day, or before this time")
        add_team_argument(parser)

    def handle(self, *args: object, file: Path, since: str, until: str, team: str, **options: object) -> None:
        battles = Battle.objects.all()
        try:
            battles = battles.filter(created_at__gte=interactions.parse_moment(since))
            if until and (end := interactions.end_of(until)) is not None:
                battles = battles.filter(created_at__lt=end)
        except InvalidInput as error:
            raise CommandError(error.detail) from error
        if (place := team_of_argument(team)) is not None:
            battles = battles.filter(session__team=place)
        chosen = {name: value for name, value in (("since", since), ("until", until), ("team", team)) if value}
        audit.record(None, "export interactions", "battles", **chosen)
        if str(file) == "-":
            _write(battles, sys.stdout.buffer)
            return
        with complete_file(file, is_private=True) as out:
            number = _write(battles, out)
        self.stderr.write(f"{file}: {number:,} battles.")


def _write(battles: QuerySet[Battle], out: IO[bytes]) -> int:
    encoder, number = msgspec.json.Encoder(), 0
    for records in battle_records.batches(battles):
        out.write(encoder.encode_lines(records))
        number += len(records)
    return number
