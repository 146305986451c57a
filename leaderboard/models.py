"""What the votes add up to: live Elo, tallies, aggregation runs and standings."""

import pgtrigger
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from battles.models import Vote
from common.ids import new_public_id
from models_registry.models import LanguageModel

OVERALL = "overall"


class EloRating(models.Model):
    """The live, order-dependent figure of one model; moved in the vote's own transaction."""

    model = models.OneToOneField(LanguageModel, models.PROTECT, primary_key=True, related_name="elo")
    rating = models.FloatField(default=1500)
    votes = models.PositiveIntegerField(default=0)
    last_order = models.PositiveBigIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.rating:.0f}"


class PairTally(models.Model):
    """How often an ordered pair ended how, on one board. Integers: any order or batching gives the same."""

    scope = models.CharField(max_length=80)
    left = models.ForeignKey(LanguageModel, models.PROTECT, related_name="+")
    right = models.ForeignKey(LanguageModel, models.PROTECT, related_name="+")
    outcome = models.CharField(max_length=8, choices=Vote.Choice)
    n = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["scope", "left", "right", "outcome"], name="a_pair_is_tallied_once_per_outcome"
            ),
            models.CheckConstraint(condition=Q(n__gte=0), name="a_tally_is_never_negative"),
        ]

    def __str__(self) -> str:
        return f"{self.scope} {self.left_id}:{self.right_id} {self.outcome} {self.n}"


class VoterPairTally(models.Model):
    """The same counts per voter: what intervals clustered by voter are made of."""

    scope = models.CharField(max_length=80)
    voter = models.CharField(max_length=40)
    left = models.ForeignKey(LanguageModel, models.PROTECT, related_name="+")
    right = models.ForeignKey(LanguageModel, models.PROTECT, related_name="+")
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


class AggregationRun(models.Model):
    """One published snapshot of one board, and how it came about. Immutable once it is done."""

    class State(models.TextChoices):
        RUNNING = "running", _("running")
        DONE = "done", _("done")
        FAILED = "failed", _("failed")

    public_id = models.CharField(max_length=22, unique=True, default=new_public_id, editable=False)
    scope = models.CharField(max_length=80, default=OVERALL)
    # The scheduled moment this run is for: two beats claim the same slot, and the database keeps one.
    slot = models.CharField(max_length=40, unique=True)
    state = models.CharField(max_length=7, choices=State, default=State.RUNNING)
    method = models.CharField(max_length=40)
    parameters = models.JSONField(default=dict)
    parameters_hash = models.CharField(max_length=64)
    tallies_checksum = models.CharField(max_length=64, blank=True)
    last_order = models.PositiveBigIntegerField(default=0)
    votes_taken = models.PositiveIntegerField(default=0)
    votes_counted = models.PositiveBigIntegerField(default=0)
    votes_excluded = models.JSONField(default=dict)
    started_at = models.DateTimeField(db_default=Now())
    finished_at = models.DateTimeField(null=True)
    duration_ms = models.PositiveIntegerField(null=True)
    error = models.TextField(blank=True)

    class Meta:
        ordering = ["-pk"]
        # For the newest snapshot of a board.
        indexes = [models.Index(fields=["scope", "state", "-id"], name="newest_snapshot_of_a_board")]

    def __str__(self) -> str:
        return f"{self.scope} {self.public_id}"


class Standing(models.Model):
    """One model's line in a snapshot. Immutable."""

    run = models.ForeignKey(AggregationRun, models.PROTECT, related_name="standings")
    model = models.ForeignKey(LanguageModel, models.PROTECT, related_name="standings")
    # Null while a model is "n of 5": listed as collecting votes, without a score.
    score = models.FloatField(null=True)
    ci_low = models.FloatField(null=True)
    ci_high = models.FloatField(null=True)
    rank = models.PositiveIntegerField(null=True)
    rank_best = models.PositiveIntegerField(null=True)
    rank_worst = models.PositiveIntegerField(null=True)
    elo = models.FloatField()
    votes = models.PositiveIntegerField()
    wins = models.PositiveIntegerField()
    losses = models.PositiveIntegerField()
    ties = models.PositiveIntegerField()
    both_bad = models.PositiveIntegerField()
    preliminary = models.BooleanField()
    median_first_token_ms = models.PositiveIntegerField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "model"], name="a_model_stands_once_in_a_snapshot")]
        triggers = [
            pgtrigger.Protect(name="a_standing_never_changes", operation=pgtrigger.Update | pgtrigger.Delete)
        ]

    def __str__(self) -> str:
        return f"{self.run_id} {self.model_id}"
