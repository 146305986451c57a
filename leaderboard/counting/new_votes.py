"""Votes that no run has counted yet."""

from typing import NamedTuple

from common.db.reading import read_cursor
from leaderboard.counting import schedule, stars
from leaderboard.counting.board_keys import BOARDS_OF_VOTE
from leaderboard.counting.vote_log import last_counted
from leaderboard.models import COMPARE, AggregationRun

# Equal votes are grouped first: there are far fewer combinations of labels and pairs than votes.
_NEW_VOTES = f"""
SELECT scope, model, sum(n)::bigint, max(last) FROM (
    SELECT mode, origin, language, categories, model_left_id, model_right_id, count(*) AS n,
        max("order") AS last
    FROM battles_vote WHERE "order" > %s AND excluded_reason IN ('', 'anomaly') GROUP BY 1, 2, 3, 4, 5, 6
) AS vote CROSS JOIN {BOARDS_OF_VOTE}
CROSS JOIN LATERAL (VALUES (model_left_id), (model_right_id)) AS side (model) GROUP BY 1, 2
"""  # noqa: S608 (constants)


class NewOfModel(NamedTuple):
    votes: int
    last: int  # number of the model's newest vote


class NewVotes(NamedTuple):
    """after: number of the newest run's last vote; boards: new votes by board and model id."""

    after: int
    boards: dict[str, dict[int, NewOfModel]]

    @classmethod
    def read(cls) -> "NewVotes":
        after = last_counted()
        boards: dict[str, dict[int, NewOfModel]] = {}
        with read_cursor() as cursor:
            cursor.execute(_NEW_VOTES, [after])
            for scope, model, votes, last in cursor.fetchall():
                boards.setdefault(scope, {})[model] = NewOfModel(votes, last)
        return cls(after, boards)

    @property
    def last(self) -> int:
        return max((new.last for models in self.boards.values() for new in models.values()), default=self.after)

    def on(self, board: str) -> dict[int, NewOfModel]:
        return self.boards.get(board, {})

    def total(self, board: str) -> int:
        return sum(new.votes for new in self.on(board).values()) // 2


def early_slot() -> str:
    """Return a slot if a young board is due, else ""."""
    new, last_star = NewVotes.read(), stars.last_star()
    newest = {run.scope: run for run in AggregationRun.objects.newest_of_each_board()}
    counted = {scope: run.votes_counted for scope, run in newest.items()}
    counted_stars = newest[COMPARE].last_change if COMPARE in newest else 0
    is_due = schedule.is_early_run_due(counted_stars, last_star - counted_stars) or any(
        schedule.is_early_run_due(counted.get(board, 0), new.total(board)) for board in new.boards
    )
    return f"early: votes to {new.last}, stars to {last_star}" if is_due else ""
