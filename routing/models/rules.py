import pgtrigger
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from accounts.models import ApiToken, Team
from common.db.triggers import refuse_rows
from models_registry.models import LanguageModel

_MODEL_IS_ANOTHER_TEAMS = """EXISTS (
        SELECT FROM models_registry_languagemodel
        WHERE id = NEW.model_id AND team_id IS NOT NULL AND team_id IS DISTINCT FROM NEW.team_id
    )"""
# A rule of the site may be about one token of any place.
_NAMES_ANOTHER_TEAMS_CALLERS = (
    "NEW.team_id IS DISTINCT FROM (SELECT team_id FROM accounts_apitoken WHERE id = NEW.token_id)"
)
_SHARE = [MinValueValidator(0), MaxValueValidator(1)]


class RuleQuerySet(models.QuerySet["Rule"]):
    def active(self) -> "RuleQuerySet":
        return self.filter(is_active=True).order_by("order", "pk")


class Rule(models.Model):
    """The first active rule that matches a prompt decides before anything learned. Empty conditions match all.

    team: whose prompts it is about, before the site's rules; None for the site.
    """

    class Target(models.TextChoices):
        MODEL = "model", _("one model")
        ARENA = "arena", _("battle")
        POOL = "pool", _("choice from a pool")

    class WhenIs(models.TextChoices):
        ANY = "", _("either")
        YES = "yes", _("yes")
        NO = "no", _("no")

    # None: the site.
    team = models.ForeignKey(Team, models.PROTECT, null=True, blank=True, related_name="+", verbose_name=_("team"))
    order = models.PositiveIntegerField(_("order"), default=100)
    note = models.CharField(_("note"), max_length=200, blank=True)
    is_active = models.BooleanField(_("active"), default=False)

    category = models.CharField(_("category"), max_length=40, blank=True)
    language = models.CharField(_("language"), max_length=3, blank=True)
    min_characters = models.PositiveIntegerField(_("characters, at least"), null=True, blank=True)
    max_characters = models.PositiveIntegerField(_("characters, at most"), null=True, blank=True)
    needs_tools = models.CharField(_("with the caller's tools"), max_length=3, choices=WhenIs, blank=True)
    needs_images = models.CharField(_("with images"), max_length=3, choices=WhenIs, blank=True)
    data_loaded = models.CharField(_("with the caller's own data"), max_length=3, choices=WhenIs, blank=True)
    workflow = models.CharField(_("workflow"), max_length=40, blank=True)
    token = models.ForeignKey(
        ApiToken, models.CASCADE, null=True, blank=True, related_name="+", verbose_name=_("token")
    )

    target = models.CharField(_("target"), max_length=5, choices=Target)
    model = models.ForeignKey(
        LanguageModel, models.PROTECT, null=True, blank=True, related_name="+", verbose_name=_("model")
    )
    # Slugs of models.
    pool = ArrayField(models.CharField(max_length=120), verbose_name=_("pool"), default=list, blank=True)
    dial = models.FloatField(_("dial"), null=True, blank=True, validators=_SHARE)
    max_cost = models.DecimalField(
        _("cost of an answer, at most, US dollars"), max_digits=14, decimal_places=8, null=True, blank=True,
        validators=[MinValueValidator(0)],
    )  # fmt: skip

    objects = RuleQuerySet.as_manager()

    class Meta:
        verbose_name = _("rule of auto mode")
        verbose_name_plural = _("rules of auto mode")
        ordering = ["order", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=~Q(target="model") | Q(model__isnull=False) | Q(is_active=False),
                name="an_active_rule_for_one_model_names_it",
                violation_error_message=_("Choose the model."),
            ),
            models.CheckConstraint(
                condition=~Q(target="pool") | ~Q(pool=[]),
                name="a_rule_for_a_pool_names_its_models",
                violation_error_message=_("Name the models of the pool."),
            ),
            models.CheckConstraint(
                condition=Q(dial=None) | Q(dial__range=(0, 1)), name="a_rules_dial_goes_from_0_to_1"
            ),
        ]
        triggers = [
            refuse_rows(
                "a_rules_model_is_of_its_place",
                _MODEL_IS_ANOTHER_TEAMS,
                updated=("model_id", "team_id"),
                condition=pgtrigger.Q(new__model__isnull=False),
            ),
            refuse_rows(
                "a_rules_token_is_of_its_team",
                _NAMES_ANOTHER_TEAMS_CALLERS,
                updated=("token_id", "team_id"),
                condition=pgtrigger.Q(new__team__isnull=False, new__token__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return self.note or f"{self.order} → {self.get_target_display()}"


class RoutingThresholds(models.Model):
    """The one row; without it the defaults hold."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1, editable=False)
    min_confidence = models.FloatField(
        _("confidence of a choice, at least"), default=0.6, validators=_SHARE,
        help_text=_("Below it, the page says that the arena is not sure. The choice stays the same."),
    )  # fmt: skip
    max_explored_share = models.FloatField(
        _("share of battles in an hour, at most"), default=0.2, validators=_SHARE,
        help_text=_("Of the decisions that could start a battle."),
    )  # fmt: skip
    stay_margin = models.FloatField(
        _("gain needed to change the model of a conversation"), default=0.15, validators=_SHARE,
        help_text=_("In chances of winning, and only after the subject changed."),
    )  # fmt: skip

    class Meta:
        verbose_name = _("thresholds of auto mode")
        verbose_name_plural = _("thresholds of auto mode")
        constraints = [
            models.CheckConstraint(condition=Q(id=1), name="thresholds_of_auto_mode_are_one_row"),
            models.CheckConstraint(
                condition=Q(min_confidence__range=(0, 1), max_explored_share__range=(0, 1), stay_margin__range=(0, 1)),
                name="thresholds_of_auto_mode_are_shares",
            ),
        ]

    def __str__(self) -> str:
        return str(_("thresholds of auto mode"))
