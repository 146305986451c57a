import pgtrigger
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Greatest, Least
from django.utils.translation import gettext_lazy as _

from models_registry.models import LanguageModel
from reviews.models.reviews import Review


class ContrastQuerySet(models.QuerySet["Contrast"]):
    def with_models(self) -> "ContrastQuerySet":
        return self.select_related("first_model__team", "second_model__team").order_by("pk")


class Contrast(models.Model):
    """A pair of models about which a review's stop rule decides, and its state after the people who ended."""

    class Decision(models.TextChoices):
        BETTER = "better", _("better")
        WORSE = "worse", _("worse")
        EQUAL = "equal", _("equal")
        NOT_DECIDED = "not_decided", _("not decided")

    review = models.ForeignKey(Review, models.CASCADE, related_name="contrasts", db_index=False)
    first_model = models.ForeignKey(LanguageModel, models.PROTECT, related_name="+", db_index=False)
    second_model = models.ForeignKey(LanguageModel, models.PROTECT, related_name="+", db_index=False)
    decision = models.CharField(max_length=11, choices=Decision, default=Decision.NOT_DECIDED)
    # Number of people.
    decided_after = models.PositiveIntegerField(null=True)
    people = models.PositiveIntegerField(default=0)
    opinions = models.PositiveIntegerField(default=0)
    # Mean over people for the first model, null without people, and its bounds that hold at all times together.
    mean = models.FloatField(null=True)
    low = models.FloatField(default=0)
    high = models.FloatField(default=1)

    objects = ContrastQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                F("review"), Least("first_model", "second_model"), Greatest("first_model", "second_model"),
                name="a_pair_of_models_is_one_contrast",
            ),
            models.CheckConstraint(
                condition=~Q(first_model=F("second_model")), name="a_contrast_is_of_two_models"
            ),
            models.CheckConstraint(
                condition=Q(decision="not_decided", decided_after=None)
                | (~Q(decision="not_decided") & Q(decided_after__gte=8)),
                name="a_contrast_is_decided_by_eight_people",
            ),
        ]  # fmt: skip
        triggers = [
            pgtrigger.ReadOnly(
                name="a_contrast_stays_about_its_models", fields=["review", "first_model", "second_model"]
            ),
        ]

    def __str__(self) -> str:
        return f"{self.review_id}: {self.first_model_id} {self.second_model_id}"

    @property
    def pair(self) -> tuple[int, int]:
        return min(self.first_model_id, self.second_model_id), max(self.first_model_id, self.second_model_id)

    @property
    def is_decided(self) -> bool:
        return self.decision != self.Decision.NOT_DECIDED

    @property
    def percents(self) -> tuple[int, int, int] | None:
        # Mean, low, high.
        return None if self.mean is None else (round(100 * self.mean), round(100 * self.low), round(100 * self.high))
