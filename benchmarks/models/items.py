from datetime import timedelta

import pgtrigger
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from benchmarks.models.runs import Entrant, Run
from benchmarks.models.templates import Case

# Adds what the statement changed to RunCount; moves between the same states cancel out.
_COUNT = """
    UPDATE benchmarks_runcount AS counted SET n = counted.n + moved.n
    FROM (
        SELECT entrant_id, state, sum(n) AS n FROM ({moves}) AS moves
        GROUP BY entrant_id, state HAVING sum(n) <> 0
    ) AS moved
    WHERE counted.entrant_id = moved.entrant_id AND counted.state = moved.state;
    RETURN NULL;
"""
_NEW_ITEMS = pgtrigger.Referencing(new="new_items")  # type: ignore[no-untyped-call]
_BOTH_ITEMS = pgtrigger.Referencing(old="old_items", new="new_items")  # type: ignore[no-untyped-call]
_CAME, _LEFT = "SELECT entrant_id, state, 1 AS n FROM new_items", "SELECT entrant_id, state, -1 FROM old_items"


class RunItem(models.Model):
    """One case, asked of one entrant once; an entry of the run's work queue."""

    class State(models.TextChoices):
        QUEUED = "queued", _("queued")
        ANSWERING = "answering", _("answering")
        ANSWERED = "answered", _("answered")
        SCORED = "scored", _("scored")
        FAILED = "failed", _("failed")
        SKIPPED = "skipped", _("skipped")
        LEFT_OUT = "left_out", _("left out")

    UNFINISHED = (State.QUEUED, State.ANSWERING, State.ANSWERED)
    TO_ASK = (State.QUEUED, State.ANSWERING)
    LEASE = timedelta(seconds=10)

    run = models.ForeignKey(Run, models.CASCADE, related_name="items", db_index=False)
    entrant = models.ForeignKey(Entrant, models.CASCADE, related_name="items", db_index=False)
    case = models.ForeignKey(Case, models.PROTECT, related_name="+")
    repeat = models.PositiveSmallIntegerField(default=0)
    # The turn that is asked next, of a prompt with follow-ups.
    turn = models.PositiveSmallIntegerField(default=0)
    # Cases in the seed's order, the entrants of a case together: a run cut short has balanced pairs.
    position = models.PositiveIntegerField()
    state = models.CharField(max_length=9, choices=State, default=State.QUEUED)
    attempt = models.PositiveSmallIntegerField(default=0)
    fence = models.PositiveBigIntegerField(default=0)
    lease_until = models.DateTimeField(null=True)
    due_at = models.DateTimeField()
    error = models.CharField(max_length=40, blank=True)
    preempted = models.PositiveSmallIntegerField(default=0)
    score = models.FloatField(null=True)
    passed = models.BooleanField(null=True)
    # Digest of the checks that gave the score.
    scored_by = models.CharField(max_length=64, blank=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["entrant", "case", "repeat"], name="an_entrant_answers_a_case_once"),
            models.CheckConstraint(
                condition=~Q(state="answering") | Q(lease_until__isnull=False), name="an_answering_item_has_a_lease"
            ),
            models.CheckConstraint(condition=Q(state="failed") | Q(error=""), name="only_a_failed_item_has_an_error"),
        ]
        indexes = [
            # Used by claims.
            models.Index(fields=["entrant", "due_at", "position"], name="items_to_ask", condition=Q(state="queued")),
            # Used by renewals, the sweeper and the exact number of calls at once.
            models.Index(fields=["run"], name="items_in_work", condition=Q(state="answering")),
            # Used to score answers that are stored without a score.
            models.Index(fields=["run"], name="items_to_score", condition=Q(state="answered")),
            # Failures on the run's page: their numbers by error, and the last ones.
            models.Index(
                fields=["entrant", "finished_at"], include=["error"], name="failed_items", condition=Q(state="failed")
            ),
        ]
        triggers = [
            pgtrigger.Trigger(
                name="new_items_are_counted", level=pgtrigger.Statement, when=pgtrigger.After,
                operation=pgtrigger.Insert, referencing=_NEW_ITEMS,
                func=_COUNT.format(moves=_CAME),
            ),
            pgtrigger.Trigger(
                name="moved_items_are_counted", level=pgtrigger.Statement, when=pgtrigger.After,
                operation=pgtrigger.Update, referencing=_BOTH_ITEMS,
                func=_COUNT.format(moves=f"{_CAME} UNION ALL {_LEFT}"),
            ),
        ]  # fmt: skip

    def __str__(self) -> str:
        return f"item {self.pk}"


class RunCount(models.Model):
    """Number of an entrant's items in a state. A trigger of RunItem moves it with the item."""

    entrant = models.ForeignKey(Entrant, models.CASCADE, related_name="counts", db_index=False)
    state = models.CharField(max_length=9, choices=RunItem.State)
    n = models.IntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["entrant", "state"], name="an_entrant_has_each_count_once"),
            models.CheckConstraint(condition=Q(n__gte=0), name="a_count_is_not_negative"),
        ]

    def __str__(self) -> str:
        return f"{self.entrant_id} {self.state}: {self.n}"
