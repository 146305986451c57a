"""Votes that no run has counted yet."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from django.db import connection

from common.db.reading import read_cursor
from leaderboard.counting import schedule, stars
from leaderboard.counting.board_keys import BOARDS_OF_VOTE, Board
from leaderboard.counting.vote_log import last_counted
from leaderboard.models import COMPARE, OVERALL, AggregationRun

# Equal votes are grouped first: there are far fewer combinations of labels and pairs than votes.
_NEW_VOTES = f"""
SELECT scope, model, sum(n)::bigint, max(last) FROM (
    SELECT mode, origin, language, categories, model_left_id, model_right_id, count(*) AS n,
        max("order") AS last
    FROM battles_vote WHERE "order" > %s AND on_site_boards AND excluded_reason IN ('', 'anomaly')
    GROUP BY 1, 2, 3, 4, 5, 6
) AS vote CROSS JOIN {BOARDS_OF_VOTE}
CROSS JOIN LATERAL (VALUES (model_left_id), (model_right_id)) AS side (model) GROUP BY 1, 2
"""  # noqa: S608 (constants)


# The newest run's last vote, how many up to it are not the site's, and the later ones that are not.
_COUNTED = """
SELECT coalesce(run.last_order, 0), coalesce(run.skipped_orders, 0), ARRAY(
    SELECT "order" FROM battles_vote
    WHERE NOT on_site_boards AND "order" > coalesce(run.last_order, 0) ORDER BY 1
)
FROM (SELECT) AS here LEFT JOIN (
    SELECT last_order, skipped_orders FROM leaderboard_aggregationrun WHERE scope = 'overall'
    ORDER BY last_order DESC, id DESC LIMIT 1
) AS run ON true
"""


_OF_SITE = """
SELECT counter.last_order - coalesce(run.skipped_orders, 0) - (
    SELECT count(*) FROM battles_vote WHERE NOT on_site_boards AND "order" > coalesce(run.last_order, 0)
)
FROM battles_votecounter AS counter LEFT JOIN (
    SELECT last_order, skipped_orders FROM leaderboard_aggregationrun WHERE scope = 'overall'
    ORDER BY last_order DESC, id DESC LIMIT 1
) AS run ON true
"""


class NewOfModel(NamedTuple):
    votes: int
    last: int  # number of the model's newest vote


class NewVotes(NamedTuple):
    """after: in the log, number of the newest run's last vote; boards: new votes by board and model id.

    Other numbers are as shown: skipped and skipped_orders are left out of them, up to `after` and later.
    """

    after: int
    boards: dict[str, dict[int, NewOfModel]]
    skipped: int = 0
    skipped_orders: Sequence[int] = ()

    @classmethod
    def read(cls) -> "NewVotes":
        boards: dict[str, dict[int, NewOfModel]] = {}
        with read_cursor() as cursor:
            cursor.execute(_COUNTED)
            after, skipped, skipped_orders = cursor.fetchone()
            new = cls(after, boards, skipped, skipped_orders)
            cursor.execute(_NEW_VOTES, [after])
            for scope, model, votes, last in cursor.fetchall():
                boards.setdefault(scope, {})[model] = NewOfModel(votes, new.number(last))
        return new

    @property
    def counted_until(self) -> int:
        return self.after - self.skipped

    def number(self, order: int) -> int:
        """Return the shown number, at most counted_until for a counted vote."""
        if order <= self.after:
            return min(order, self.counted_until)
        return order - self.skipped - bisect_right(self.skipped_orders, order)

    @property
    def last(self) -> int:
        return max((new.last for models in self.boards.values() for new in models.values()), default=self.counted_until)

    def on(self, board: str) -> dict[int, NewOfModel]:
        return self.boards.get(board, {})

    def total(self, board: str) -> int:
        return sum(new.votes for new in self.on(board).values()) // 2


def count_of_site() -> int:
    """Return how many votes were ever cast that do not count in a team alone, by the counter that numbers votes."""
    with read_cursor() as cursor:
        cursor.execute(_OF_SITE)
        row = cursor.fetchone()
        return int(row[0]) if row else 0


# Votes on Overall of teams that no run of the site has counted.
_NEW_OF_TEAMS = """
SELECT team_id, array_agg("order") FROM battles_vote
WHERE team_id IS NOT NULL AND "order" > %s AND mode = 'blind' AND origin = 'draw' AND excluded_reason IN ('', 'anomaly')
GROUP BY 1
"""


def teams_due_early() -> set[int]:
    with connection.cursor() as cursor:
        cursor.execute(_NEW_OF_TEAMS, [last_counted()])
        orders: dict[int, list[int]] = dict(cursor.fetchall())
    runs = AggregationRun.objects.newest_of(Board(OVERALL, team).scope for team in orders)
    newest = {team: (votes, last) for team, votes, last in runs.values_list("team", "votes_counted", "last_order")}
    due = set()
    for team, new in orders.items():
        counted, last = newest.get(team, (0, 0))
        if schedule.is_early_run_due(counted, sum(order > last for order in new)):
            due.add(team)
    return due


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
