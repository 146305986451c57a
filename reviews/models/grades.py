"""Answers of a run that people grade."""

from datetime import timedelta

import pgtrigger
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from battles.models import Vote
from benchmarks.models import RunItem
from common.db.triggers import refuse_rows
from reviews.models.reviews import Review

_ANSWER_OF_ANOTHER_RUN = """NEW.item_id IS NOT NULL AND NOT EXISTS (
        SELECT FROM benchmarks_runitem AS item JOIN reviews_review AS review ON review.run_id = item.run_id
        WHERE review.id = NEW.review_id AND item.id = NEW.item_id
    )"""
_ANSWER_OF_ANOTHER_REVIEW = """NOT EXISTS (
        SELECT FROM reviews_gradedanswer AS answer WHERE answer.id = NEW.answer_id AND answer.review_id = NEW.review_id
    )"""


class GradedAnswer(models.Model):
    """An answer to grade. A deleted run takes its answers along; the results stay."""

    review = models.ForeignKey(Review, models.CASCADE, related_name="answers", db_index=False)
    item = models.ForeignKey(RunItem, models.SET_NULL, null=True, related_name="+")
    # Position and name of its entrant, and the number of its case's cluster: the results need no more.
    entrant = models.PositiveSmallIntegerField()
    name = models.CharField(max_length=120)
    cluster = models.PositiveIntegerField()
    grades = models.PositiveIntegerField(default=0)
    # Leases under way that become grades.
    leases = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["review", "item"], name="a_review_has_each_answer_once")]
        triggers = [refuse_rows("an_answer_to_grade_is_of_its_run", _ANSWER_OF_ANOTHER_RUN, updated=("item_id",))]

    def __str__(self) -> str:
        return f"{self.review_id}: {self.item_id}"


class ReviewGrade(models.Model):
    """An answer drawn for a person, and their grade."""

    LEASE = timedelta(minutes=15)

    review = models.ForeignKey(Review, models.CASCADE, related_name="grades", db_index=False)
    answer = models.ForeignKey(GradedAnswer, models.CASCADE, related_name="+", db_index=False)
    # Actor.key.
    person = models.CharField(max_length=40)
    # 0 or 1 for correct or incorrect, 1 to 5 stars; null until it is given, and when it is given up.
    value = models.PositiveSmallIntegerField(null=True)
    # A reason of Vote.ExcludedReason.
    excluded_reason = models.CharField(max_length=16, choices=Vote.ExcludedReason, blank=True, default="")
    # While it is held, the answer counts the lease.
    lease_until = models.DateTimeField(null=True)
    drawn_at = models.DateTimeField(db_default=Now())
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["answer", "person"], name="a_person_grades_an_answer_once"),
            models.UniqueConstraint(
                fields=["review", "person"], condition=Q(ended_at=None), name="a_person_has_one_answer_to_grade"
            ),
            models.CheckConstraint(
                condition=Q(ended_at=None) | Q(lease_until=None), name="an_ended_grade_has_no_lease"
            ),
            models.CheckConstraint(
                condition=Q(value=None) | Q(value__range=(0, 5), ended_at__isnull=False),
                name="a_given_grade_is_up_to_five_stars",
            ),
        ]
        indexes = [
            models.Index(fields=["review", "person", "-drawn_at"], name="grades_of_a_reviewer"),
            models.Index(fields=["lease_until"], name="leases_of_grades", condition=Q(lease_until__isnull=False)),
            models.Index(fields=["person"], name="grades_of_reviewers"),
        ]
        triggers = [
            pgtrigger.ReadOnly(name="a_drawn_answer_never_changes", fields=["review", "answer", "drawn_at"]),
            pgtrigger.Protect(
                name="a_given_grade_never_changes", operation=pgtrigger.Update,
                condition=pgtrigger.Q(old__value__isnull=False) & pgtrigger.Q(old__value__df=pgtrigger.F("new__value")),
            ),
            refuse_rows("a_grade_is_of_its_answers_review", _ANSWER_OF_ANOTHER_REVIEW),
        ]  # fmt: skip

    def __str__(self) -> str:
        return f"{self.answer_id} {self.person}"
