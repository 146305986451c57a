"""The next answer that a person grades, drawn and leased, and its grade."""

from datetime import timedelta
from functools import partial

from django.db import IntegrityError, connection, transaction
from django.db.models import F
from django.utils import timezone

from accounts.actor import Actor
from battles.models import Vote
from common.db.execution import violates
from reviews import access
from reviews.actions.lifecycle import close_complete, keep_from_ending
from reviews.actions.people import note_reviewer
from reviews.errors import AlreadyGraded, NoSuchGrade, PersonSetAside, ReviewTakesNoVotes
from reviews.models import GradedAnswer, Review, Reviewer, ReviewGrade
from reviews.sql import read_sql


def next_answer(actor: Actor, review: Review) -> ReviewGrade | None:
    """Return the answer that waits for the person, or a new one; None if nothing is left.

    Raises ReviewTakesNoVotes and PersonSetAside.
    """
    if not review.takes_votes:
        raise ReviewTakesNoVotes
    if note_reviewer(actor, review).set_aside_at is not None:
        raise PersonSetAside
    return _held(actor, review) or _draw(actor, review)


@transaction.atomic
def _held(actor: Actor, review: Review) -> ReviewGrade | None:
    """Return the person's open answer with a new lease."""
    held = ReviewGrade.objects.select_for_update(of=("self",)).filter(review=review, person=actor.key, ended_at=None)
    drawn = held.select_related("answer").first()
    if drawn is None or drawn.excluded_reason:
        return drawn
    if drawn.lease_until is None:
        GradedAnswer.objects.filter(pk=drawn.answer_id).update(leases=F("leases") + 1)
    drawn.lease_until = timezone.now() + ReviewGrade.LEASE
    drawn.save(update_fields=["lease_until"])
    return drawn


def _draw(actor: Actor, review: Review) -> ReviewGrade | None:
    own = ReviewGrade.objects.filter(review=review, person=actor.key)
    if review.most_per_person is not None and own.count() >= review.most_per_person:
        return None
    last = own.order_by("-drawn_at", "-pk").values_list("answer__cluster", flat=True).first()
    parameters: dict[str, int | str | float | None] = {
        "review": review.pk, "person": actor.key, "most": review.opinions_per_item, "last_cluster": last,
        "counts": not access.knows_answers(actor, review), "lease_s": ReviewGrade.LEASE.total_seconds(),
    }  # fmt: skip
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(read_sql("draw_answer.sql"), parameters)
            row = cursor.fetchone()
    except IntegrityError as error:
        if not violates(error, "a_person_has_one_answer_to_grade"):
            raise
        return _held(actor, review)  # drawn in another tab meanwhile
    return None if row is None else ReviewGrade.objects.select_related("answer").get(pk=row[0])


@transaction.atomic
def grade_answer(actor: Actor, review: Review, drawn_id: int, value: int) -> ReviewGrade:
    """Store a grade of an answer that was drawn for the person.

    Raises NoSuchGrade for a value that the review does not take, AlreadyGraded, and ReviewTakesNoVotes.
    """
    if value not in review.grades_taken:
        raise NoSuchGrade
    keep_from_ending(review.public_id)
    held = ReviewGrade.objects.select_for_update(of=("self",)).select_related("review__run")
    drawn = held.filter(pk=drawn_id, review=review, person=actor.key, ended_at=None).first()
    if drawn is None:
        raise AlreadyGraded
    if not drawn.review.takes_votes:
        raise ReviewTakesNoVotes
    released = int(drawn.lease_until is not None)
    drawn.excluded_reason = _reason_not_to_count(actor, drawn)
    drawn.value, drawn.lease_until, drawn.ended_at = value, None, timezone.now()
    drawn.save(update_fields=["value", "excluded_reason", "lease_until", "ended_at"])
    moved = {"leases": F("leases") - released, "grades": F("grades") + int(not drawn.excluded_reason)}
    GradedAnswer.objects.filter(pk=drawn.answer_id).update(**moved)
    transaction.on_commit(partial(close_complete, drawn.review))
    return drawn


def _reason_not_to_count(actor: Actor, drawn: ReviewGrade) -> str:
    reasons = Vote.ExcludedReason
    if access.knows_answers(actor, drawn.review):
        return reasons.KNEW_ANSWERS
    if timezone.now() - drawn.drawn_at < timedelta(seconds=drawn.review.least_seconds):
        return reasons.TOO_FAST
    # The lock: a person is set aside before this grade, or together with it.
    person = Reviewer.objects.select_for_update().filter(review=drawn.review, person=drawn.person).first()
    return reasons.SET_ASIDE if person is not None and person.set_aside_at is not None else ""
