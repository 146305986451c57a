from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from accounts.models import Team
from battles.models import Call
from benchmarks.models.items import RunItem
from models_registry.models import LanguageModel


class Reply(models.Model):
    model = models.ForeignKey(LanguageModel, models.PROTECT, null=True, related_name="+")
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="benchmark_replies", db_index=False
    )
    # The run's place; its replies are given again to runs of the same place.
    team = models.ForeignKey(Team, models.PROTECT, null=True, related_name="+", db_index=False)
    text = models.TextField()
    reasoning = models.TextField(blank=True)
    finish_reason = models.CharField(max_length=40, blank=True)
    # See worker.reuse; empty if the answer is not to be given again.
    answer_key = models.CharField(max_length=64, blank=True)
    # Null for imported replies.
    call = models.OneToOneField(Call, models.PROTECT, null=True, related_name="reply")
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name_plural = _("replies")
        # The unique index of `call` is the constraint "a call gave one reply".
        indexes = [
            models.Index(fields=["owner"], name="replies_of_a_member"),
            models.Index(
                fields=["owner", "answer_key", "-created_at"], name="replies_to_reuse", condition=~Q(answer_key="")
            ),
            models.Index(
                fields=["team", "answer_key", "-created_at"], name="replies_of_a_team_to_reuse",
                condition=Q(team__isnull=False) & ~Q(answer_key=""),
            ),
        ]  # fmt: skip

    def __str__(self) -> str:
        return f"reply {self.pk}"


class ItemReply(models.Model):
    item = models.ForeignKey(RunItem, models.CASCADE, related_name="replies", db_index=False)
    turn = models.PositiveSmallIntegerField(default=0)
    reply = models.ForeignKey(Reply, models.PROTECT, related_name="items")
    # The answer of an earlier equal call: it cost nothing, and its times are another day's.
    is_reused = models.BooleanField(default=False, db_default=False)

    class Meta:
        verbose_name_plural = _("item replies")
        constraints = [models.UniqueConstraint(fields=["item", "turn"], name="an_item_has_each_turn_once")]

    def __str__(self) -> str:
        return f"{self.item_id}.{self.turn}"


class ItemCall(models.Model):
    """All attempts of an item: its part of the call log."""

    item = models.ForeignKey(RunItem, models.CASCADE, related_name="calls", db_index=False)
    turn = models.PositiveSmallIntegerField()
    fence = models.PositiveBigIntegerField()
    call = models.OneToOneField(Call, models.PROTECT, related_name="item")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["item", "turn", "fence"], name="a_claim_of_an_item_calls_once")]

    def __str__(self) -> str:
        return f"{self.item_id}.{self.turn} #{self.fence}"


class Score(models.Model):
    item = models.ForeignKey(RunItem, models.CASCADE, related_name="scores", db_index=False)
    check_key = models.CharField(max_length=80)
    # "check", or the judge's name.
    source = models.CharField(max_length=40, default="check")
    # A number in [0, 1]; null: not scored.
    value = models.FloatField(null=True)
    passed = models.BooleanField(null=True)
    error = models.CharField(max_length=40, blank=True)
    # The scorer's word for the answer; not_extracted separates a wrong form from wrong knowledge.
    label = models.CharField(max_length=100, blank=True, db_default="")
    # The check's values when it scored: a report and an export need no more than this row.
    metric = models.CharField(max_length=80, blank=True, db_default="")
    weight = models.FloatField(db_default=1)
    detail = models.JSONField(default=dict, blank=True)
    # Version of the scorer and its settings.
    version = models.CharField(max_length=64, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["item", "check_key", "source"], name="an_item_has_each_score_once"),
            models.CheckConstraint(
                condition=Q(value__isnull=False, error="") | (Q(value__isnull=True) & ~Q(error="")),
                name="a_score_has_a_value_or_an_error",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.item_id} {self.check_key}"
