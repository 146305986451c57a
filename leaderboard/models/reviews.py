from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from battles.models import Vote, VoteQuerySet


class AnomalyReviewQuerySet(models.QuerySet["AnomalyReview"]):
    def move_to_voter(self, votes: VoteQuerySet, voter: str) -> None:
        """Rename the reviews of voters who lose all their votes. Call before `votes` get the new voter.

        An open review stays behind if the new voter has one, because a voter has at most one.
        """
        kept = Vote.objects.filter(voter__in=votes.values("voter")).exclude(pk__in=votes.values("pk"))
        moved = self.filter(voter__in=votes.values("voter")).exclude(voter__in=kept.values("voter"))
        if self.filter(voter=voter, state=AnomalyReview.State.OPEN).exists():
            moved = moved.exclude(state=AnomalyReview.State.OPEN)
        moved.update(voter=voter)

    def holding_new_votes(self) -> "AnomalyReviewQuerySet":
        """Filter to the newest review of each voter, if it is open or excluded their votes."""
        newest = self.order_by("voter", "-pk").distinct("voter")
        return self.filter(pk__in=newest.values("pk")).exclude(state=AnomalyReview.State.DISMISSED)


class AnomalyReview(models.Model):
    """Suspicion about one voter, whose votes do not count while it is open."""

    class State(models.TextChoices):
        OPEN = "open", _("open")
        DISMISSED = "dismissed", _("they are fine")
        EXCLUDED = "excluded", _("votes excluded")

    voter = models.CharField(max_length=40)
    state = models.CharField(max_length=9, choices=State, default=State.OPEN)
    # Numbers of the votes that it excluded.
    orders = ArrayField(models.PositiveBigIntegerField(), default=list)
    # Number of the last judged vote; a later review judges the votes after it.
    last_order = models.PositiveBigIntegerField()
    # ln E, and the position of the vote at which E first reached 1/α (leaderboard.rating.anomalies.eprocess).
    log_e = models.FloatField()
    crossed = models.PositiveIntegerField()
    # The bet that crossed the threshold, with the keys of leaderboard.aggregation.anomalies.
    evidence = models.JSONField(default=dict)
    # Overall with and without these votes: [{model, score: [with, without], rank: [with, without]}], largest first.
    effect = models.JSONField(default=list)
    opened_at = models.DateTimeField(db_default=Now())
    decided_at = models.DateTimeField(null=True)
    decided_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    reason = models.TextField(blank=True)

    objects = AnomalyReviewQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["voter"], condition=Q(state="open"), name="a_voter_is_reviewed_once_at_a_time"
            ),
        ]
        # For AnomalyReviewQuerySet.holding_new_votes.
        indexes = [models.Index(fields=["voter", "-id"], name="newest_review_of_a_voter")]

    def __str__(self) -> str:
        return f"review {self.pk}"

    @property
    def votes(self) -> VoteQuerySet:
        return Vote.objects.filter(order__in=self.orders)

    @property
    def reason_of_votes(self) -> str:
        """Reason for excluding its votes; voters see votes with reason ANOMALY as counted."""
        return Vote.ExcludedReason.ANOMALY if self.state == self.State.OPEN else Vote.ExcludedReason.MODERATION
