from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from battles.models.turns import Answer
from models_registry.health.outcomes import PROBE_LEASE
from models_registry.models import Charge, LanguageModel, Price


class CallQuerySet(models.QuerySet["Call"]):
    def unfinished(self) -> "CallQuerySet":
        return self.filter(state__in=[Call.State.WAITING, Call.State.RUNNING])

    def holding_slots(self) -> "CallQuerySet":
        """Filter to running calls with a valid lease, which count against `calls_at_once`."""
        is_held = Q(answer__turn__fence=F("fence"), answer__turn__lease_until__gt=Now())
        has_own_lease = Q(answer=None, lease_until__gt=Now())
        return self.filter(is_held | has_own_lease, state=Call.State.RUNNING)

    def holding_or_waiting(self) -> "CallQuerySet":
        """Filter to calls that hold a slot or wait for one."""
        is_held = Q(answer__turn__fence=F("fence"), answer__turn__lease_until__gt=Now())
        has_own_lease = Q(answer=None, lease_until__gt=Now())
        return self.unfinished().filter(is_held | has_own_lease)

    def abandoned(self) -> "CallQuerySet":
        """Filter to probes, tests and their like whose own lease expired; a run requeues its items itself."""
        # The release before stored probes without a lease.
        expired = Q(lease_until__lte=Now()) | Q(lease_until=None, started_at__lte=Now() - PROBE_LEASE)
        return self.filter(expired, state=Call.State.RUNNING, answer=None).exclude(purpose__in=Call.BACKGROUND)


class Call(models.Model):
    """One request to one model: the interaction log. Probes, tests and items of runs have no answer."""

    class Purpose(models.TextChoices):
        ANSWER = "answer", _("answer of a battle")
        PROBE = "probe", _("probe")
        TEST = "test", _("test of a model")
        ITEM = "item", _("item of a benchmark run")
        JUDGE = "judge", _("judgement in a benchmark run")
        GATEWAY = "gateway", _("gateway")

    # Purposes that leave slots to people (battles.calls.slots).
    BACKGROUND = (Purpose.ITEM, Purpose.JUDGE)

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting")
        RUNNING = "running", _("running")
        DONE = "done", _("done")
        STOPPED = "stopped", _("stopped")
        FAILED = "failed", _("failed")
        LOST = "lost", _("lost")

    answer = models.ForeignKey(Answer, models.PROTECT, null=True, related_name="calls")
    purpose = models.CharField(max_length=7, choices=Purpose, default=Purpose.ANSWER, db_default=Purpose.ANSWER)
    # Null for a call with an answer: a turn's calls share the turn's lease.
    lease_until = models.DateTimeField(null=True)
    model = models.ForeignKey(LanguageModel, models.PROTECT, related_name="+")
    attempt = models.PositiveSmallIntegerField()
    fence = models.PositiveBigIntegerField()
    state = models.CharField(max_length=7, choices=State, default=State.RUNNING)
    # Model name, parameters and the indexes of the turns sent; the texts are in Turn and Answer.
    request = models.JSONField(default=dict)
    price = models.ForeignKey(Price, models.PROTECT, null=True, related_name="+")
    charge = models.OneToOneField(Charge, models.PROTECT, null=True, related_name="call")
    started_at = models.DateTimeField(db_default=Now())
    first_token_ms = models.PositiveIntegerField(null=True)
    total_ms = models.PositiveIntegerField(null=True)
    prompt_tokens = models.PositiveIntegerField(null=True)
    completion_tokens = models.PositiveIntegerField(null=True)
    # Part of completion_tokens; many providers charge for reasoning without returning it.
    reasoning_tokens = models.PositiveIntegerField(null=True)
    tokens_estimated = models.BooleanField(default=False)
    cost = models.DecimalField(max_digits=14, decimal_places=8, null=True)
    finish_reason = models.CharField(max_length=40, blank=True)
    error = models.CharField(max_length=40, blank=True)
    provider_request_id = models.CharField(max_length=200, blank=True)

    objects = CallQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(fields=["answer", "fence", "model"], name="a_claim_calls_a_model_once"),
            models.CheckConstraint(
                condition=Q(purpose="answer") | Q(lease_until__isnull=False),
                name="a_call_without_an_answer_carries_its_own_lease",
            ),
        ]
        indexes = [
            # Used by battles.admin.call_statistics.
            models.Index(fields=["model", "started_at"], name="calls_of_a_model"),
            # Used by the administration's list by date.
            models.Index(fields=["started_at"], name="calls_by_time"),
            # Used by CallQuerySet.holding_slots and abandoned.
            models.Index(fields=["model"], name="calls_under_way", condition=Q(state="running")),
            # Used by CallQuerySet.holding_or_waiting.
            models.Index(fields=["model"], name="calls_waiting", condition=Q(state="waiting")),
        ]

    def __str__(self) -> str:
        return f"call {self.pk}"

    @property
    def answer_tokens(self) -> int:
        return (self.completion_tokens or 0) - (self.reasoning_tokens or 0)
