"""Counted and pending votes, separated by the newest run's number (docs/adr/0043)."""

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
        return cls(after, max(after, newest_order()))

    @property
    def votes(self) -> VoteQuerySet:
        return Vote.objects.filter(order__gt=self.after, order__lte=self.until)

    @property
    def of_site(self) -> VoteQuerySet:
        return self.votes.filter(on_site_boards=True)

    @property
    def skipped(self) -> int:
        return self.votes.filter(on_site_boards=False).count()


def newest_order() -> int:
    return Vote.objects.aggregate(newest=Max("order"))["newest"] or 0


def last_counted() -> int:
    """Return the number of the newest run's last vote. It changes only under the lock of the tallies."""
    return AggregationRun.objects.last_counted_vote()
