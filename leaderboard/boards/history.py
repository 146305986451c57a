from collections.abc import Sequence
from datetime import datetime, timedelta

from django.utils import timezone

from accounts.models import Team
from leaderboard.counting.board_keys import Board
from leaderboard.counting.contestants import full_slug, name_of
from leaderboard.models import AggregationRun, Standing
from leaderboard.payload_types import HistoryPayload, PointPayload, SeriesPayload
from models_registry.models import LanguageModel

WINDOW = timedelta(days=90)
MAX_POINTS = 60


def read_history(board: str, slugs: Sequence[str], team: Team | None = None) -> HistoryPayload:
    """Return scores in the snapshots of WINDOW, oldest first, at most MAX_POINTS; two queries."""
    place = Board.of(board, team)
    snapshots = AggregationRun.objects.snapshots(place.scope, place.team)
    runs = _thinned(list(snapshots.since(timezone.now() - WINDOW)))
    points_by_model: dict[str, list[PointPayload]] = {slug: [] for slug in slugs}
    standings = Standing.objects.filter(run__in=[pk for pk, _, _ in runs], score__isnull=False)
    numbers = ("score", "ci_low", "ci_high", "rank", "votes", "preliminary")
    models = LanguageModel.objects.on_boards_of(place.team).named(slugs).order_by()
    rows = standings.filter(model__in=models).values("run_id", *numbers, name=name_of("model"))
    published = {pk: (public_id, moment) for pk, public_id, moment in runs}
    for row in sorted(rows, key=lambda row: row["run_id"]):
        snapshot, moment = published[row["run_id"]]
        points_by_model[full_slug(row["name"], team.slug if team else "")].append(
            {
                "snapshot": snapshot,
                "computed_at": moment,
                "score": row["score"],
                "ci_low": row["ci_low"],
                "ci_high": row["ci_high"],
                "rank": row["rank"],
                "votes": row["votes"],
                "preliminary": row["preliminary"],
            }
        )
    series: list[SeriesPayload] = [{"model": slug, "points": points} for slug, points in points_by_model.items()]
    return {"board": board, "series": series}


def _thinned(runs: list[tuple[int, str, datetime]]) -> list[tuple[int, str, datetime]]:
    """Return at most MAX_POINTS evenly spread runs. `runs` starts with the newest, which is kept."""
    step = max(1, -(-len(runs) // MAX_POINTS))
    return runs[::step]
