import pgtrigger
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from accounts.actor import Actor
from accounts.models import ApiToken, Team
from battles.models.battles import Battle
from battles.models.sessions import Session
from battles.text.labels import UNDETERMINED
from common.db.triggers import refuse_rows
from common.ids import new_public_id
from models_registry.models import LanguageModel

DECISION_FACTS = [
    "public_id", "created_at", "query_type", "type_confidence", "categories", "language", "context", "policy", "target",
    "model", "runner_up", "confidence", "win_chance", "cost_expected", "cost_best", "dial", "propensity", "explored",
    "candidates", "reason", "details", "micros", "team",
]  # fmt: skip
_OF_ANOTHER_PLACE = """EXISTS (
        SELECT FROM models_registry_languagemodel
        WHERE id IN (NEW.model_id, NEW.runner_up_id) AND team_id IS NOT NULL AND team_id IS DISTINCT FROM NEW.team_id
    ) OR EXISTS (
        SELECT FROM battles_session WHERE id = NEW.session_id AND team_id IS DISTINCT FROM NEW.team_id
    ) OR EXISTS (
        SELECT FROM accounts_apitoken WHERE id = NEW.token_id AND team_id IS DISTINCT FROM NEW.team_id
    )"""


class RoutingDecisionQuerySet(models.QuerySet["RoutingDecision"]):
    def owned_by(self, actor: Actor) -> "RoutingDecisionQuerySet":
        if not actor.is_known:
            return self.none()
        own = self.filter(person=actor.key)
        return own if actor.token is None else own.filter(team=actor.place_id)

    def chosen_freely(self) -> "RoutingDecisionQuerySet":
        """Filter to models and battles that neither a rule nor the conversation determined."""
        decisions = self.filter(target__in=[RoutingDecision.Target.MODEL, RoutingDecision.Target.ARENA])
        return decisions.exclude(policy__startswith="rule ").exclude(policy="stay")


class RoutingDecision(models.Model):
    """Decision of auto mode, without any text of the prompt. Append-only."""

    class Target(models.TextChoices):
        MODEL = "model", _("one model")
        ARENA = "arena", _("battle")
        STAY = "stay", _("same model as before")
        FALLBACK = "fallback", _("another model after a failure")
        REFUSED = "refused", _("refused")

    public_id = models.CharField(max_length=22, unique=True, default=new_public_id, editable=False)
    created_at = models.DateTimeField(db_default=Now())
    # Actor.key; "" once the account is deleted.
    person = models.CharField(max_length=40, blank=True)
    # The place in which it was made; None: personal.
    team = models.ForeignKey(Team, models.PROTECT, null=True, db_index=False, related_name="+")
    token = models.ForeignKey(ApiToken, models.SET_NULL, null=True, related_name="+")
    session = models.ForeignKey(Session, models.PROTECT, null=True, related_name="+")
    battle = models.OneToOneField(Battle, models.PROTECT, null=True, related_name="decision")

    query_type = models.CharField(max_length=40)
    # 0 to 1.
    type_confidence = models.FloatField()
    categories = ArrayField(models.CharField(max_length=40), default=list, blank=True)
    language = models.CharField(max_length=3, default=UNDETERMINED)
    # battles.auto.port.RoutingContext.
    context = models.JSONField(default=dict)
    # Name and version of the policy: "learned 17" of snapshot 17, "rule 3", "stay", "weights".
    policy = models.CharField(max_length=60)
    target = models.CharField(max_length=8, choices=Target)
    model = models.ForeignKey(LanguageModel, models.PROTECT, null=True, related_name="+")
    runner_up = models.ForeignKey(LanguageModel, models.PROTECT, null=True, related_name="+")
    # Probabilities: that `model` is the best choice, and that it wins against the other candidates.
    confidence = models.FloatField(null=True)
    win_chance = models.FloatField(null=True)
    # US dollars: of the choice, and of the board's best model.
    cost_expected = models.DecimalField(max_digits=14, decimal_places=8, null=True)
    cost_best = models.DecimalField(max_digits=14, decimal_places=8, null=True)
    dial = models.FloatField()
    propensity = models.FloatField()
    explored = models.BooleanField(default=False)
    # List of at most 12: {model, theta, sd, cost, first_token_ms, win_chance, good_enough, reason_out}.
    candidates = models.JSONField(default=list)
    # Code of battles.auto.reasons, and its numbers.
    reason = models.CharField(max_length=40)
    details = models.JSONField(default=dict)
    # Duration of the decision in microseconds.
    micros = models.PositiveIntegerField(default=0)

    objects = RoutingDecisionQuerySet.as_manager()

    class Meta:
        verbose_name = _("decision of auto mode")
        verbose_name_plural = _("decisions of auto mode")
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(propensity__gt=0, propensity__lte=1), name="a_decisions_propensity_is_a_probability"
            ),
            models.CheckConstraint(condition=Q(dial__range=(0, 1)), name="a_dial_goes_from_0_to_1"),
            models.CheckConstraint(
                condition=~Q(target__in=["model", "stay", "fallback"]) | Q(model__isnull=False),
                name="a_decision_for_a_model_names_it",
            ),
        ]
        indexes = [
            # Used by the owner's list, and by the operations page and pruning.
            models.Index(fields=["person", "-id"], name="decisions_of_a_person"),
            models.Index(fields=["created_at"], name="decisions_by_time"),
        ]
        triggers = [
            pgtrigger.ReadOnly(name="facts_of_a_decision_never_change", fields=DECISION_FACTS),
            refuse_rows("a_decision_is_of_one_place", _OF_ANOTHER_PLACE, updated=("session_id", "token_id")),
        ]

    def __str__(self) -> str:
        return self.public_id
