import pgtrigger
from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from accounts.models import Team
from common.db.triggers import refuse_rows
from common.ids import new_public_id
from leaderboard.models import AggregationRun

SNAPSHOT_FACTS = [
    "public_id", "slot", "state", "method", "features_version", "board", "parameters", "prices", "heads", "votes",
    "trained_until", "checksum", "seconds", "message", "created_at", "team",
]  # fmt: skip
_BOARD_IS_ANOTHER_PLACES = """EXISTS (
        SELECT FROM leaderboard_aggregationrun
        WHERE id = NEW.board_id AND team_id IS NOT NULL AND team_id IS DISTINCT FROM NEW.team_id
    )"""


class RouterSnapshotQuerySet(models.QuerySet["RouterSnapshot"]):
    def in_place(self, team_id: int | None) -> "RouterSnapshotQuerySet":
        """Filter to those of the team; None: of the site."""
        return self.filter(team=team_id)

    def published(self) -> "RouterSnapshotQuerySet":
        """Filter to trained routers, newest first."""
        return self.filter(state=RouterSnapshot.State.PUBLISHED).order_by("-pk")


class RouterSnapshot(models.Model):
    """Result of one training; immutable. The newest published one of a place decides there.

    A team without one has the site's.
    """

    class State(models.TextChoices):
        PUBLISHED = "published", _("published")
        FEW_VOTES = "few_votes", _("too few votes")
        WORSE = "worse", _("not better than the one before")
        FAILED = "failed", _("failed")

    public_id = models.CharField(max_length=22, unique=True, default=new_public_id, editable=False)
    # None: the site.
    team = models.ForeignKey(Team, models.PROTECT, null=True, editable=False, related_name="+", verbose_name=_("team"))
    # The scheduled time or the request of this training.
    slot = models.CharField(max_length=60, unique=True)
    state = models.CharField(max_length=9, choices=State)
    method = models.CharField(max_length=40, blank=True)
    features_version = models.CharField(max_length=40, blank=True)
    board = models.ForeignKey(AggregationRun, models.PROTECT, null=True, related_name="+")
    # routing.learning.router.Router.to_bytes; empty unless published.
    parameters = models.BinaryField(default=bytes)
    # λ of 21 dials from 0 to 1: chances of winning per US dollar.
    prices = models.JSONField(default=list)
    # {name, passed, gain, lower_bound, scale} of each head.
    heads = models.JSONField(default=list)
    votes = models.PositiveIntegerField(default=0)
    # Number of the last vote that was read.
    trained_until = models.PositiveBigIntegerField(default=0)
    checksum = models.CharField(max_length=64, blank=True)
    seconds = models.FloatField(default=0)
    message = models.TextField(blank=True)
    created_at = models.DateTimeField(db_default=Now())

    objects = RouterSnapshotQuerySet.as_manager()

    class Meta:
        verbose_name = _("training of auto mode")
        verbose_name_plural = _("trainings of auto mode")
        ordering = ["-pk"]
        triggers = [
            pgtrigger.ReadOnly(name="a_router_snapshot_never_changes", fields=SNAPSHOT_FACTS),
            refuse_rows(
                "a_router_snapshots_board_is_of_its_place",
                _BOARD_IS_ANOTHER_PLACES,
                condition=pgtrigger.Q(new__board__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return self.public_id


class RouterEvaluation(models.Model):
    public_id = models.CharField(max_length=22, unique=True, default=new_public_id, editable=False)
    snapshot = models.ForeignKey(RouterSnapshot, models.PROTECT, null=True, related_name="evaluations")
    # Name of the file, or "" for the arena's votes.
    source = models.CharField(max_length=200, blank=True)
    votes = models.PositiveIntegerField(default=0)
    # routing.training.replaying.ReplayResult, or routing.training.two_models.GapResult for a file.
    result = models.JSONField(default=dict)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name = _("evaluation of auto mode")
        verbose_name_plural = _("evaluations of auto mode")
        ordering = ["-pk"]

    def __str__(self) -> str:
        return self.public_id
