"""Ends of people, at which a stop rule is evaluated."""

from functools import partial

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

from reviews.actions.contrasts import end_people, evaluate
from reviews.actions.lifecycle import close_complete, close_review
from reviews.models import Review, ReviewBattle, Reviewer


def wait_for(review: Review, person: str, *, begins: bool = False) -> None:
    """begins: also for a person without counted votes so far."""
    if review.has_stop_rule:
        under_way = Reviewer.objects.filter(review=review, person=person, ended_at=None)
        waited_for = under_way if begins else under_way.filter(away_at__isnull=False)
        waited_for.update(away_at=timezone.now() + ReviewBattle.LEASE)


def end_if_done(review: Review, person: str) -> None:
    if not review.has_stop_rule:
        return
    voted = ReviewBattle.objects.filter(review=review, person=person, ended_at__isnull=False, repeats=None).count()
    if voted >= review.most_votes_of_a_person:
        _end(review.pk, Q(person=person))


def end_away_people() -> None:
    reviews = Reviewer.objects.away().order_by("review").values_list("review", flat=True).distinct()
    for review in list(reviews):
        _end(review, Q(away_at__lt=Now()))


@transaction.atomic
def _end(review_id: int, people: Q) -> None:
    review = Review.objects.lock(review_id)
    if review.state == Review.State.OPEN and end_people(Reviewer.objects.filter(people, review=review)):
        apply_rule(review)


@transaction.atomic
def decide_anew(public_id: str) -> None:
    """Decide the contrasts of an open or closed review without or with votes that moderators excluded or restored."""
    stored = Review.objects.filter(public_id=public_id, state__in=(Review.State.OPEN, Review.State.CLOSED))
    if (review := stored.first()) is not None:
        apply_rule(Review.objects.lock(review.pk))


def apply_rule(review: Review) -> None:
    """Close the review if all contrasts are decided, else if its other pairs have their opinions. Needs its lock."""
    is_decided = evaluate(review)
    if review.state != Review.State.OPEN:
        return
    if is_decided:
        close_review(review, by=Review.Ending.DECIDED)
    else:
        transaction.on_commit(partial(close_complete, review))
