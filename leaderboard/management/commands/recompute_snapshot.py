import tempfile
from pathlib import Path

from django.core.management.base import BaseCommand, CommandError, CommandParser
from rest_framework.renderers import JSONRenderer

from accounts.management.team_argument import add_team_argument, team_of_argument
from accounts.models import Team
from common.errors import ArenaError
from common.tables.writers import as_jsonl
from leaderboard.boards import snapshots
from leaderboard.exports import selection, verification
from leaderboard.exports.columns import VOTES
from leaderboard.exports.readers import NotAnExport, read_rows

MAX_SHOWN = 100


class Command(BaseCommand):
    help = (
        "Fit a snapshot again from its votes alone and compare every number, to a millionth of a point. With "
        "--standings and --export nothing else is needed: no database, no settings of the arena it comes from."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("snapshot", nargs="?", help="its id; its votes are exported unless --export names them")
        parser.add_argument("--export", type=Path, metavar="FILE", help="its votes: JSON lines, CSV or Parquet")
        parser.add_argument(
            "--standings", type=Path, metavar="FILE", help="the snapshot as the API gives it, instead of an id"
        )
        parser.add_argument("--review", default="", metavar="ID", help="of this review's board")
        add_team_argument(parser)

    def handle(
        self, *args: object, snapshot: str | None, export: Path | None, standings: Path | None, team: str,
        review: str, **options: object,
    ) -> None:  # fmt: skip
        if (snapshot is None) == (standings is None):
            raise CommandError("Which snapshot? Name its id, or the file that --standings names.")
        if standings is not None and export is None:
            raise CommandError("A snapshot from a file needs its votes from a file: --export.")
        try:
            place = team_of_argument(team)
            if standings:
                text = standings.read_bytes()
            else:
                text = JSONRenderer().render(snapshots.read_snapshot(snapshot or "", place, review))
            published = verification.read_published(text)
            with tempfile.TemporaryDirectory() as folder:
                file = export or _export_to(published.id, place, review, Path(folder))
                differences = verification.recompute(published, read_rows(file))
        except (NotAnExport, verification.CannotRecompute) as error:
            raise CommandError(str(error)) from error
        except ArenaError as error:
            raise CommandError(error.detail) from error
        except OSError as error:
            raise CommandError(f"{error.filename} cannot be read: {error.strerror}.") from error
        if differences:
            more = [f"… and {len(differences) - MAX_SHOWN} more."] if len(differences) > MAX_SHOWN else []
            raise CommandError("\n".join([f"Snapshot {published.id} does not agree:", *differences[:MAX_SHOWN], *more]))
        self.stdout.write(
            f"Snapshot {published.id} agrees: {published.board}, {published.votes_counted:,} votes, "
            f"{len(published.results)} models."
        )
        if published.votes_renamed_since:
            self.stdout.write(
                f"{published.votes_renamed_since:,} of its votes were filed under another voter since, as people "
                "signed in or deleted sessions: the design effects of its intervals were believed."
            )


def _export_to(snapshot: str, place: Team | None, review: str, folder: Path) -> Path:
    file, team = folder / "votes.jsonl", None if place is None else place.pk
    with file.open("wb") as out:
        export = selection.open_export(snapshot=snapshot, team=team, series=review)
        out.writelines(as_jsonl(export.batches(), VOTES))
    return file
