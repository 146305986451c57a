"""What the newest snapshot says about who should meet."""

from django.contrib.postgres.fields import ArrayField
from django.db import models

from leaderboard.models.snapshots import AggregationRun


class SamplingPlan(models.Model):
    """What another vote on each pair would teach one board; each snapshot writes it anew.

    Kept in a row so that drawing a pair needs no arithmetic, and loses nothing when Valkey does.
    """

    scope = models.CharField(max_length=80, primary_key=True)
    run = models.ForeignKey(AggregationRun, models.PROTECT, related_name="+")
    # Ids, and the gains of their pairs row by row: (0, 1), (0, 2), …, (1, 2), …
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
