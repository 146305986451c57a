from collections import Counter
from typing import NamedTuple

from leaderboard.boards.queries import board_payload
from leaderboard.boards.table import format_integer, score_text
from leaderboard.errors import NoSuchSnapshot
from leaderboard.models import AggregationRun
from leaderboard.payload_types import LeaderboardPayload, ResultPayload


class ModelChange(NamedTuple):
    """Texts of a model's change; "–" where it has no score in a snapshot."""

    name: str
    rank: str
    tier: str
    score: str
    change: str
    new_votes: str


class SnapshotChanges(NamedTuple):
    """Two snapshots of a board; before: None for its first one; excluded: {reason: more excluded votes}."""

    before: AggregationRun | None
    after: AggregationRun
    title: str
    new_votes: int
    excluded: dict[str, int]
    same_method: bool
    models: list[ModelChange]


def read_changes(public_id: str, *, since: str = "") -> SnapshotChanges:
    """Return the changes since another snapshot of the same board, without `since` the one before.

    Raises NoSuchSnapshot.
    """
    runs = AggregationRun.objects.published()
    after = runs.filter(public_id=public_id).first()
    if after is None:
        raise NoSuchSnapshot
    of_board = AggregationRun.objects.snapshots(after.scope)
    before = of_board.filter(public_id=since).first() if since else of_board.filter(pk__lt=after.pk).first()
    if before is None and since:
        raise NoSuchSnapshot
    old, new = board_payload(after.scope, before), board_payload(after.scope, after)
    excluded = Counter(new["votes_excluded"])
    excluded.subtract(old["votes_excluded"])
    return SnapshotChanges(
        before,
        after,
        new["title"],
        new["votes_counted"] - old["votes_counted"],
        {reason: number for reason, number in excluded.items() if number},
        before is None or old["method"] == new["method"],
        _model_changes(old, new),
    )


def _model_changes(old: LeaderboardPayload, new: LeaderboardPayload) -> list[ModelChange]:
    """Return changed models, largest change of score first, then those that joined or left."""
    lines = [{line["model"]["id"]: line for line in board["results"]} for board in (old, new)]
    votes = [
        {line["model"]["id"]: line["votes"] for line in (*board["results"], *board["collecting"])}
        for board in (old, new)
    ]
    changes = []
    for model in lines[0].keys() | lines[1].keys():
        before, after = lines[0].get(model), lines[1].get(model)
        moved = _score(after) - _score(before) if before and after else None
        new_votes = votes[1].get(model, 0) - votes[0].get(model, 0)
        if moved or new_votes or moved is None:
            changes.append((-abs(moved) if moved is not None else 1.0, model, _texts(before, after, moved, new_votes)))
    return [texts for _, _, texts in sorted(changes, key=lambda change: change[:2])]


def _texts(before: ResultPayload | None, after: ResultPayload | None, moved: float | None, votes: int) -> ModelChange:
    named = after or before
    assert named is not None
    return ModelChange(
        name=named["model"]["name"],
        rank=_pair(*("–" if not line or line["rank"] is None else str(line["rank"]) for line in (before, after))),
        tier=_pair(*("–" if not line or line["tier"] is None else str(line["tier"]) for line in (before, after))),
        score=_pair(*(score_text(line) if line else "–" for line in (before, after))),
        change="" if moved is None else f"{moved:+.1f}".replace("-", "−"),
        new_votes=f"{'+' if votes > 0 else ''}{format_integer(votes)}".replace("-", "−"),
    )


def _score(line: ResultPayload) -> float:
    return line["score"] or 0.0


def _pair(before: str, after: str) -> str:
    return after if before == after else f"{before} → {after}"
