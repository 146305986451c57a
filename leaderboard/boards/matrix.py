from accounts.models import Team
from leaderboard.boards.queries import newest_run
from leaderboard.counting.board_keys import Board
from leaderboard.counting.pairs import meetings
from leaderboard.models import AggregationRun, Standing
from leaderboard.payload_types import MatrixPayload


def read_matrix(board: str, team: Team | None = None) -> MatrixPayload:
    """Return current results of pairs among the newest snapshot's models. Raises NoSuchBoard."""
    run = newest_run(board, team)
    names = _public_ids(run) if run else {}
    pairs = meetings(Board.of(board, team).scope, among=names.keys())
    return {
        "board": board,
        "snapshot": run.public_id if run else None,
        "models": sorted(names.values()),
        "pairs": [
            {
                "a": names[pair.a],
                "b": names[pair.b],
                "wins_a": pair.wins_a,
                "wins_b": pair.wins_b,
                "ties": pair.ties,
                "both_bad": pair.both_bad,
                "votes": pair.votes,
            }
            for pair in pairs
        ],
    }


def _public_ids(run: AggregationRun) -> dict[int, str]:
    standings = Standing.objects.filter(run=run).select_related("model", "contestant")
    if run.team_id is not None:
        standings = standings.select_related("model__team")
    ids = {}
    for standing in standings:
        if standing.model is not None:
            ids[standing.model.pk] = standing.model.full_slug
        elif standing.contestant is not None:
            ids[standing.contestant.pk] = standing.contestant.name
    return ids
