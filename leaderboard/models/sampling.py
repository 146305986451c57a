from django.contrib.postgres.fields import ArrayField
from django.db import models

from leaderboard.models.snapshots import AggregationRun


class SamplingPlan(models.Model):
    """Information gain of one more vote on each pair of a board, replaced by each snapshot."""

    # It is a row, so that drawing a pair does not depend on Valkey.

    scope = models.CharField(max_length=80, primary_key=True)
    run = models.ForeignKey(AggregationRun, models.PROTECT, related_name="+")
    # Ids, and the gains of their pairs in the order (0, 1), (0, 2), …, (1, 2), …
    contestants = ArrayField(models.BigIntegerField())
    gains = ArrayField(models.FloatField())

    class Meta:
        constraints = [
            models.CheckConstraint(
                # n (n − 1) / 2 pairs of n contestants
                condition=models.Q(gains__len=models.F("contestants__len") * (models.F("contestants__len") - 1) / 2),
                name="a_plan_has_a_gain_for_every_pair",
            )
        ]

    def __str__(self) -> str:
        return f"{self.scope} {self.run_id}"
