from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from battles.models import RoutingDecision


class DecisionOutcome(models.Model):
    """Outcome of a decision as its application reports it: a good answer, or the better of two models."""

    class Better(models.TextChoices):
        MODEL = "model", _("the chosen model")
        RUNNER_UP = "runner_up", _("the second best")

    decision = models.OneToOneField(RoutingDecision, models.CASCADE, related_name="outcome")
    good = models.BooleanField(null=True)
    better = models.CharField(max_length=9, choices=Better, blank=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name = _("reported outcome")
        verbose_name_plural = _("reported outcomes")
        constraints = [
            models.CheckConstraint(
                condition=Q(good__isnull=True) ^ Q(better=""), name="an_outcome_is_good_or_better_not_both"
            )
        ]

    def __str__(self) -> str:
        return f"outcome of {self.decision_id}"
