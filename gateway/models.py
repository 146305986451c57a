import json

from django.db import connection, models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from accounts.models import ApiToken, Team, User
from battles.models import Battle, Call, RoutingDecision
from common.db.triggers import refuse_rows
from common.ids import new_public_id
from gateway.sql import read_sql

# Parameters of store_exchange.sql.
SETTLED_COLUMNS = [
    "public_id", "user_id", "token_id", "asked_model", "decision_id", "call_id", "fallbacks", "is_stream",
    "prompt_tokens", "completion_tokens", "cost", "finish_reason", "error", "session_digest", "team_id",
]  # fmt: skip
_OF_ANOTHER_PLACE = """EXISTS (
        SELECT FROM accounts_apitoken WHERE id = NEW.token_id AND team_id IS DISTINCT FROM NEW.team_id
    ) OR EXISTS (
        SELECT FROM battles_routingdecision WHERE id = NEW.decision_id AND team_id IS DISTINCT FROM NEW.team_id
    ) OR EXISTS (
        SELECT FROM battles_battle AS battle JOIN battles_session AS session ON session.id = battle.session_id
        WHERE battle.id = NEW.battle_id AND session.team_id IS DISTINCT FROM NEW.team_id
    ) OR EXISTS (
        SELECT FROM battles_call AS call JOIN models_registry_languagemodel AS model ON model.id = call.model_id
        WHERE call.id = NEW.call_id AND model.team_id IS NOT NULL AND model.team_id IS DISTINCT FROM NEW.team_id
    )"""


class ExchangeQuerySet(models.QuerySet["Exchange"]):
    def of_user(self, user: User) -> "ExchangeQuerySet":
        return self.filter(token__user=user)

    def store_settled(self, exchange: "Exchange") -> None:
        """Insert the exchange of a call that has ended, or update its call's columns. May run twice.

        Not by bulk_create, which took half of a settlement's CPU time.
        """
        values = {name: getattr(exchange, name) for name in SETTLED_COLUMNS}
        values["texts"] = None if exchange.texts is None else json.dumps(exchange.texts)
        with connection.cursor() as cursor:
            cursor.execute(read_sql("store_exchange.sql"), values)


class Exchange(models.Model):
    """One request to the gateway that reached a model, the cache or a battle."""

    public_id = models.CharField(max_length=22, unique=True, default=new_public_id, editable=False)
    created_at = models.DateTimeField(db_default=Now())
    # The token's owner; the token may be deleted.
    user = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    token = models.ForeignKey(ApiToken, models.SET_NULL, null=True, related_name="exchanges")
    # The token's, kept without it; None: personal.
    team = models.ForeignKey(Team, models.PROTECT, null=True, db_index=False, related_name="+")
    # `model` of the request: a slug, "auto" and its like, or "battle".
    asked_model = models.CharField(max_length=200)
    decision = models.ForeignKey(RoutingDecision, models.SET_NULL, null=True, related_name="exchanges")
    # The last call. fallbacks: models tried after the chosen one, also those without a free slot or money.
    call = models.OneToOneField(Call, models.PROTECT, null=True, related_name="exchange")
    battle = models.OneToOneField(Battle, models.PROTECT, null=True, related_name="exchange")
    fallbacks = models.PositiveSmallIntegerField(default=0)
    is_stream = models.BooleanField(default=False)
    is_cached = models.BooleanField(default=False)
    prompt_tokens = models.PositiveIntegerField(null=True)
    completion_tokens = models.PositiveIntegerField(null=True)
    # US dollars, of all calls.
    cost = models.DecimalField(max_digits=14, decimal_places=8, null=True)
    finish_reason = models.CharField(max_length=40, blank=True)
    error = models.CharField(max_length=40, blank=True)
    # Keyed digest of the caller's session; "" without one.
    session_digest = models.CharField(max_length=64, blank=True)
    # Messages and answer in OpenAI's shape; NULL unless the token keeps texts.
    texts = models.JSONField(null=True)

    objects = ExchangeQuerySet.as_manager()

    class Meta:
        verbose_name = _("exchange of the gateway")
        verbose_name_plural = _("exchanges of the gateway")
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(condition=Q(is_cached=False) | Q(call=None), name="a_cached_exchange_makes_no_call"),
        ]
        indexes = [
            # Used by the owner's page of tokens, and by pruning.
            models.Index(fields=["token", "-id"], name="exchanges_of_a_token"),
            models.Index(fields=["created_at"], name="exchanges_by_time"),
        ]
        triggers = [
            refuse_rows(
                "an_exchange_is_of_one_place",
                _OF_ANOTHER_PLACE,
                updated=("team_id", "token_id", "decision_id", "battle_id", "call_id"),
            )
        ]

    def __str__(self) -> str:
        return self.public_id
