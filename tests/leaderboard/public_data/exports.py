from pathlib import Path

from django.core.management import call_command

from leaderboard.export_rows import VoteRow
from leaderboard.exports.readers import read_rows
from leaderboard.models import AggregationRun
from tests.leaderboard.tally_checks import aggregate


def publish(scope: str = "overall") -> AggregationRun:
    """Count the pending votes and return the board's newest snapshot."""
    aggregate()
    return AggregationRun.objects.snapshots(scope)[0]


def export(folder: Path, *options: str, ending: str = "jsonl") -> Path:
    """Export to a new file in `folder`."""
    file = folder / f"{len(list(folder.iterdir()))}.{ending}"
    call_command("export_votes", str(file), *options, stderr=(folder / "progress").open("a"))
    return file


def rows(folder: Path, *options: str, ending: str = "jsonl") -> list[VoteRow]:
    return list(read_rows(export(folder, *options, ending=ending)))
