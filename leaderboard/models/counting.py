from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from battles.models import Vote
from leaderboard.rating import elo
from models_registry.models import LanguageModel


class EloRating(models.Model):
    """Live Elo, updated in each vote's transaction; depends on the votes' order."""

    model = models.OneToOneField(LanguageModel, models.PROTECT, primary_key=True, related_name="elo")
    rating = models.FloatField(default=elo.START)
    votes = models.PositiveIntegerField(default=0)
    last_order = models.PositiveBigIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.rating:.0f}"


class PairTally(models.Model):
    """Number of votes with one outcome for an ordered pair (left, right) on one board."""

    scope = models.CharField(max_length=80)
    # No index on a single model, because tallies are read by scope. No foreign key in the database, here and below:
    # checking them takes longer than counting, and the counted votes have them.
    left = models.ForeignKey(LanguageModel, models.PROTECT, related_name="+", db_index=False, db_constraint=False)
    right = models.ForeignKey(LanguageModel, models.PROTECT, related_name="+", db_index=False, db_constraint=False)
    outcome = models.CharField(max_length=8, choices=Vote.Choice)
    n = models.PositiveIntegerField()

    class Meta:
        verbose_name_plural = _("pair tallies")
        constraints = [
            models.UniqueConstraint(
                fields=["scope", "left", "right", "outcome"], name="a_pair_is_tallied_once_per_outcome"
            ),
            models.CheckConstraint(condition=Q(n__gte=0), name="a_tally_is_never_negative"),
        ]

    def __str__(self) -> str:
        return f"{self.scope} {self.left_id}:{self.right_id} {self.outcome} {self.n}"


class VoterPairTally(models.Model):
    """Number of votes per voter on Overall, for intervals clustered by voter."""

    scope = models.CharField(max_length=80)
    voter = models.CharField(max_length=40)
    left = models.ForeignKey(LanguageModel, models.PROTECT, related_name="+", db_index=False, db_constraint=False)
    right = models.ForeignKey(LanguageModel, models.PROTECT, related_name="+", db_index=False, db_constraint=False)
    outcome = models.CharField(max_length=8, choices=Vote.Choice)
    n = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["scope", "voter", "left", "right", "outcome"],
                name="a_voters_pair_is_tallied_once_per_outcome",
            ),
            models.CheckConstraint(condition=Q(n__gte=0), name="a_voters_tally_is_never_negative"),
        ]

    def __str__(self) -> str:
        return f"{self.scope} {self.voter} {self.left_id}:{self.right_id} {self.outcome} {self.n}"


class TallyCopy(models.Model):
    """All PairTally rows of a board in one value, as of a number in the log; may be missing or outdated.

    last_order, last_change: numbers of the last vote and VoteChange in it. contestants: ids of models. cells: indices
    in (outcome, left, right) of all counts above 0, then these counts; little-endian int32.
    """

    scope = models.CharField(max_length=80, primary_key=True)
    last_order = models.PositiveBigIntegerField()
    last_change = models.PositiveBigIntegerField()
    contestants = ArrayField(models.BigIntegerField())
    cells = models.BinaryField()

    class Meta:
        verbose_name_plural = _("tally copies")

    def __str__(self) -> str:
        return f"{self.scope} {self.last_order}"
