from io import StringIO
from pathlib import Path

from django.core.management import call_command

from leaderboard.models import AggregationRun


def import_votes(path: Path, *options: str) -> AggregationRun:
    call_command("import_votes", str(path), "--as-models", *options, stderr=StringIO())
    return AggregationRun.objects.published()[0]
