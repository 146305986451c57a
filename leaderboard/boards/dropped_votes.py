from typing import NamedTuple

from common.db.reading import read_cursor
from leaderboard.counting.board_keys import counts_votes, votes_on
from leaderboard.models import AggregationRun
from leaderboard.rating.snapshot_facts import DropFacts
from leaderboard.sql import read_sql


class DroppedVote(NamedTuple):
    pk: int
    order: int
    left: str
    right: str
    choice: str


def dropped_votes(run: AggregationRun) -> list[DroppedVote]:
    """Return the votes of votes_to_drop_first, oldest first.

    Without those excluded since. Empty for boards of stars and imported votes.
    """
    drop: DropFacts | None = run.facts.get("drops_first")
    if not drop or not counts_votes(run.scope):
        return []
    # A snapshot may have copied the fact from an earlier one, which had not counted later votes.
    computed_by = AggregationRun.objects.get(public_id=run.facts["drops_first_of"])
    is_on_board, parameters = votes_on(run.scope)
    columns = {name: [kind[name] for kind in drop["ballots"]] for name in ("left", "right", "outcome", "votes")}
    with read_cursor() as cursor:
        cursor.execute(
            read_sql("dropped_votes.sql", is_on_board=is_on_board),
            {**parameters, **columns, "last": computed_by.last_order},
        )
        return [DroppedVote(*row) for row in cursor.fetchall()]
