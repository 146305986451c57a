"""Reviews of anomalous voters: exclude a voter's votes until a moderator decides.

While a review is open, the voter sees the votes as counted and they still move live Elo, so that the detection cannot
be probed. A decision against the voter excludes later votes, too, until a newer review is dismissed.
"""

from dataclasses import dataclass

from django.db import transaction
from django.db.models.functions import Now

from accounts.models import User
from battles.models import Vote, VoteQuerySet
from common.payload_types import JsonObject
from leaderboard.counting import tallies
from leaderboard.counting.vote_changes import exclude_votes, include_votes
from leaderboard.errors import ReviewIsDecided
from leaderboard.models import AnomalyReview

State = AnomalyReview.State
_AUDIT_REASON = "a voter whose votes do not look like anyone's"


@dataclass(frozen=True)
class Suspect:
    """Voter to review. last_order: number of the last judged vote, which identifies the voter."""

    last_order: int
    log_e: float
    crossed: int
    evidence: JsonObject
    effect: list[JsonObject]


@transaction.atomic
def open_review(suspect: Suspect) -> bool:
    """Exclude the voter's votes until a decision; return False if a review does so already."""
    tallies.lock()
    voter = Vote.objects.get(order=suspect.last_order).voter
    if AnomalyReview.objects.holding_new_votes().filter(voter=voter).exists():
        return False
    review = AnomalyReview.objects.create(
        voter=voter,
        last_order=suspect.last_order,
        log_e=suspect.log_e,
        crossed=suspect.crossed,
        evidence=suspect.evidence,
        effect=suspect.effect,
    )
    dismissed = AnomalyReview.objects.filter(voter=voter, state=State.DISMISSED).order_by("-last_order").first()
    _add_votes(review, Vote.objects.filter(voter=voter, order__gt=dismissed.last_order if dismissed else 0))
    return True


def exclude_pending(pending: VoteQuerySet) -> None:
    """Exclude pending votes of voters under review. The caller holds the lock of the tallies."""
    for review in AnomalyReview.objects.holding_new_votes():
        _add_votes(review, pending.filter(voter=review.voter))


def _add_votes(review: AnomalyReview, votes: VoteQuerySet) -> None:
    excluded = exclude_votes(votes.filter(excluded_reason=""), reason=review.reason_of_votes, because=_AUDIT_REASON)
    if excluded:
        review.orders = sorted({*review.orders, *filter(None, (vote.order for vote in excluded))})
        review.last_order = review.orders[-1]
        review.save(update_fields=["orders", "last_order"])


@transaction.atomic
def decide(review: AnomalyReview, state: str, *, by: User | None, because: str) -> AnomalyReview:
    """Set a first or new decision: DISMISSED counts the review's votes again, EXCLUDED excludes them for good.

    Raises ReviewIsDecided when the review has this state already.
    """
    tallies.lock()
    review = AnomalyReview.objects.select_for_update().get(pk=review.pk)
    if review.state == state:
        raise ReviewIsDecided
    votes = review.votes.filter(excluded_reason=review.reason_of_votes)
    was_dismissed, review.state = review.state == State.DISMISSED, state
    if was_dismissed:
        votes = review.votes.filter(excluded_reason="")
    if state == State.DISMISSED:
        include_votes(votes, by=by, because=because)
    else:
        exclude_votes(votes, reason=review.reason_of_votes, by=by, because=because)
    review.decided_by, review.decided_at, review.reason = by, Now(), because
    review.save(update_fields=["state", "decided_by", "decided_at", "reason"])
    return review
