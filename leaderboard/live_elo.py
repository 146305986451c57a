"""Live Elo: every counted blind vote moves its two models at once, in the vote's own transaction."""

from typing import TYPE_CHECKING, Any

from django.db import connection
from django.dispatch import receiver

from battles.models import Battle, Vote, VoteCounter
from battles.signals import vote_cast
from leaderboard.models import EloRating
from leaderboard.rating import elo

if TYPE_CHECKING:
    from leaderboard.rating.elo_replay import Replay

LEFT_SHARE: dict[str, float] = {
    Vote.Choice.LEFT: 1.0,
    Vote.Choice.RIGHT: 0.0,
    Vote.Choice.TIE: 0.5,
    Vote.Choice.BOTH_BAD: 0.5,
}


# One statement, elo.after_vote in SQL: every other vote waits. Both rows are read as the last vote left them, because
# whoever writes ratings holds the counter, which this vote's number has locked.
_MOVE = """
UPDATE leaderboard_elorating AS mine
SET rating = mine.rating + side.sign * %(k)s::float8 * (
        %(share)s::float8 - 1 / (1 + power(10::float8, side.sign * (other.rating - mine.rating) / 400))
    ),
    votes = mine.votes + 1, last_order = %(order)s
FROM leaderboard_elorating AS other,
    (VALUES (1, %(left)s, %(right)s), (-1, %(right)s, %(left)s)) AS side (sign, me, you)
WHERE mine.model_id = side.me AND other.model_id = side.you
"""


@receiver(vote_cast)
def move_elo(vote: Vote, **_: Any) -> None:
    if vote.counts and vote.mode == Battle.Mode.BLIND:
        facts = {
            "k": elo.K,
            "left": vote.model_left_id,
            "right": vote.model_right_id,
            "share": LEFT_SHARE[vote.choice],
            "order": vote.order,
        }
        with connection.cursor() as cursor:
            cursor.execute(_MOVE, facts)
            if cursor.rowcount < 2:  # the first vote of one of them
                _make_missing(vote.model_left_id, vote.model_right_id)
                cursor.execute(_MOVE, facts)


def _make_missing(*model_ids: int) -> None:
    missing = [EloRating(model_id=model_id) for model_id in sorted(model_ids)]
    EloRating.objects.bulk_create(missing, ignore_conflicts=True)


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
    from leaderboard.packed import PIECE, place_of_outcome, read_packed

    columns = {
        "order": ('"order"', 8),
        "left": ("model_left_id", 8),
        "right": ("model_right_id", 8),
        "outcome": place_of_outcome("choice"),
    }
    counted = """
        FROM battles_vote WHERE "order" > %(after)s AND "order" <= %(until)s AND mode = 'blind'
        AND excluded_reason IN ('', 'anomaly')
    """
    votes = read_packed(columns, counted, {"after": after, "until": until}, piece=f'"order" / {PIECE}')
    if len(votes["order"]):
        replay.add(**votes)
    return int(votes["order"].max(initial=after))
