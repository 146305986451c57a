from datetime import datetime
from typing import TypedDict

from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.dispatch import receiver

from accounts.actor import Actor, actor_keys
from accounts.claims import visitor_claimed
from accounts.models import User, Visitor
from accounts.personal_data import account_deleting, personal_data_requested
from battles.actions.stored_battles import show_names
from common.ids import new_public_id
from reviews.actions.people import leave_out_second_votes
from reviews.models import Review, ReviewBattle, Reviewer, ReviewGrade, RunReader
from reviews.second_opinions.actions import delete_copies


class ExportedReview(TypedDict):
    """battle: of a second opinion."""

    id: str
    battle: str | None
    title: str
    instructions: str
    audience: str
    state: str
    created_at: datetime


class AnsweredQuestion(TypedDict):
    """answer: null for one that was skipped."""

    review: str
    battle: str
    question: str
    answer: str | None


class JoinedReview(TypedDict):
    id: str
    title: str
    nickname: str
    joined_at: datetime


@receiver(personal_data_requested)
def export_joined_reviews(user: User, **_: object) -> dict[str, list[JoinedReview]]:
    joined = Reviewer.objects.filter(person__in=actor_keys(user)).select_related("review").order_by("pk")
    return {
        "joined_reviews": [
            {
                "id": row.review.public_id, "title": row.review.title, "nickname": row.nickname,
                "joined_at": row.joined_at,
            }
            for row in joined
        ]
    }  # fmt: skip


class GivenGrade(TypedDict):
    """review: its id. asks_for: what the value is."""

    review: str
    asks_for: str
    value: int
    graded_at: datetime


@receiver(personal_data_requested)
def export_grades(user: User, **_: object) -> dict[str, list[GivenGrade]]:
    given = ReviewGrade.objects.filter(person__in=actor_keys(user)).order_by("pk")
    rows = given.values_list("review__public_id", "review__asks_for", "value", "ended_at")
    return {
        "grades_in_reviews": [
            {"review": review, "asks_for": asks_for, "value": value, "graded_at": graded_at}
            for review, asks_for, value, graded_at in rows
            if value is not None and graded_at is not None
        ]
    }


@receiver(personal_data_requested)
def export_answers(user: User, **_: object) -> dict[str, list[AnsweredQuestion]]:
    answered = ReviewBattle.objects.filter(person__in=actor_keys(user), answers__isnull=False, battle__isnull=False)
    rows = answered.order_by("pk").values_list("review__public_id", "battle__public_id", "review__questions", "answers")
    return {
        "review_answers": [
            {
                "review": review, "battle": battle, "question": question["text"],
                "answer": None if answer is None else question["steps"][answer - 1],
            }
            for review, battle, questions, answers in rows
            for question, answer in zip(questions, answers or (), strict=True)
        ]
    }  # fmt: skip


@receiver(personal_data_requested)
def export_reviews(user: User, **_: object) -> dict[str, list[ExportedReview]]:
    reviews = Review.objects.filter(owner=user, team=None).select_related("battle").order_by("pk")
    exported: list[ExportedReview] = [
        {
            "id": review.public_id, "battle": None if review.battle is None else review.battle.public_id,
            "title": review.title, "instructions": review.instructions,
            "audience": review.audience, "state": review.state, "created_at": review.created_at,
        }
        for review in reviews
    ]  # fmt: skip
    return {"reviews": exported}


@receiver(account_deleting)
def delete_reviews(user: User, **_: object) -> None:
    """Delete personal reviews; the votes of others stay in the log. Opinions on others' reviews lose their person."""
    own = Review.objects.filter(owner=user, team=None)
    # The lock keeps further copies from being made.
    for review in own.exclude(battle=None).select_for_update():
        delete_copies(review)
    for series in own.values_list("public_id", flat=True):
        show_names(series)
    own.delete()
    for key in actor_keys(user):
        nameless = f"deleted:{new_public_id()}"
        ReviewBattle.objects.filter(person=key).update(person=nameless)
        # The order of locks: a grade under way, its person, grades that are moved when a person is set aside.
        ReviewGrade.objects.filter(person=key, ended_at=None).update(person=nameless)
        Reviewer.objects.filter(person=key).update(person=nameless, nickname="", network="")
        ReviewGrade.objects.filter(person=key).update(person=nameless)
        RunReader.objects.filter(person=key).delete()


@receiver(visitor_claimed)
def transfer_to_member(visitor: Visitor, user: User, **_: object) -> None:
    _transfer_battles(before=Actor(visitor=visitor).key, after=Actor(user=user).key)


@transaction.atomic
def _transfer_battles(*, before: str, after: str) -> None:
    """Give a visitor's battles to a member, but not those on pairs or in reviews in which the member has one.

    Opinions in a review with a stop rule stay with the visitor if both take part in it: each ends as one person, and
    a mean must not change after its end.
    """
    leave_out_second_votes(before=before, after=after)
    own = ReviewBattle.objects.filter(person=after)
    is_judged = Exists(own.filter(review_item=OuterRef("review_item")))
    has_open = Exists(own.filter(review=OuterRef("review"), ended_at=None))
    of_visitor = ReviewBattle.objects.filter(person=before).exclude(is_judged)
    joined = Reviewer.objects.filter(person=after, review=OuterRef("review"))
    ends_apart = Q(Exists(joined), review__stop_share__isnull=False)
    of_visitor.filter(ended_at__isnull=False).exclude(ends_apart).update(person=after)
    of_visitor.filter(ended_at=None).exclude(has_open).update(person=after)
    graded = ReviewGrade.objects.filter(person=after)
    is_graded = Exists(graded.filter(answer=OuterRef("answer")))
    has_open_grade = Exists(graded.filter(review=OuterRef("review"), ended_at=None))
    grades = ReviewGrade.objects.filter(person=before).exclude(is_graded)
    # The order of locks is that of delete_reviews.
    grades.filter(ended_at=None).exclude(has_open_grade).update(person=after)
    Reviewer.objects.filter(person=before).exclude(Exists(joined)).update(person=after)
    grades.filter(ended_at__isnull=False).update(person=after)
    readers = RunReader.objects.filter(person=before)
    known = RunReader.objects.filter(person=after, run=OuterRef("run"))
    readers.exclude(Exists(known)).update(person=after)
