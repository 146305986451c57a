from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

import pgtrigger
from django.db import models
from django.db.models import Q
from django.db.models.expressions import RawSQL
from django.utils.translation import gettext_lazy as _

from accounts.models import Team
from battles.text.labels import UNDETERMINED
from common.ids import new_public_id
from leaderboard.models.imported import Contestant
from models_registry.models import LanguageModel

OVERALL = "overall"
SIDE_BY_SIDE = "side-by-side"
AUTO = "auto"
COMPARE = "compare"  # the board of stars
REVIEW = "review:"  # the beginning of a review's board
MAX_ERROR_CHARACTERS = 2000
MIN_VOTES_OF_UNDETERMINED = 30

# Steps from board to board along the index newest_snapshot_of_site_board: older snapshots and teams are not read.
_NEWEST_OF_EACH_BOARD = """
WITH RECURSIVE newest AS (
    (
        SELECT scope, id FROM leaderboard_aggregationrun
        WHERE state = 'done' AND team_id IS NULL AND NOT starts_with(scope, 'review:') ORDER BY scope, id DESC LIMIT 1
    )
    UNION ALL
    SELECT next.scope, next.id FROM newest CROSS JOIN LATERAL (
        SELECT scope, id FROM leaderboard_aggregationrun
        WHERE state = 'done' AND team_id IS NULL AND NOT starts_with(scope, 'review:') AND scope > newest.scope
        ORDER BY scope, id DESC LIMIT 1
    ) AS next
)
SELECT id FROM newest
"""

_NEWEST_OF = """
SELECT newest.id FROM unnest(%s::text[]) AS wanted (scope) CROSS JOIN LATERAL (
    SELECT id FROM leaderboard_aggregationrun AS run
    WHERE run.scope = wanted.scope AND state = 'done' ORDER BY id DESC LIMIT 1
) AS newest
"""


class Position(NamedTuple):
    last_order: int = 0
    last_change: int = 0
    skipped_orders: int = 0
    skipped_changes: int = 0


class AggregationRunQuerySet(models.QuerySet["AggregationRun"]):
    def snapshots(self, scope: str, team: int | None = None) -> "AggregationRunQuerySet":
        """Filter to the snapshots of one board, newest first."""
        return self.published(team=team).filter(scope=scope)

    def published(self, scope: str = "", team: int | None = None) -> "AggregationRunQuerySet":
        """Filter to the snapshots of one board, or of all but reviews without a scope, newest first."""
        done = self._done().filter(team=team).exclude(scope__startswith=REVIEW)
        return done.filter(scope=scope) if scope else done

    def of_review(self, series: str) -> "AggregationRunQuerySet":
        """Filter to the snapshots of a review's board, newest first."""
        return self._done().filter(scope=f"{REVIEW}{series}")

    def _done(self) -> "AggregationRunQuerySet":
        return self.filter(state=AggregationRun.State.DONE).order_by("-pk")

    def since(self, moment: datetime) -> "models.QuerySet[AggregationRun, tuple[int, str, datetime]]":
        """Return (pk, public id, finished_at) of runs that finished after `moment`."""
        return self.filter(finished_at__gt=moment).values_list("pk", "public_id", "finished_at")

    def newest_of_each_board(self) -> "AggregationRunQuerySet":
        """Filter to the newest snapshot of each board of the site in the order of the boards' keys."""
        return self.filter(pk__in=RawSQL(_NEWEST_OF_EACH_BOARD, [])).order_by("scope")  # noqa: S611 (no parameters)

    def newest_of(self, scopes: Iterable[str]) -> "AggregationRunQuerySet":
        return self.filter(pk__in=RawSQL(_NEWEST_OF, [list(scopes)])).order_by("scope")  # noqa: S611 (a constant)

    def listed(self) -> "AggregationRunQuerySet":
        """Leave out the board of undetermined languages while it has few votes."""
        return self.exclude(scope=f"language:{UNDETERMINED}", votes_counted__lt=MIN_VOTES_OF_UNDETERMINED)

    def failed_boards(self) -> list[str]:
        """Return the site's boards whose fit failed when votes were last aggregated."""
        last_slot = self.filter(scope=OVERALL).order_by("-pk").values("slot")[:1]
        failed = self.filter(team=None, state=AggregationRun.State.FAILED, slot=models.Subquery(last_slot))
        return list(failed.order_by("scope").values_list("scope", flat=True))

    def last_counted_vote(self) -> int:
        """Return the largest number of a vote that a run of Overall counted."""
        last: int | None = self.filter(scope=OVERALL).aggregate(last=models.Max("last_order"))["last"]
        return last or 0

    def readings(self) -> "AggregationRunQuerySet":
        """Filter to the runs of Overall that read the votes, newest first; some found none that the board counts."""
        return self.filter(scope=OVERALL).exclude(state=AggregationRun.State.FAILED).order_by("-pk")

    def newest_position(self, *, skipped: int = 0) -> Position:
        """Return the position of the site's newest run after this many."""
        positions = list(self.readings().values_list(*Position._fields)[skipped : skipped + 1])
        return Position(*positions[0]) if positions else Position()

    def newest_ids(self, scopes: list[str]) -> dict[str, str]:
        """Return {scope: public id of its newest snapshot}; scopes without a snapshot are left out."""
        return dict(self.newest_of(scopes).values_list("scope", "public_id"))


class AggregationRun(models.Model):
    """One attempt to update a board, stored when it is over. With state DONE it is a published snapshot."""

    class State(models.TextChoices):
        DONE = "done", _("done")
        UNCHANGED = "unchanged", _("nothing new")
        FAILED = "failed", _("failed")

    public_id = models.CharField(max_length=22, unique=True, default=new_public_id, editable=False)
    scope = models.CharField(max_length=80, default=OVERALL)
    # The team of its scope (leaderboard.counting.board_keys) or of its review; NULL: the site.
    team = models.ForeignKey(Team, models.PROTECT, null=True, related_name="+", db_index=False)
    # The scheduled time or the request of this run; unique per board.
    slot = models.CharField(max_length=60)
    state = models.CharField(max_length=9, choices=State)
    method = models.CharField(max_length=40)
    parameters = models.JSONField(default=dict)
    parameters_hash = models.CharField(max_length=64)
    tallies_checksum = models.CharField(max_length=64, blank=True)
    # Number of the last vote that this run considered.
    last_order = models.PositiveBigIntegerField(default=0)
    # Number of the last VoteChange that this run considered; of the last star, or the edition of an imported board.
    last_change = models.PositiveBigIntegerField(default=0, db_default=0)
    # How many of the numbers up to last_order and last_change are of votes and changes elsewhere: in teams if the board
    # is the site's, outside of the board if it is a team's. They are left out of the numbers that are shown.
    skipped_orders = models.PositiveBigIntegerField(default=0, db_default=0)
    skipped_changes = models.PositiveBigIntegerField(default=0, db_default=0)
    votes_taken = models.PositiveIntegerField(default=0)
    votes_counted = models.PositiveBigIntegerField(default=0)
    votes_excluded = models.JSONField(default=dict)
    # Results of the fit beside the standings; names and units are in leaderboard.rating.snapshot_fit.
    facts = models.JSONField(default=dict, db_default={})
    started_at = models.DateTimeField()
    finished_at = models.DateTimeField()
    duration_ms = models.PositiveIntegerField()
    error = models.TextField(blank=True)

    objects = AggregationRunQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [models.UniqueConstraint(fields=["slot", "scope"], name="a_board_has_one_run_per_slot")]
        indexes = [
            # AggregationRunQuerySet.snapshots
            models.Index(fields=["scope", "state", "-id"], name="newest_snapshot_of_a_board"),
            # newest_of_each_board
            models.Index(
                fields=["scope", "state", "-id"], name="newest_snapshot_of_site_board", condition=Q(team=None)
            ),
            # AggregationRunQuerySet.published of a team
            models.Index(fields=["team", "-id"], name="snapshots_of_a_team", condition=Q(team__isnull=False)),
            # last_counted_vote
            models.Index(fields=["last_order"], name="last_counted_vote", condition=Q(scope=OVERALL)),
        ]
        triggers = [pgtrigger.Protect(name="a_run_never_changes", operation=pgtrigger.Update | pgtrigger.Delete)]

    def __str__(self) -> str:
        return f"{self.scope} {self.public_id}"

    @property
    def shown_order(self) -> int:
        return self.last_order - self.skipped_orders

    @property
    def shown_change(self) -> int:
        return self.last_change - self.skipped_changes

    def finish(self, at: datetime) -> None:
        self.finished_at = at
        self.duration_ms = round((at - self.started_at).total_seconds() * 1000)

    def record_failure(self, error: Exception) -> None:
        self.state = self.State.FAILED
        self.error = f"{type(error).__name__}: {error}"[:MAX_ERROR_CHARACTERS]


class Standing(models.Model):
    """Result of one model, or of one contestant of an imported board, in a snapshot. Immutable."""

    run = models.ForeignKey(AggregationRun, models.PROTECT, related_name="standings")
    model = models.ForeignKey(LanguageModel, models.PROTECT, null=True, related_name="standings")
    contestant = models.ForeignKey(Contestant, models.PROTECT, null=True, related_name="standings")
    # Only models of the same group are comparable; 0 is the group with the most votes.
    group = models.PositiveSmallIntegerField(default=0, db_default=0)
    # Null while the model has too few votes for a score.
    score = models.FloatField(null=True)
    # One bound is null when a model won or lost every vote: its score is "at least" or "at most" the other bound.
    ci_low = models.FloatField(null=True)
    ci_high = models.FloatField(null=True)
    # Factor by which the correlation of one voter's votes increases the variance.
    design_effect = models.FloatField(default=1.0, db_default=1.0)
    rank = models.PositiveIntegerField(null=True)
    rank_best = models.PositiveIntegerField(null=True)
    rank_worst = models.PositiveIntegerField(null=True)
    # Every model of a tier is better than all of the next ones; null for preliminary models.
    tier = models.PositiveIntegerField(null=True)
    # Style-controlled figures; null if not computed.
    style_score = models.FloatField(null=True)
    style_ci_low = models.FloatField(null=True)
    style_ci_high = models.FloatField(null=True)
    style_rank = models.PositiveIntegerField(null=True)
    style_rank_best = models.PositiveIntegerField(null=True)
    style_rank_worst = models.PositiveIntegerField(null=True)
    # Null on an imported board whose votes have no order.
    elo = models.FloatField(null=True)
    votes = models.PositiveIntegerField()
    wins = models.PositiveIntegerField()
    losses = models.PositiveIntegerField()
    ties = models.PositiveIntegerField()
    both_bad = models.PositiveIntegerField()
    # Design effect of the share of both_bad; null if not computed.
    both_bad_design_effect = models.FloatField(null=True)
    preliminary = models.BooleanField()
    median_first_token_ms = models.PositiveIntegerField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "model"], name="a_model_stands_once_in_a_snapshot"),
            models.UniqueConstraint(fields=["run", "contestant"], name="a_contestant_stands_once_in_a_snapshot"),
            models.CheckConstraint(
                condition=Q(model__isnull=False, contestant__isnull=True)
                | Q(model__isnull=True, contestant__isnull=False),
                name="a_standing_is_a_models_or_a_contestants",
            ),
        ]
        triggers = [pgtrigger.Protect(name="a_standing_never_changes", operation=pgtrigger.Update | pgtrigger.Delete)]

    def __str__(self) -> str:
        return f"{self.run_id} {self.model_id or self.contestant_id}"
