from datetime import date

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q, Value
from django.db.models.functions import Cast, Concat, Now
from django.utils.translation import gettext_lazy as _

from accounts.models import Team, User
from battles.models import Vote, VoteQuerySet
from common.client_ip import keyed_hash
from models_registry.models import LanguageModel

# What identifies the voter or the group of a review.
SUBJECT = ["team_id", "voter", "group", "first_day", "member_key", "model_id"]
# Start of a member_key whose network or inviter is deleted; the row's id follows.
FORGOTTEN = "-"
PSEUDONYM_CHARACTERS = 12


class AnomalyReviewQuerySet(models.QuerySet["AnomalyReview"]):
    def in_place(self, team: int | None) -> "AnomalyReviewQuerySet":
        return self.filter(team=team)

    def move_to_voter(self, votes: VoteQuerySet, voter: str) -> None:
        """Rename the reviews of voters who lose all their votes. Call before `votes` get the new voter.

        An open review stays behind if the new voter has one.
        """
        remaining = Vote.objects.filter(voter__in=votes.values("voter")).exclude(pk__in=votes.values("pk"))
        moved = self.filter(voter__in=votes.values("voter")).exclude(voter__in=remaining.values("voter"))
        for team in self.filter(voter=voter, state=AnomalyReview.State.OPEN).values_list("team", flat=True):
            moved = moved.exclude(state=AnomalyReview.State.OPEN, team=team)
        moved.update(voter=voter)

    def holding_new_votes(self) -> "AnomalyReviewQuerySet":
        """Filter to the newest review of each voter and group, if it holds or excluded votes."""
        newest = self.order_by(*SUBJECT, "-pk").distinct(*SUBJECT)
        return self.filter(pk__in=newest.values("pk"), over_cap=False).exclude(state=AnomalyReview.State.DISMISSED)

    def held_votes(self, team: int | None = None) -> int:
        """Return how many of Overall's votes the open reviews hold."""
        holding = self.filter(team=team, state=AnomalyReview.State.OPEN, over_cap=False)
        orders = holding.values(number=models.Func("orders", function="unnest"))
        overall = Vote.objects.on_overall() if team is None else Vote.objects.on_overall_of_team(team)
        return overall.filter(order__in=orders, excluded_reason=Vote.ExcludedReason.ANOMALY).count()

    def held_in_teams(self) -> list[tuple[str, int]]:
        """Return (pseudonym, votes) of open reviews."""
        rows = (
            self.filter(state=AnomalyReview.State.OPEN).exclude(team=None).values_list("team", "voter", "pk", "orders")
        )
        held = [
            (keyed_hash(f"{team} {voter or pk}")[:PSEUDONYM_CHARACTERS], len(orders))
            for team, voter, pk, orders in rows
        ]
        return sorted(held, key=lambda row: (-row[1], row[0]))

    def forget_networks(self, *, before: date) -> None:
        """Delete the network hashes of groups that came earlier."""
        self.filter(group=AnomalyReview.Group.NETWORK, first_day__lt=before)._forget_member_keys()

    def forget_inviter(self, inviter: User) -> None:
        self.filter(group=AnomalyReview.Group.INVITATION, member_key=inviter.pk)._forget_member_keys()

    def with_known_members(self) -> "AnomalyReviewQuerySet":
        return self.exclude(member_key__startswith=FORGOTTEN)

    def _forget_member_keys(self) -> None:
        # Each review keeps a key of its own.
        self.with_known_members().update(member_key=Concat(Value(FORGOTTEN), Cast("pk", models.CharField())))


class AnomalyReview(models.Model):
    """Suspicion about a voter or a group's votes with a model, not counted while open."""

    class State(models.TextChoices):
        OPEN = "open", _("open")
        DISMISSED = "dismissed", _("they are fine")
        EXCLUDED = "excluded", _("votes excluded")

    class Group(models.TextChoices):
        # The values are those of leaderboard.rating.anomalies.screening.Group.
        NETWORK = "network", _("new voters of one network")
        INVITATION = "invitation", _("new voters invited by one person")
        DAY = "day", _("new voters of one day")
        WEEK = "week", _("new voters of one week")
        MONTH = "month", _("new voters of four weeks")
        FOCUSED = "focused", _("voters whose recent votes are mostly on one model")

    # The team whose own votes it judges; NULL: votes that count for the site.
    team = models.ForeignKey(Team, models.PROTECT, null=True, blank=True, related_name="+", db_index=False)
    # Empty for a group, whose voters are those of its votes.
    voter = models.CharField(max_length=40)
    group = models.CharField(max_length=10, choices=Group, blank=True, default="", db_default="")
    # The first day of the period in which the group's voters came, or concentrated on the model.
    first_day = models.DateField(null=True)
    # The network's hash, or the id of the inviting user; see FORGOTTEN.
    member_key = models.CharField(max_length=40, blank=True, default="", db_default="")
    # The model that a group favours or disfavours.
    model = models.ForeignKey(LanguageModel, models.PROTECT, null=True, related_name="+")
    state = models.CharField(max_length=9, choices=State, default=State.OPEN)
    # Whether its votes count until a decision, because open reviews hold too many already.
    over_cap = models.BooleanField(default=False, db_default=False)
    # Numbers of the votes that it excluded; with over_cap, of those that it would exclude.
    orders = ArrayField(models.PositiveBigIntegerField(), default=list)
    # Number of the last judged vote; a later review judges the votes after it.
    last_order = models.PositiveBigIntegerField()
    # ln E, and the position of the vote at which E first reached its threshold (leaderboard.rating.anomalies).
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
                fields=["team", "voter"],
                condition=Q(state="open", group=""),
                nulls_distinct=False,
                name="a_voter_has_one_open_review_per_place",
            ),
            models.UniqueConstraint(
                fields=["team", "group", "first_day", "member_key", "model"],
                condition=Q(state="open") & ~Q(group=""),
                nulls_distinct=False,
                name="a_group_has_one_open_review_per_model_and_place",
            ),
            models.CheckConstraint(
                condition=Q(group="", first_day=None, model=None)
                | (~Q(group="") & Q(voter="", first_day__isnull=False, model__isnull=False)),
                name="a_review_is_of_a_voter_or_of_a_group_and_a_model",
            ),
        ]
        # Used by reviews of one voter.
        indexes = [
            models.Index(fields=["voter", "-id"], name="newest_review_of_a_voter"),
            models.Index(fields=["team", "-id"], name="reviews_of_a_team", condition=Q(team__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"review {self.pk}"

    @property
    def votes(self) -> VoteQuerySet:
        return Vote.objects.numbered(self.orders)

    @property
    def reason_of_votes(self) -> str:
        """Reason for excluding its votes; voters see votes with reason ANOMALY as counted."""
        return Vote.ExcludedReason.ANOMALY if self.state == self.State.OPEN else Vote.ExcludedReason.MODERATION

    @property
    def counts_its_votes(self) -> bool:
        return self.state == self.State.DISMISSED or self.over_cap
