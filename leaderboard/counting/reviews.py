"""Reviews of anomalous voters and groups: exclude their votes until a moderator decides.

While a review is open, voters see the votes as counted and they move live Elo, so that detection cannot be probed.
Exclusion covers later votes until a newer review is dismissed. Reviews over a cap of Overall's votes wait; their votes
count meanwhile.
"""

from dataclasses import dataclass, field
from datetime import date

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Sum
from django.db.models.functions import Now
from django.dispatch import receiver

from accounts.models import User
from accounts.personal_data import account_deleting
from battles.models import Vote, VoteQuerySet
from common.payload_types import JsonObject
from leaderboard.counting import tallies
from leaderboard.counting.board_keys import Board
from leaderboard.counting.vote_changes import exclude_votes, include_votes
from leaderboard.counting.vote_log import PendingVotes
from leaderboard.errors import ReviewIsDecided
from leaderboard.models import OVERALL, AnomalyReview, PairTally
from leaderboard.rating.anomalies.held_share import HeldVotes
from leaderboard.sql import read_sql

State = AnomalyReview.State
_AUDIT_REASON = "votes that do not look like anyone's"


@dataclass(frozen=True)
class SuspectGroup:
    group: str
    first_day: date
    member_key: str
    model_id: int
    orders: list[int] = field(repr=False)


@dataclass(frozen=True)
class Suspect:
    """Voter or group to review. last_order: number of the last judged vote, which identifies a voter."""

    last_order: int
    log_e: float
    crossed: int
    evidence: JsonObject
    effect: list[JsonObject]
    of_group: SuspectGroup | None = None
    team: int | None = None


@transaction.atomic
def open_review(suspect: Suspect) -> bool:
    """Exclude votes until a decision, unless the cap is reached; return False for an open review."""
    tallies.lock()
    subject = _subject(suspect)
    if not suspect.of_group and AnomalyReview.objects.holding_new_votes().filter(**subject).exists():
        return False
    review = AnomalyReview.objects.filter(**subject, state=State.OPEN).first()
    is_new = review is None
    review = review or AnomalyReview(**subject)
    was_holding = not is_new and not review.over_cap
    review.log_e, review.crossed = suspect.log_e, suspect.crossed
    review.evidence, review.effect = suspect.evidence, suspect.effect
    review.last_order = max(review.last_order or 0, suspect.last_order)
    votes = _votes_to_hold(review, suspect).filter(excluded_reason="")
    review.over_cap = not was_holding and not _fits_under_cap(review, votes.count())
    if review.over_cap:
        review.orders = sorted(filter(None, votes.values_list("order", flat=True)))
    elif not was_holding:
        review.orders = []
    review.save()
    if not review.over_cap:
        _add_votes(review, votes)
    return is_new


def _subject(suspect: Suspect) -> JsonObject:
    if group := suspect.of_group:
        return {
            "team_id": suspect.team,
            "voter": "",
            "group": group.group,
            "first_day": group.first_day,
            "member_key": group.member_key,
            "model_id": group.model_id,
        }
    return {"team_id": suspect.team, "voter": Vote.objects.get(order=suspect.last_order).voter, "group": ""}


def _votes_to_hold(review: AnomalyReview, suspect: Suspect) -> VoteQuerySet:
    if suspect.of_group:
        return Vote.objects.numbered(suspect.of_group.orders)
    return _votes_since_dismissal(review)


def _votes_since_dismissal(review: AnomalyReview) -> VoteQuerySet:
    reviews = AnomalyReview.objects.in_place(review.team_id)
    dismissed = reviews.filter(voter=review.voter, group="", state=State.DISMISSED)
    newest = dismissed.order_by("-last_order").first()
    votes = Vote.objects.judged_in(review.team_id).filter(voter=review.voter)
    return votes.filter(order__gt=newest.last_order if newest else 0)


def held_percent(held: int, *, counted: int) -> float:
    """Return 100 · held / (held + counted) of a board."""
    return 100 * held / max(held + counted, 1)


def held_percent_of_overall(team: int | None = None) -> float:
    return held_percent(AnomalyReview.objects.held_votes(team), counted=_counted_votes(team))


def _fits_under_cap(review: AnomalyReview, votes: int) -> bool:
    reviews, team = AnomalyReview.objects.all(), review.team_id
    every, of_voters = reviews.held_votes(team), reviews.filter(group="").held_votes(team)
    held = HeldVotes(of_voters, every - of_voters, every + _counted_votes(team))
    return held.leaves_room(votes, is_group=bool(review.group), caps=settings.ARENA_MAX_HELD_SHARE)


def _counted_votes(team: int | None) -> int:
    tallies_of_overall = PairTally.objects.filter(scope=Board(OVERALL, team).scope)
    counted: int = tallies_of_overall.aggregate(votes=Sum("n", default=0))["votes"]
    return counted


@transaction.atomic
def extend(review: AnomalyReview, orders: list[int]) -> bool:
    """Exclude further votes; return whether there are any."""
    tallies.lock()
    review = AnomalyReview.objects.select_for_update().get(pk=review.pk)
    if review.counts_its_votes:
        return False
    return _add_votes(review, Vote.objects.numbered(orders))


def exclude_pending(pending: PendingVotes) -> None:
    """Exclude pending votes under review. The caller holds the lock of the tallies."""
    if pending.after == pending.until:
        return
    holding = list(AnomalyReview.objects.holding_new_votes().values_list("pk", flat=True))
    with connection.cursor() as cursor:
        cursor.execute(read_sql("pending_under_review.sql"), {**pending._asdict(), "reviews": holding})
        orders_by_review: dict[int, list[int]] = dict(cursor.fetchall())
    for review in AnomalyReview.objects.filter(pk__in=orders_by_review):
        _add_votes(review, Vote.objects.numbered(orders_by_review[review.pk]))


def _add_votes(review: AnomalyReview, votes: VoteQuerySet) -> bool:
    excluded = exclude_votes(votes.filter(excluded_reason=""), reason=review.reason_of_votes, because=_AUDIT_REASON)
    if excluded:
        review.orders = sorted({*review.orders, *filter(None, (vote.order for vote in excluded))})
        review.last_order = review.orders[-1]
        review.save(update_fields=["orders", "last_order"])
    return bool(excluded)


@receiver(account_deleting)
def forget_deleted_inviter(user: User, **_: object) -> None:
    AnomalyReview.objects.forget_inviter(user)


@transaction.atomic
def decide(review: AnomalyReview, state: str, *, by: User | None, because: str) -> AnomalyReview:
    """DISMISSED counts the review's votes again, EXCLUDED excludes them for good.

    Raises ReviewIsDecided when the review has this state already.
    """
    tallies.lock()
    review = AnomalyReview.objects.select_for_update().get(pk=review.pk)
    if review.state == state:
        raise ReviewIsDecided
    votes = review.votes.filter(excluded_reason="" if review.counts_its_votes else review.reason_of_votes)
    was_over_cap = review.over_cap
    review.state, review.over_cap = state, False
    if state == State.DISMISSED:
        include_votes(votes, by=by, because=because)
    else:
        exclude_votes(votes, reason=review.reason_of_votes, by=by, because=because)
    review.decided_by, review.decided_at, review.reason = by, Now(), because
    review.save(update_fields=["state", "over_cap", "decided_by", "decided_at", "reason"])
    if was_over_cap and state == State.EXCLUDED and not review.group:
        _add_votes(review, _votes_since_dismissal(review))  # votes that were counted since the last look
    return review
