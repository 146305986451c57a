"""Setting a person's votes aside, and taking them back."""

from datetime import datetime

from django.db import transaction
from django.db.models import Exists, F, OuterRef
from django.utils import timezone

from accounts.actor import Actor
from accounts.models import User
from battles.models import Vote, VoteQuerySet
from common.payload_types import JsonObject
from common.prepared import PreparedQuery
from leaderboard.counting.vote_changes import exclude_votes, include_votes
from reviews.actions.stopping import apply_rule
from reviews.errors import ReviewState
from reviews.models import GradedAnswer, Review, ReviewBattle, Reviewer, ReviewGrade

SET_ASIDE = Vote.ExcludedReason.SET_ASIDE
_known = PreparedQuery(lambda review, person: Reviewer.objects.filter(review=review, person=person), int, str)


def note_reviewer(actor: Actor, review: Review) -> Reviewer:
    """Return the person's row, new at their first battle of a review without codes.

    Raises TooManyRequests for new visitors of a network: each reserves a pair.
    """
    if known := _known(review.pk, actor.key):
        return known[0]
    if actor.user is None and not review.is_joined:
        actor.count("reviewer", fail_open=True)
    return Reviewer.objects.get_or_create(review=review, person=actor.key)[0]


@transaction.atomic
def set_aside(reviewer: Reviewer, *, by: User, because: str, evidence: JsonObject) -> Reviewer:
    """Exclude the person's counted votes; those that follow do not count either. Raises ReviewState."""
    stored = _lock(reviewer)
    if stored.set_aside_at is not None:
        raise ReviewState
    _mark(stored, timezone.now(), by, because, evidence)
    votes = _votes_of(stored).filter(excluded_reason="")
    exclude_votes(votes, reason=SET_ASIDE, by=by, because=because or "set aside by the owner of the review")
    _move_grades(stored, "", SET_ASIDE, -1)
    apply_rule(stored.review)
    return stored


@transaction.atomic
def take_back(reviewer: Reviewer, *, by: User) -> Reviewer:
    """Count the votes again that were left out because the person was set aside. Raises ReviewState."""
    stored = _lock(reviewer)
    if stored.set_aside_at is None:
        raise ReviewState
    _mark(stored, None, None, "", {})
    votes = _votes_of(stored).filter(excluded_reason=SET_ASIDE)
    include_votes(votes, by=by, because="taken back by the owner of the review")
    _move_grades(stored, SET_ASIDE, "", 1)
    apply_rule(stored.review)
    return stored


def leave_out_second_votes(*, before: str, after: str) -> None:
    """Exclude votes of `before` on pairs on which `after`, the same person, has one that counts."""
    ended = ReviewBattle.objects.filter(ended_at__isnull=False, repeats=None, battle__vote__excluded_reason="")
    counted = ended.filter(person=after, review_item=OuterRef("review_item"))
    second = ended.filter(Exists(counted), person=before)
    votes = Vote.objects.filter(battle__in=second.values("battle"))
    exclude_votes(votes, reason=Vote.ExcludedReason.REPEATED, because="voted before signing in, too")


def _lock(reviewer: Reviewer) -> Reviewer:
    """Return the person's row, locked after its review's. Raises ReviewState for a withdrawn review."""
    review = Review.objects.lock(reviewer.review_id)
    if review.state not in (Review.State.OPEN, Review.State.CLOSED):
        raise ReviewState
    return Reviewer.objects.select_for_update().get(pk=reviewer.pk)


def _mark(reviewer: Reviewer, at: datetime | None, by: User | None, because: str, evidence: JsonObject) -> None:
    reviewer.set_aside_at, reviewer.set_aside_by = at, by
    reviewer.because, reviewer.evidence = because, evidence
    reviewer.save(update_fields=["set_aside_at", "set_aside_by", "because", "evidence"])


def _votes_of(reviewer: Reviewer) -> VoteQuerySet:
    battles = ReviewBattle.objects.filter(review=reviewer.review_id, person=reviewer.person)
    return Vote.objects.filter(battle__in=battles.values("battle"))


def _move_grades(reviewer: Reviewer, before: str, after: str, step: int) -> None:
    """Change why the person's grades do not count, and the numbers of their answers."""
    given = ReviewGrade.objects.filter(review=reviewer.review_id, person=reviewer.person, value__isnull=False)
    counted = given.filter(excluded_reason=before).order_by("pk")
    moved = list(counted.select_for_update().values_list("pk", "answer"))
    ReviewGrade.objects.filter(pk__in=[pk for pk, _answer in moved]).update(excluded_reason=after)
    answers = GradedAnswer.objects.filter(pk__in=[answer for _pk, answer in moved])
    # The order of the sweep, which updates many answers, too.
    locked = list(answers.order_by("pk").select_for_update(no_key=True).values_list("pk", flat=True))
    GradedAnswer.objects.filter(pk__in=locked).update(grades=F("grades") + step)
