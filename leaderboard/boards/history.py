"""How standings moved from snapshot to snapshot."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.utils import timezone

from leaderboard.models import AggregationRun, Standing
from leaderboard.payload_types import HistoryPayload, PointPayload

WINDOW = timedelta(days=90)
POINTS = 60


def read_history(board: str, slugs: Sequence[str]) -> HistoryPayload:
    """Each model's standing in the board's snapshots of the last 90 days, thinned evenly to 60; two queries.

    {"board", "series": [{"model": slug, "points": [{"snapshot", "computed_at", "score", …}]}]}, oldest first.
    """
    runs = _thinned(list(AggregationRun.objects.snapshots(board).since(timezone.now() - WINDOW)))
    found: dict[str, list[PointPayload]] = {slug: [] for slug in slugs}
    standings = Standing.objects.filter(run__in=[pk for pk, _, _ in runs], score__isnull=False)
    numbers = ("score", "ci_low", "ci_high", "rank", "votes", "preliminary")
    rows = standings.filter(model__slug__in=slugs).values("run_id", "model__slug", *numbers)
    published = {pk: (public_id, moment) for pk, public_id, moment in runs}
    for row in sorted(rows, key=lambda row: row["run_id"]):
        snapshot, moment = published[row["run_id"]]
        found[row["model__slug"]].append(
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
    return {"board": board, "series": [{"model": slug, "points": points} for slug, points in found.items()]}


def _thinned(runs: list[tuple[int, str, datetime]]) -> list[tuple[int, str, datetime]]:
    """At most POINTS of them, evenly spread; `runs` come newest first, and the newest is among them."""
    step = max(1, -(-len(runs) // POINTS))
    return runs[::step]
