"""Live Elo: every counted blind vote moves its two models at once, in the vote's own transaction.

The database does it when it gives the vote its number: trigger elo_moves_with_a_votes_number (leaderboard/sql/elo.sql).
"""

from typing import TYPE_CHECKING

from battles.models import Vote, VoteCounter
from leaderboard.models import EloRating

if TYPE_CHECKING:
    from leaderboard.rating.elo_replay import Replay

LEFT_SHARE: dict[str, float] = {
    Vote.Choice.LEFT: 1.0,
    Vote.Choice.RIGHT: 0.0,
    Vote.Choice.TIE: 0.5,
    Vote.Choice.BOTH_BAD: 0.5,
}


def replay_elo() -> None:
    """Compute every rating again from the log, in order, after votes were set aside or put back."""
    from leaderboard.rating.elo_replay import Replay  # brings numpy, which a web process needs for this alone

    replay = Replay()
    last = _go_on(replay, after=0)
    # The long part is done while people go on voting; now they wait until what they added is replayed too.
    list(VoteCounter.objects.select_for_update())
    _go_on(replay, after=last)
    EloRating.objects.exclude(pk__in=replay.rating).delete()
    EloRating.objects.bulk_create(
        [
            EloRating(model_id=model, rating=rating, votes=replay.votes[model], last_order=replay.last_order[model])
            for model, rating in sorted(replay.rating.items())
        ],
        update_conflicts=True,
        unique_fields=["model"],
        update_fields=["rating", "votes", "last_order"],
    )


def elo_after(last: int) -> dict[int, float]:
    """Everybody's rating, by the models' ids, after the vote with this number: what a snapshot that ends there says.

    Under the lock of the tallies, and with every vote up to `last` committed.
    """
    ratings = list(EloRating.objects.values_list("pk", "rating", "last_order"))
    if all(order <= last for _, _, order in ratings):
        return {model: rating for model, rating, _ in ratings}
    from leaderboard.rating.elo_replay import Replay

    replay = Replay()  # people voted on meanwhile
    _go_on(replay, after=0, until=last)
    return replay.rating


def _go_on(replay: "Replay", *, after: int, until: int = 2**63 - 1) -> int:
    """Replay the counted votes after one number and up to another; returns the last one's."""
    from leaderboard.counting.columns import Column, outcome_column, read_columns

    columns = {
        "order": Column('"order"', 8),
        "left": Column("model_left_id"),
        "right": Column("model_right_id"),
        "outcome": outcome_column("choice"),
    }
    counted = """
        FROM battles_vote WHERE "order" > %(after)s AND "order" <= %(until)s AND mode = 'blind'
        AND excluded_reason IN ('', 'anomaly')
    """
    votes = read_columns(columns, counted, {"after": after, "until": until}, numbered_by='"order"')
    if len(votes["order"]):
        replay.add(**votes)
    return int(votes["order"].max(initial=after))
