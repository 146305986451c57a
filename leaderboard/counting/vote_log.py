"""Counted and pending votes, separated by the number of the newest run.

A run counts the votes up to its number. No vote can become visible below a number that is visible, since numbers are
taken in the order of commits (docs/adr/0028).
"""

from typing import NamedTuple

from django.db.models import Max

from battles.models import Vote, VoteQuerySet
from leaderboard.models import AggregationRun


class PendingVotes(NamedTuple):
    """Votes with numbers in (after, until], which no run has counted."""

    after: int
    until: int

    @classmethod
    def read(cls) -> "PendingVotes":
        """Read both numbers. Needs the lock of the tallies."""
        after = last_counted()
        newest = Vote.objects.aggregate(newest=Max("order"))["newest"]
        return cls(after, max(after, newest or 0))

    @property
    def votes(self) -> VoteQuerySet:
        return Vote.objects.filter(order__gt=self.after, order__lte=self.until)


def last_counted() -> int:
    """Return the number of the last vote that a run has counted or found excluded.

    Under the lock of the tallies it does not change until the caller's transaction ends.
    """
    return AggregationRun.objects.last_counted_vote()
