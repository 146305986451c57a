from collections import Counter
from typing import NamedTuple

from accounts.models import Team
from leaderboard.boards.cells import format_integer, score_text
from leaderboard.boards.queries import board_payload
from leaderboard.boards.standings import model_label
from leaderboard.counting.board_keys import Board
from leaderboard.errors import NoSuchSnapshot
from leaderboard.models import AggregationRun
from leaderboard.payload_types import LeaderboardPayload, MethodPayload, ResultPayload


class ModelChange(NamedTuple):
    """Texts of a model's change; "–" where it has no score in a snapshot."""

    name: str
    rank: str
    tier: str
    score: str
    change: str
    new_votes: str


class SnapshotChanges(NamedTuple):
    """Two snapshots of a board; before: None for its first one; excluded: {reason: more excluded votes}.

    name: of the board. method: texts of what differs in it.
    """

    before: AggregationRun | None
    after: AggregationRun
    name: str
    title: str
    new_votes: int
    excluded: dict[str, int]
    method: list[str]
    models: list[ModelChange]


def read_changes(public_id: str, *, since: str = "", team: Team | None = None) -> SnapshotChanges:
    """Compare with another snapshot of the board, by default the one before.

    Raises NoSuchSnapshot.
    """
    runs = AggregationRun.objects.published(team=None if team is None else team.pk)
    after = runs.filter(public_id=public_id).first()
    if after is None:
        raise NoSuchSnapshot
    of_board, name = runs.filter(scope=after.scope), Board.parse(after.scope).name
    before = of_board.filter(public_id=since).first() if since else of_board.filter(pk__lt=after.pk).first()
    if before is None and since:
        raise NoSuchSnapshot
    for run in filter(None, (before, after)):
        run.team = team
    old, new = board_payload(name, before), board_payload(name, after)
    excluded = Counter(new["votes_excluded"])
    excluded.subtract(old["votes_excluded"])
    return SnapshotChanges(
        before,
        after,
        name,
        new["title"],
        new["votes_counted"] - old["votes_counted"],
        {reason: number for reason, number in excluded.items() if number},
        _method_changes(old["method"], new["method"]) if before else [],
        _model_changes(old, new),
    )


def _method_changes(old: MethodPayload, new: MethodPayload) -> list[str]:
    """Return the names, if they differ, and each parameter that does."""
    names = [] if old["name"] == new["name"] else [_pair(old["name"], new["name"])]
    before, after = old["parameters"], new["parameters"]
    return names + [
        f"{name} {_pair(*(str(parameters.get(name, '–')) for parameters in (before, after)))}"
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    ]


def _model_changes(old: LeaderboardPayload, new: LeaderboardPayload) -> list[ModelChange]:
    """Largest change of score first, then models that joined or left."""
    lines = [{line["model"]["id"]: line for line in board["results"]} for board in (old, new)]
    votes = [
        {line["model"]["id"]: line["votes"] for line in (*board["results"], *board["collecting"])}
        for board in (old, new)
    ]
    changes = []
    for model in lines[0].keys() | lines[1].keys():
        before, after = lines[0].get(model), lines[1].get(model)
        moved = _moved_by(before, after)
        new_votes = votes[1].get(model, 0) - votes[0].get(model, 0)
        if moved or new_votes or moved is None:
            changes.append((-abs(moved) if moved is not None else 1.0, model, _texts(before, after, moved, new_votes)))
    return [texts for _, _, texts in sorted(changes, key=lambda change: change[:2])]


def _texts(before: ResultPayload | None, after: ResultPayload | None, moved: float | None, votes: int) -> ModelChange:
    named = after or before
    assert named is not None
    return ModelChange(
        name=model_label(named["model"]),
        rank=_pair(*("–" if not line or line["rank"] is None else str(line["rank"]) for line in (before, after))),
        tier=_pair(*("–" if not line or line["tier"] is None else str(line["tier"]) for line in (before, after))),
        score=_pair(*(score_text(line) if line else "–" for line in (before, after))),
        change="" if moved is None else f"{moved:+.1f}".replace("-", "−"),
        new_votes=f"{'+' if votes > 0 else ''}{format_integer(votes)}".replace("-", "−"),
    )


def _moved_by(before: ResultPayload | None, after: ResultPayload | None) -> float | None:
    """None without a score in a snapshot."""
    old, new = (line["score"] if line else None for line in (before, after))
    return None if old is None or new is None else new - old


def _pair(before: str, after: str) -> str:
    return after if before == after else f"{before} → {after}"
