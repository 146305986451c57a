from typing import Self

import pgtrigger
from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from benchmarks.models.items import RunItem


class GradeQuerySet(models.QuerySet["Grade"]):
    def counting(self) -> Self:
        """Filter to the latest grade of each item and grader."""
        return self.order_by("item", "grader", "-pk").distinct("item", "grader")


class Grade(models.Model):
    """A person's judgement of an item; the latest of an item and grader counts, all are stored."""

    class Kind(models.TextChoices):
        PASS = "pass", _("correct or incorrect")
        STARS = "stars", _("stars")

    MAX_COMMENT = 2_000

    item = models.ForeignKey(RunItem, models.CASCADE, related_name="grades", db_index=False)
    grader = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="benchmark_grades")
    kind = models.CharField(max_length=5, choices=Kind)
    # 0 or 1 for correct or incorrect, 1 to 5 stars.
    value = models.PositiveSmallIntegerField()
    comment = models.TextField(blank=True, max_length=MAX_COMMENT)
    created_at = models.DateTimeField(db_default=Now())

    objects = GradeQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(kind="pass", value__range=(0, 1)) | Q(kind="stars", value__range=(1, 5)),
                name="a_grade_is_pass_or_fail_or_one_to_five_stars",
            )
        ]
        indexes = [models.Index(fields=["item", "grader", "-id"], name="grades_of_an_item")]
        triggers = [
            pgtrigger.ReadOnly(name="a_grade_never_changes", fields=["item", "kind", "value", "comment", "created_at"]),
            # Deleting an account sets `grader` to NULL.
            pgtrigger.Protect(
                name="a_grade_is_given_to_no_one_else",
                operation=pgtrigger.Update,
                condition=pgtrigger.Q(new__grader__isnull=False)
                & pgtrigger.Q(old__grader__df=pgtrigger.F("new__grader")),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.value} of {self.item_id}"
