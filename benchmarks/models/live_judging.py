"""Judges of voted battles: who is asked, which battles were drawn, and the verdicts (docs/adr/0091)."""

from datetime import timedelta
from decimal import Decimal

import pgtrigger
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from battles.models import Battle, Call
from benchmarks.models.judging import Judge
from common.db.triggers import refuse_rows

_NO_COMPARING_JUDGE_OF_THE_SITE = """NOT EXISTS (
        SELECT FROM benchmarks_judge AS judge
        WHERE judge.id = NEW.judge_id AND judge.team_id IS NULL AND judge.kind = 'pairwise'
    )"""
_BATTLE_OF_A_TEAM = """EXISTS (
        SELECT FROM benchmarks_livedraw AS draw
        JOIN battles_battle AS battle ON battle.id = draw.battle_id
        JOIN battles_session AS session ON session.id = battle.session_id
        WHERE draw.id = NEW.draw_id AND session.team_id IS NOT NULL
    )"""


class LiveJudge(models.Model):
    """A judge that reads a random part of the voted battles. Votes are drawn in the order of their numbers."""

    class Waiting(models.TextChoices):
        DAY_BUDGET = "day_budget", _("The budget for today is used up.")
        MONTH_BUDGET = "month_budget", _("The budget for this month is used up.")
        SITE_BUDGET = "site_budget", _("A budget of the site or of the provider is used up, or paid calls are halted.")
        MODEL_AWAY = "model_away", _("The judge’s model is inactive or fails.")

    # The row of the judge's number: a changed judge is another one.
    judge = models.ForeignKey(Judge, models.PROTECT, related_name="live", verbose_name=_("judge"))
    is_on = models.BooleanField(_("on"), default=False)
    share = models.DecimalField(
        _("percent of voted battles"), max_digits=5, decimal_places=2, default=Decimal(10),
        validators=[MinValueValidator(Decimal("0.01")), MaxValueValidator(Decimal(100))],
        help_text=_("A change concerns battles that are drawn from now on; each keeps the share of its draw."),
    )  # fmt: skip
    day_budget = models.DecimalField(
        _("US dollars a day"), max_digits=10, decimal_places=2, validators=[MinValueValidator(Decimal(0))],
        default=Decimal(1),
    )  # fmt: skip
    month_budget = models.DecimalField(
        _("US dollars a month"), max_digits=10, decimal_places=2, validators=[MinValueValidator(Decimal(0))],
        default=Decimal(20),
    )  # fmt: skip
    # Votes up to the first number are not drawn, those up to the last one are.
    first_order = models.PositiveBigIntegerField(default=0, editable=False)
    last_order = models.PositiveBigIntegerField(default=0, editable=False)
    waits_until = models.DateTimeField(_("waits until"), null=True, editable=False)
    # A Waiting.
    waits_for = models.CharField(_("waits because"), max_length=12, blank=True, choices=Waiting, editable=False)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name = _("judge of voted battles")
        verbose_name_plural = _("judges of voted battles")
        constraints = [
            models.UniqueConstraint(
                fields=["is_on"],
                condition=Q(is_on=True),
                name="one_judge_reads_voted_battles",
                violation_error_message=_("Another judge is on. Switch it off first."),
            ),
            models.CheckConstraint(condition=Q(share__gt=0, share__lte=100), name="a_share_of_battles_is_a_percentage"),
            models.CheckConstraint(
                condition=Q(day_budget__gte=0, month_budget__gte=0), name="no_budget_of_a_live_judge_is_negative"
            ),
        ]
        triggers = [
            pgtrigger.ReadOnly(name="a_live_judge_never_changes", fields=["judge", "first_order"]),
            refuse_rows("a_live_judge_is_the_sites_and_compares", _NO_COMPARING_JUDGE_OF_THE_SITE),
        ]

    def __str__(self) -> str:
        return str(self.judge)


class LiveDraw(models.Model):
    """A voted battle that was drawn for a judge, by chance alone."""

    class LeftOut(models.TextChoices):
        """Reasons for which the judge does not read a drawn battle."""

        OWN_FAMILY = "own_family", _("an answer is by the judge’s own family")
        NOT_RELEASED = "not_released", _("its text may not go to the judge’s provider")
        TEAM = "team", _("a team’s")
        FILES = "files", _("has files")
        NOT_COUNTED = "not_counted", _("its vote does not count")
        REPORTED = "reported", _("reported, hidden or void")
        DELETED = "deleted", _("deleted")

    live_judge = models.ForeignKey(LiveJudge, models.PROTECT, related_name="draws", db_index=False)
    battle = models.ForeignKey(Battle, models.PROTECT, related_name="live_draws")
    # Percent, when the battle was drawn.
    share = models.DecimalField(max_digits=5, decimal_places=2)
    left_out = models.CharField(max_length=12, choices=LeftOut, blank=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["live_judge", "battle"], name="a_battle_is_drawn_once_for_a_judge"),
        ]
        triggers = [pgtrigger.ReadOnly(name="a_draw_never_changes", fields=["live_judge", "battle", "share"])]

    def __str__(self) -> str:
        return f"draw {self.pk}"


class LiveJudgementQuerySet(models.QuerySet["LiveJudgement"]):
    def due(self) -> "LiveJudgementQuerySet":
        """Filter to questions that may be asked now."""
        live = Q(draw__live_judge__waits_until=None) | Q(draw__live_judge__waits_until__lte=Now())
        return self.filter(live, state=LiveJudgement.State.QUEUED, due_at__lte=Now(), draw__live_judge__is_on=True)

    def abandoned(self) -> "LiveJudgementQuerySet":
        return self.filter(state=LiveJudgement.State.ASKING, lease_until__lt=Now())


class LiveJudgement(models.Model):
    """One question to the judge about a drawn battle, and its verdict. Deleted with the battle."""

    class State(models.TextChoices):
        QUEUED = "queued", _("queued")
        ASKING = "asking", _("asking")
        DONE = "done", _("done")
        UNPARSED = "unparsed", _("without a verdict")
        FAILED = "failed", _("failed")

    MAX_ATTEMPTS = 5
    # An answer without a verdict is followed by one further question.
    LAST_TURN = 1

    draw = models.ForeignKey(LiveDraw, models.CASCADE, related_name="judgements", db_index=False)
    # The right side's answer was shown first.
    is_swapped = models.BooleanField()
    state = models.CharField(max_length=8, choices=State, default=State.QUEUED)
    turn = models.PositiveSmallIntegerField(default=0)
    attempt = models.PositiveSmallIntegerField(default=0)
    fence = models.PositiveBigIntegerField(default=0)
    lease_until = models.DateTimeField(null=True)
    due_at = models.DateTimeField(db_default=Now())
    call = models.ForeignKey(Call, models.PROTECT, null=True, related_name="+", db_index=False)
    # The last call's.
    error = models.CharField(max_length=40, blank=True)
    # The judge's answer.
    text = models.TextField(blank=True)
    label = models.CharField(max_length=4, blank=True)
    # 1 if the left side wins, ½, or 0.
    outcome = models.FloatField(null=True)
    finished_at = models.DateTimeField(null=True)

    objects = LiveJudgementQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["draw", "is_swapped"], name="a_drawn_battle_is_judged_once_in_each_order"),
            models.CheckConstraint(
                condition=Q(state="done", outcome__isnull=False) | (~Q(state="done") & Q(outcome=None)),
                name="a_live_judgement_is_done_with_a_verdict",
            ),
            models.CheckConstraint(
                condition=~Q(state="asking") | Q(lease_until__isnull=False), name="a_question_to_a_judge_has_a_lease"
            ),
        ]
        indexes = [
            # LiveJudgementQuerySet.due and abandoned, for the sweeper.
            models.Index(
                fields=["state", "due_at"], name="live_judgements_in_work", condition=Q(state__in=["queued", "asking"])
            ),
        ]
        triggers = [
            pgtrigger.ReadOnly(name="a_live_judgement_stays_with_its_draw", fields=["draw", "is_swapped"]),
            refuse_rows("no_teams_battle_is_judged_live", _BATTLE_OF_A_TEAM, updated=("draw_id",)),
        ]

    def __str__(self) -> str:
        return f"live judgement {self.pk}"


class LiveCallQuerySet(models.QuerySet["LiveCall"]):
    def orphaned(self) -> "LiveCallQuerySet":
        """Filter to calls of lost workers whose judgement was deleted."""
        return self.filter(judgement=None, call__state=Call.State.RUNNING, call__lease_until__lt=Now())


class LiveCall(models.Model):
    """A call to a judge of voted battles; it counts against its budgets also when the judgement is deleted."""

    LEASE_MARGIN = timedelta(seconds=60)

    call = models.OneToOneField(Call, models.PROTECT, primary_key=True, related_name="+")
    judgement = models.ForeignKey(LiveJudgement, models.SET_NULL, null=True, related_name="calls")

    objects = LiveCallQuerySet.as_manager()

    def __str__(self) -> str:
        return f"live call {self.call_id}"
