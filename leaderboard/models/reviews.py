"""People whose votes do not look like anyone's, for a person to look at."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from battles.models import Vote, VoteQuerySet


class AnomalyReviewQuerySet(models.QuerySet["AnomalyReview"]):
    def follow(self, votes: VoteQuerySet, voter: str) -> None:
        """Before these votes become another voter's: who takes over all votes of somebody takes over their reviews.

        But for a second open one: there is one at a time.
        """
        keeping_some = Vote.objects.filter(voter__in=votes.values("voter")).exclude(pk__in=votes.values("pk"))
        theirs = self.filter(voter__in=votes.values("voter")).exclude(voter__in=keeping_some.values("voter"))
        if self.filter(voter=voter, state=AnomalyReview.State.OPEN).exists():
            theirs = theirs.exclude(state=AnomalyReview.State.OPEN)
        theirs.update(voter=voter)

    def holding_new_votes(self) -> "AnomalyReviewQuerySet":
        """The newest review of each voter, where it is open or came out against them."""
        newest = self.order_by("voter", "-pk").distinct("voter")
        return self.filter(pk__in=newest.values("pk")).exclude(state=AnomalyReview.State.DISMISSED)


class AnomalyReview(models.Model):
    """One voter's votes under suspicion. They do not count while it is open; the voter is not told."""

    class State(models.TextChoices):
        OPEN = "open", _("open")
        DISMISSED = "dismissed", _("they are fine")
        EXCLUDED = "excluded", _("votes excluded")

    voter = models.CharField(max_length=40)
    state = models.CharField(max_length=9, choices=State, default=State.OPEN)
    # The votes that it set aside, by their numbers.
    orders = ArrayField(models.PositiveBigIntegerField(), default=list)
    # Votes up to this number have been judged: a later review begins after it.
    last_order = models.PositiveBigIntegerField()
    # ln E, and at which of the voter's votes E first reached 1/α (leaderboard.rating.eprocess).
    log_e = models.FloatField()
    crossed = models.PositiveIntegerField()
    # Which bet carries it, in the words of leaderboard.aggregation.anomalies.
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
        """Under which its votes are set aside: while it is open they read as counted."""
        return Vote.ExcludedReason.ANOMALY if self.state == self.State.OPEN else Vote.ExcludedReason.MODERATION
