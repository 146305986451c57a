import pgtrigger
from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from battles.models import Vote
from leaderboard.models.snapshots import REVIEW, AggregationRun


class VoteChangeQuerySet(models.QuerySet["VoteChange"]):
    def renamed_since(self, run: AggregationRun) -> "VoteChangeQuerySet":
        """Filter to changes of voter of a snapshot's votes after it was made."""
        renamed = self.filter(kind=VoteChange.Kind.RENAMED, number__gt=run.last_change, vote__order__lte=run.last_order)
        if run.scope.startswith(REVIEW):
            return renamed.filter(vote__series=run.scope.removeprefix(REVIEW))
        return renamed.filter(vote__on_site_boards=True) if run.team_id is None else renamed.filter(vote__team=run.team)


class VoteChange(models.Model):
    """A change of a vote after it was cast.

    `before` and `after` are {"excluded_reason": str, "categories": [str], "language": str}. A vote's state in a
    snapshot is `before` of its first change with a number above the snapshot's last_change, or else its present state.
    """

    class Kind(models.TextChoices):
        EXCLUDED = "excluded", _("excluded")
        RESTORED = "restored", _("restored")
        RELABELLED = "relabelled", _("filed under other boards")
        # Neither the old nor the new voter is stored, so that the history does not link people.
        RENAMED = "renamed", _("filed under another voter")

    # Assigned under the lock of the tallies, so that numbers follow the order of commits; gaps mean nothing.
    number = models.BigAutoField(primary_key=True)
    vote = models.ForeignKey(Vote, models.PROTECT, related_name="changes")
    kind = models.CharField(max_length=10, choices=Kind)
    before = models.JSONField()
    after = models.JSONField()
    reason = models.TextField(blank=True)
    by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    at = models.DateTimeField(db_default=Now())

    objects = VoteChangeQuerySet.as_manager()

    class Meta:
        ordering = ["-number"]
        triggers = [
            pgtrigger.ReadOnly(
                name="a_change_of_a_vote_never_changes",
                fields=["vote", "kind", "before", "after", "reason", "at"],
            ),
            pgtrigger.Protect(name="a_change_of_a_vote_is_never_deleted", operation=pgtrigger.Delete),
        ]

    def __str__(self) -> str:
        return f"{self.vote_id} {self.kind}"
