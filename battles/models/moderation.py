from typing import TYPE_CHECKING

from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.models import User, Visitor
from battles.models.battles import Battle
from battles.models.owners import SiteManager, fixed_owner, team_field
from battles.models.turns import Turn
from battles.text.matching import Matcher, expression_matcher, phrase_matcher
from common.db.triggers import refuse_rows
from models_registry.models import Provider

if TYPE_CHECKING:
    from django_stubs_ext.db.models.manager import RelatedManager


_RULE_IS_A_TEAMS = "EXISTS (SELECT FROM battles_moderationrule WHERE id = NEW.rule_id AND team_id IS NOT NULL)"
_KEY_IS_A_TEAMS = """EXISTS (
        SELECT FROM models_registry_provider WHERE id = NEW.provider_id AND team_id IS NOT NULL
    )"""


class Action(models.TextChoices):
    OFF = "off", _("off")
    LOG = "log", _("log")
    WARN = "warn", _("warn")
    BLOCK = "block", _("refuse")


class ModerationRule(models.Model):
    """Patterns and an action. Verdicts refer to rules of the site, so these are switched off, not deleted.

    A team's rules warn or refuse in the team, and leave nothing for moderators.
    """

    class Kind(models.TextChoices):
        PHRASES = "phrases", _("words or phrases")
        EXPRESSIONS = "expressions", _("regular expressions")
        ENDPOINT = "endpoint", _("categories of the moderation endpoint")

    team = team_field()
    category = models.CharField(
        _("category"), max_length=80, help_text=_("Shown to people whose prompt is refused or flagged.")
    )
    kind = models.CharField(_("kind"), max_length=12, choices=Kind, default=Kind.PHRASES)
    patterns = ArrayField(models.CharField(max_length=300), verbose_name=_("what is looked for"))
    threshold = models.FloatField(
        _("from a score of"),
        default=0.5,
        validators=[MinValueValidator(0.01), MaxValueValidator(1)],
        help_text=_("For categories of the endpoint only: 0.5 is where most of them would flag a text."),
    )
    action = models.CharField(_("action"), max_length=5, choices=Action, default=Action.LOG)
    note = models.CharField(
        _("note"), max_length=200, blank=True, help_text=_("For staff: the language, why it is there.")
    )
    changed_at = models.DateTimeField(auto_now=True)

    # The first one is Django's default, which the administration uses.
    of_every_owner = models.Manager["ModerationRule"]()
    objects = SiteManager["ModerationRule"]()

    class Meta:
        ordering = ["category", "pk"]
        verbose_name = _("moderation rule")
        verbose_name_plural = _("moderation rules")
        constraints = [
            models.CheckConstraint(
                condition=Q(threshold__gt=0, threshold__lte=1), name="a_moderation_threshold_is_a_score"
            ),
            models.CheckConstraint(condition=~Q(patterns=[]), name="a_moderation_rule_looks_for_something"),
            models.CheckConstraint(
                condition=Q(team=None) | ~Q(action="log") & ~Q(kind="endpoint"),
                name="a_teams_moderation_rule_warns_or_refuses_by_itself",
            ),
        ]
        triggers = [fixed_owner("a_moderation_rule_keeps_its_owner")]

    def __str__(self) -> str:
        return f"{self.category} ({self.get_kind_display()})"

    @property
    def localized_category(self) -> str:
        """Return the category, translated if it came with the arena."""
        return gettext(self.category)

    @property
    def matcher(self) -> Matcher:
        """Matcher of a rule that is not the endpoint's. Raises InvalidPattern."""
        return (expression_matcher if self.kind == self.Kind.EXPRESSIONS else phrase_matcher)(self.patterns)


class ModerationEndpoint(models.Model):
    """The one endpoint that scores prompts: `/moderations` of an OpenAI-compatible provider."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1, editable=False)
    provider = models.ForeignKey(
        Provider, models.PROTECT, related_name="+", verbose_name=_("provider"),
        help_text=_("Its address and key are used. Its models are not chosen for battles because of this."),
    )  # fmt: skip
    model = models.CharField(_("model"), max_length=200, blank=True, default="omni-moderation-latest")
    seconds = models.FloatField(
        _("patience, seconds"),
        default=3,
        validators=[MinValueValidator(0.2), MaxValueValidator(15)],
        help_text=_("A person waits meanwhile."),
    )
    refuses_when_away = models.BooleanField(
        _("no battles while it is unavailable"),
        default=False,
        help_text=_("If unchecked, battles continue with the rules alone, and a warning is logged."),
    )
    is_active = models.BooleanField(_("in use"), default=True)

    class Meta:
        verbose_name = _("moderation endpoint")
        verbose_name_plural = _("moderation endpoint")
        constraints = [models.CheckConstraint(condition=Q(id=1), name="there_is_one_moderation_endpoint")]
        triggers = [refuse_rows("a_teams_key_moderates_no_prompts", _KEY_IS_A_TEAMS, updated=("provider_id",))]

    def __str__(self) -> str:
        return f"{self.provider}: {self.model}" if self.model else str(self.provider)


class ModerationCaseQuerySet(models.QuerySet["ModerationCase"]):
    def for_queue(self) -> "ModerationCaseQuerySet":
        owners = ("battle__session__owner_user", "battle__session__owner_visitor")
        first_prompts = models.Prefetch("battle__turns", Turn.objects.filter(index=0), to_attr="first_turns")
        return self.select_related(*owners, "battle__vote", "user", "visitor", "decided_by").prefetch_related(
            "verdicts", "reports", first_prompts
        )


class ModerationCase(models.Model):
    """A reported or flagged battle, or a person's prompts that were refused before a battle existed."""

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting")
        DISMISSED = "dismissed", _("dismissed")
        SETTLED = "settled", _("settled")

    battle = models.OneToOneField(Battle, models.PROTECT, null=True, related_name="moderation_case")
    # The person whose prompts were refused; empty for a battle, whose session has the owner.
    user = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    visitor = models.ForeignKey(Visitor, models.SET_NULL, null=True, related_name="+")
    state = models.CharField(_("state"), max_length=9, choices=State, default=State.WAITING)
    # Time of the latest report or match of a rule.
    flagged_at = models.DateTimeField(_("flagged"), db_default=Now())
    opened_at = models.DateTimeField(db_default=Now())
    decided_at = models.DateTimeField(_("decided"), null=True)
    decided_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+", verbose_name=_("by"))
    reason = models.CharField(_("why"), max_length=500, blank=True)

    objects = ModerationCaseQuerySet.as_manager()

    if TYPE_CHECKING:
        verdicts: RelatedManager["ModerationVerdict"]
        reports: RelatedManager["Report"]

    class Meta:
        verbose_name = _("moderation case")
        verbose_name_plural = _("moderation queue")
        constraints = [
            models.CheckConstraint(
                condition=Q(battle=None) | Q(user=None, visitor=None), name="a_battle_says_itself_whose_it_is"
            ),
        ]
        # Used by the queue, which lists waiting cases first.
        indexes = [models.Index(fields=["state", "-flagged_at"], name="moderation_queue")]

    def __str__(self) -> str:
        return self.battle.public_id if self.battle is not None else f"refused prompts {self.pk}"

    @property
    def person(self) -> User | Visitor | None:
        if self.battle is not None:
            return self.battle.session.owner
        return self.user or self.visitor


class ModerationVerdict(models.Model):
    """Match of a rule. The text is not copied: the turn has it; refused prompts are not stored."""

    case = models.ForeignKey(ModerationCase, models.PROTECT, related_name="verdicts")
    turn = models.ForeignKey(Turn, models.PROTECT, null=True, related_name="+")
    rule = models.ForeignKey(ModerationRule, models.PROTECT, related_name="verdicts")
    # The rule's values at that time.
    category = models.CharField(max_length=80)
    action = models.CharField(max_length=5, choices=Action)
    # The endpoint's; other rules have none.
    score = models.FloatField(null=True)
    # The endpoint's model and the version it reports, or no model and battles.text.deobfuscation.VERSION.
    model = models.CharField(max_length=200, blank=True)
    version = models.CharField(max_length=200)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name = _("moderation verdict")
        verbose_name_plural = _("moderation verdicts")
        triggers = [refuse_rows("a_verdict_is_by_a_rule_of_the_site", _RULE_IS_A_TEAMS, updated=("rule_id",))]

    def __str__(self) -> str:
        return f"{self.category}: {self.get_action_display()}"


class Report(models.Model):
    """A person's complaint about a battle; one per person and battle."""

    case = models.ForeignKey(ModerationCase, models.PROTECT, related_name="reports")
    user = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    visitor = models.ForeignKey(Visitor, models.SET_NULL, null=True, related_name="+")
    reason = models.CharField(max_length=1000)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name = _("report")
        verbose_name_plural = _("reports")
        constraints = [
            models.UniqueConstraint(fields=["case", "user"], name="a_member_reports_a_battle_once"),
            models.UniqueConstraint(fields=["case", "visitor"], name="a_visitor_reports_a_battle_once"),
        ]

    def __str__(self) -> str:
        return f"report {self.pk}"
