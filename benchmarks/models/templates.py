"""Templates, and what their versions are made of. A frozen version never changes."""

from typing import TYPE_CHECKING

import pgtrigger
from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from accounts.models import Team
from common.ids import new_public_id

if TYPE_CHECKING:
    from django_stubs_ext.db.models.manager import RelatedManager

    from benchmarks.models.files import CaseFile


class Template(models.Model):
    """A set of cases with the prompts that ask them and the checks that score the answers."""

    class Kind(models.TextChoices):
        TEXT = "text", _("text")
        CHAT = "chat", _("chat")
        CHOICE = "choice", _("multiple choice")
        IMAGES = "images", _("images")
        # Made for one judging; in no list.
        JUDGING = "judge", _("judging")

    class Visibility(models.TextChoices):
        PRIVATE = "private", _("private")
        SITE = "site", _("the whole site")

    public_id = models.CharField(max_length=22, unique=True, default=new_public_id, editable=False)
    owner_user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="benchmark_templates"
    )
    # The owner, if there is one; owner_user is then who made it.
    team = models.ForeignKey(Team, models.PROTECT, null=True, related_name="benchmark_templates", db_index=False)
    slug = models.SlugField(max_length=120)
    name = models.CharField(max_length=120)
    description = models.TextField(blank=True)
    kind = models.CharField(max_length=6, choices=Kind, default=Kind.TEXT)
    visibility = models.CharField(max_length=7, choices=Visibility, default=Visibility.PRIVATE)
    # Prompts and references stay out of published pages and of others' exports.
    held_out = models.BooleanField(default=False)
    archived_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    if TYPE_CHECKING:
        versions: RelatedManager["TemplateVersion"]

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["owner_user", "slug"], condition=Q(team=None), name="a_member_names_a_template_once"
            ),
            models.UniqueConstraint(
                fields=["team", "slug"], condition=Q(team__isnull=False), name="a_team_names_a_template_once"
            ),
            models.CheckConstraint(
                condition=Q(team=None) | Q(visibility="private"), name="a_thing_belongs_to_a_person_or_a_team"
            ),
        ]
        triggers = [pgtrigger.ReadOnly(name="a_template_stays_with_its_owner", fields=["team"])]

    def __str__(self) -> str:
        return self.name

    def draft(self) -> "TemplateVersion | None":
        return self.versions.filter(state=TemplateVersion.State.DRAFT).first()


class TemplateVersion(models.Model):
    class State(models.TextChoices):
        DRAFT = "draft", _("draft")
        FROZEN = "frozen", _("frozen")

    class ErrorsCount(models.TextChoices):
        MISSING = "missing", _("as missing")
        WRONG = "wrong", _("as wrong")

    template = models.ForeignKey(Template, models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField(default=1)
    state = models.CharField(max_length=6, choices=State, default=State.DRAFT)
    # SHA-256 of what a run or its scores depend on, hexadecimal; empty while a draft.
    digest = models.CharField(max_length=64, blank=True)
    # JSON Schema of a case's variables; empty: anything.
    variables = models.JSONField(default=dict, blank=True)
    # Sent beside the model's own, for example temperature or max_tokens.
    parameters = models.JSONField(default=dict, blank=True)
    errors_count = models.CharField(max_length=7, choices=ErrorsCount, default=ErrorsCount.MISSING)
    # Score from which an item passes; null: all checks must pass.
    threshold = models.FloatField(null=True)
    # The smallest difference of scores that matters.
    relevant_difference = models.FloatField(null=True)
    case_count = models.PositiveIntegerField(default=0)
    import_report = models.JSONField(default=dict, blank=True)
    frozen_at = models.DateTimeField(null=True)

    if TYPE_CHECKING:
        prompts: RelatedManager["Prompt"]
        checks: RelatedManager["Check"]
        cases: RelatedManager["Case"]

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["template", "number"], name="a_template_has_each_version_once"),
            models.UniqueConstraint(fields=["template"], condition=Q(state="draft"), name="a_template_has_one_draft"),
            models.CheckConstraint(
                condition=Q(state="draft") | (Q(frozen_at__isnull=False) & ~Q(digest="")),
                name="a_frozen_version_has_a_digest",
            ),
        ]
        triggers = [
            pgtrigger.Protect(
                name="what_a_run_used_never_changes", operation=pgtrigger.Update,
                condition=pgtrigger.Q(old__state="frozen"),
            ),
        ]  # fmt: skip

    def __str__(self) -> str:
        return f"{self.template} {self.number}"


def _frozen_with_version(what: str) -> pgtrigger.Trigger:
    """Return a trigger that refuses changes to rows of frozen versions."""
    return pgtrigger.Trigger(
        name=f"{what}_of_a_run_never_change",
        when=pgtrigger.Before,
        operation=pgtrigger.Insert | pgtrigger.Update | pgtrigger.Delete,
        func="""
            IF EXISTS (
                SELECT FROM benchmarks_templateversion
                WHERE id = CASE TG_OP WHEN 'DELETE' THEN OLD.version_id ELSE NEW.version_id END AND state = 'frozen'
            ) THEN
                RAISE EXCEPTION 'what_a_run_used_never_changes: % of a frozen version', TG_TABLE_NAME;
            END IF;
            IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
            RETURN NEW;
        """,
    )


class Prompt(models.Model):
    MAX_MESSAGES, MAX_TURNS, MAX_PER_VERSION = 10, 4, 10

    version = models.ForeignKey(TemplateVersion, models.CASCADE, related_name="prompts")
    position = models.PositiveSmallIntegerField(default=0)
    label = models.CharField(max_length=80, blank=True)
    # [{"role": …, "template": …}]
    messages = models.JSONField()
    # Templates of follow-ups; each sees the entrant's own answers.
    turns = models.JSONField(default=list, blank=True)

    class Meta:
        ordering = ["version", "position"]
        constraints = [
            models.UniqueConstraint(fields=["version", "position"], name="a_version_has_its_prompts_in_order"),
            models.CheckConstraint(condition=Q(position__lt=10), name="a_version_has_ten_prompts_at_most"),
        ]
        triggers = [_frozen_with_version("prompts")]

    def __str__(self) -> str:
        return self.label or f"prompt {self.position}"


class Check(models.Model):
    version = models.ForeignKey(TemplateVersion, models.CASCADE, related_name="checks")
    position = models.PositiveSmallIntegerField(default=0)
    key = models.CharField(max_length=80)
    scorer = models.CharField(max_length=40)
    # Values to compare with, of which texts are templates; null: the case's expected ones.
    target = models.JSONField(null=True, blank=True)
    settings = models.JSONField(default=dict, blank=True)
    extract = models.JSONField(default=list, blank=True)
    weight = models.FloatField(default=1, validators=[MinValueValidator(0)])
    negate = models.BooleanField(default=False)
    threshold = models.FloatField(null=True)
    is_gate = models.BooleanField(default=False)
    metric = models.CharField(max_length=80, blank=True)

    class Meta:
        ordering = ["version", "position", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["version", "key"], name="a_version_names_a_check_once"),
            models.CheckConstraint(condition=Q(weight__gte=0), name="a_weight_is_not_negative"),
        ]
        triggers = [_frozen_with_version("checks")]

    def __str__(self) -> str:
        return self.key


class Case(models.Model):
    version = models.ForeignKey(TemplateVersion, models.CASCADE, related_name="cases")
    position = models.PositiveIntegerField()
    key = models.CharField(max_length=120)
    variables = models.JSONField(default=dict, blank=True)
    expected = models.JSONField(default=list, blank=True)
    # A ready-made chat, sent between the prompt's system messages and its others.
    messages = models.JSONField(null=True)
    # Checks in addition to the version's.
    checks = models.JSONField(null=True)
    # Cases that are alike; empty: the case itself.
    cluster = models.CharField(max_length=120, blank=True)
    tags = ArrayField(models.CharField(max_length=80), default=list, blank=True)
    metadata = models.JSONField(default=dict, blank=True)
    weight = models.FloatField(default=1)
    # Threshold in place of the version's.
    threshold = models.FloatField(null=True)
    # SHA-256 of variables, expected, messages and files, to match cases across versions.
    digest = models.CharField(max_length=64, blank=True)

    if TYPE_CHECKING:
        files: RelatedManager["CaseFile"]

    class Meta:
        ordering = ["version", "position"]
        constraints = [
            models.UniqueConstraint(fields=["version", "key"], name="a_version_has_each_case_once"),
            models.UniqueConstraint(fields=["version", "position"], name="a_version_has_its_cases_in_order"),
            models.CheckConstraint(condition=Q(weight__gt=0), name="a_case_weighs_more_than_nothing"),
        ]
        indexes = [models.Index(fields=["version", "digest"], name="cases_by_digest")]
        triggers = [_frozen_with_version("cases")]

    def __str__(self) -> str:
        return self.key


class RenderedPrompt(models.Model):
    """The messages sent for a case, made once by the guarded child: running renders nothing."""

    prompt = models.ForeignKey(Prompt, models.CASCADE, related_name="rendered", db_index=False)
    case = models.ForeignKey(Case, models.CASCADE, related_name="rendered")
    messages = models.JSONField()
    turns = models.JSONField(default=list, blank=True)
    digest = models.CharField(max_length=64)
    characters = models.PositiveIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["prompt", "case"], name="a_prompt_is_rendered_once_for_a_case")]

    def __str__(self) -> str:
        return f"{self.prompt_id} {self.case_id}"


class RenderedTargets(models.Model):
    """Rendered targets of a case's checks, in the order of benchmarks.checks.targets.templates_of."""

    case = models.OneToOneField(Case, models.CASCADE, related_name="rendered_targets")
    targets = models.JSONField()

    class Meta:
        verbose_name_plural = _("rendered targets")

    def __str__(self) -> str:
        return f"targets of {self.case_id}"
