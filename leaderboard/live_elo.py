"""Live Elo: every counted vote moves its two models at once, in the vote's own transaction."""

from typing import Any

from django.db import connection
from django.dispatch import receiver

from battles.models import Vote, VoteCounter
from battles.signals import vote_cast
from leaderboard.models import EloRating
from leaderboard.rating import elo

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
FROM leaderboard_elorating AS other, (VALUES (1, %(left)s, %(right)s), (-1, %(right)s, %(left)s)) AS side (sign, me, you)
WHERE mine.model_id = side.me AND other.model_id = side.you
"""


@receiver(vote_cast)
def move_elo(vote: Vote, **_: Any) -> None:
    if vote.counts:
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
    """Compute every rating again from the log, in order, after a vote was retracted or restored."""
    ratings: dict[int, EloRating] = {}
    last = _replay(ratings, after=0)
    # The long part is done while people go on voting; now they wait until what they added is replayed too.
    list(VoteCounter.objects.select_for_update())
    _replay(ratings, after=last)
    EloRating.objects.exclude(pk__in=ratings).delete()
    EloRating.objects.bulk_create(
        [ratings[model_id] for model_id in sorted(ratings)],
        update_conflicts=True,
        unique_fields=["model"],
        update_fields=["rating", "votes", "last_order"],
    )


def _replay(ratings: dict[int, EloRating], *, after: int) -> int:
    """Move `ratings` by the counted votes after that number; returns the last one's."""
    counted = Vote.objects.filter(order__gt=after, excluded_reason__in=["", Vote.ExcludedReason.ANOMALY])
    facts = counted.order_by("order").values_list("model_left_id", "model_right_id", "choice", "order")
    for left, right, choice, order in facts.iterator(chunk_size=10_000):
        for model_id in (left, right):
            if model_id not in ratings:
                ratings[model_id] = EloRating(model_id=model_id)
        _move(ratings, left, right, choice, order)
        after = order
    return after


def _move(ratings: dict[int, EloRating], left_id: int, right_id: int, choice: str, order: int) -> None:
    left, right = ratings[left_id], ratings[right_id]
    left.rating, right.rating = elo.after_vote(left.rating, right.rating, left_share=LEFT_SHARE[choice])
    left.votes, right.votes = left.votes + 1, right.votes + 1
    left.last_order = right.last_order = order
