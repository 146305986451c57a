"""Reviews of voters: opened when somebody stands out, holding their votes until a person decides.

While a review is open its votes read as counted to the voter and go on moving live Elo, so that nobody can try out
what is noticed. Decided against the voter, they are set aside for good, and so are later ones of the same voter,
until a newer decision.
"""

from dataclasses import dataclass

from django.db import transaction
from django.db.models.functions import Now

from accounts.models import User
from battles.models import Vote, VoteQuerySet
from common.payload_types import JsonObject
from leaderboard.counting import tallies
from leaderboard.counting.vote_changes import put_back, set_aside
from leaderboard.errors import ReviewIsDecided
from leaderboard.models import AnomalyReview

State = AnomalyReview.State
_BECAUSE = "a voter whose votes do not look like anyone's"


@dataclass(frozen=True)
class Suspect:
    """last_order: the last vote that was judged, by which the voter is known; the rest as in AnomalyReview."""

    last_order: int
    log_e: float
    crossed: int
    evidence: JsonObject
    effect: list[JsonObject]


@transaction.atomic
def open_review(suspect: Suspect) -> bool:
    """Hold the voter's votes for a person to look at; False when a review holds them already."""
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
    found_fine = AnomalyReview.objects.filter(voter=voter, state=State.DISMISSED).order_by("-last_order").first()
    _hold(review, Vote.objects.filter(voter=voter, order__gt=found_fine.last_order if found_fine else 0))
    return True


def hold_pending() -> None:
    """Set aside what voters under review have cast since, before it is counted. Under the lock of the tallies."""
    for review in AnomalyReview.objects.holding_new_votes():
        _hold(review, Vote.objects.pending().filter(voter=review.voter))


def _hold(review: AnomalyReview, votes: VoteQuerySet) -> None:
    held = set_aside(votes.filter(excluded_reason=""), reason=review.reason_of_votes, because=_BECAUSE)
    if held:
        review.orders = sorted({*review.orders, *filter(None, (vote.order for vote in held))})
        review.last_order = review.orders[-1]
        review.save(update_fields=["orders", "last_order"])


@transaction.atomic
def decide(review: AnomalyReview, state: str, *, by: User | None, because: str) -> AnomalyReview:
    """DISMISSED: its votes count again. EXCLUDED: they never count. A decision may be replaced by the other.

    Raises ReviewIsDecided when this is what was decided.
    """
    tallies.lock()
    review = AnomalyReview.objects.select_for_update().get(pk=review.pk)
    if review.state == state:
        raise ReviewIsDecided
    held = review.votes.filter(excluded_reason=review.reason_of_votes)
    was_dismissed, review.state = review.state == State.DISMISSED, state
    if was_dismissed:
        held = review.votes.filter(excluded_reason="")
    if state == State.DISMISSED:
        put_back(held, by=by, because=because)
    else:
        set_aside(held, reason=review.reason_of_votes, by=by, because=because)
    review.decided_by, review.decided_at, review.reason = by, Now(), because
    review.save(update_fields=["state", "decided_by", "decided_at", "reason"])
    return review
