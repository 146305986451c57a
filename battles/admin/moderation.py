from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import ForeignKey, Model
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from battles.admin.categories import LinesField
from battles.models import ModerationEndpoint, ModerationRule
from battles.moderation import policy
from battles.moderation.dry_run import try_rules
from battles.moderation.rule_timing import MAX_RULE_S, search_seconds
from battles.text.matching import InvalidPattern, Matcher
from common.admin.trial_page import TrialPageMixin
from common.payload_types import JsonObject
from models_registry.admin.base import RegistryAdmin
from models_registry.models import Provider

MAX_PATTERNS, MAX_PATTERN_CHARACTERS = 500, 300


class RuleForm(forms.ModelForm):  # type: ignore[type-arg]
    patterns = LinesField(
        label=_("What is looked for"),
        help_text=_(
            "One a line; any of them is enough. A phrase is found as whole words, “contract*” also in “contracts”, and "
            "however it is hidden: by signs, spaces or invisible characters between its letters, look-alikes, accents. "
            "Expressions are RE2's and read texts in lower case without accents. Of the endpoint, the names of its "
            "categories, such as “hate/threatening”."
        ),
    )

    class Meta:
        model = ModerationRule
        fields = ["category", "kind", "patterns", "threshold", "action", "note"]

    def clean_patterns(self) -> list[str]:
        patterns: list[str] = self.cleaned_data["patterns"]
        if len(patterns) > MAX_PATTERNS:
            raise ValidationError(_("At most %(most)d lines."), params={"most": MAX_PATTERNS})
        if too_long := next((line for line in patterns if len(line) > MAX_PATTERN_CHARACTERS), ""):
            words = {"line": f"{too_long[:30]}…", "most": MAX_PATTERN_CHARACTERS}
            raise ValidationError(_("“%(line)s” is longer than %(most)d characters."), params=words)
        return patterns

    def clean(self) -> dict[str, object]:
        cleaned = super().clean() or {}
        kind, patterns = cleaned.get("kind"), cleaned.get("patterns", [])
        if kind and kind != ModerationRule.Kind.ENDPOINT:
            matchers = [self._parse_line(line, ModerationRule(kind=str(kind), patterns=[line])) for line in patterns]
            if not self.errors:
                self._check_speed([matcher for matcher in matchers if matcher is not None], patterns)
        return cleaned

    def _check_speed(self, matchers: list[Matcher], patterns: list[str]) -> None:
        """Add an error if the rule would delay every prompt."""
        if search_seconds(matchers, patterns) > MAX_RULE_S:
            problem = _(
                "Searching a long prompt takes more than %(most)d ms. Use fewer or simpler expressions; repetitions "
                "such as “{0,100}” are slowest."
            )
            self.add_error("patterns", ValidationError(problem, params={"most": MAX_RULE_S * 1000}))

    def _parse_line(self, line: str, rule: ModerationRule) -> Matcher | None:
        try:
            return rule.matcher
        except InvalidPattern as error:
            fits_anything = _("“%(line)s” is empty or matches every text.")
            problem = _("“%(line)s” is not a valid expression: %(problem)s.") if str(error) else fits_anything
            self.add_error("patterns", ValidationError(problem, params={"line": line, "problem": str(error)}))
            return None


class TryForm(forms.Form):
    text = forms.CharField(
        label=_("A text"),
        max_length=20_000,
        widget=forms.Textarea(attrs={"rows": 8, "cols": 100, "dir": "auto"}),
    )
    ask_endpoint = forms.BooleanField(
        label=_("Also send it to the moderation endpoint"),
        required=False,
        help_text=_("The text is sent to the moderation provider and may incur costs."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if policy.current().endpoint is None:
            del self.fields["ask_endpoint"]


@admin.register(ModerationRule)
class ModerationRuleAdmin(TrialPageMixin, RegistryAdmin):
    form = RuleForm
    trial_form = TryForm
    trial_template = "admin/battles/moderationrule/try.html"
    trial_title = _("Try the moderation rules")
    trial_link = _("Try a text")
    list_display = ["category_name", "kind", "pattern_summary", "action", "threshold", "note", "changed_at"]
    list_filter = ["action", "kind"]
    search_fields = ["category", "note", "patterns"]
    fieldsets = [
        (None, {"fields": ["category", "action", "note"]}),
        (
            _("What is looked for"),
            {
                "description": _(
                    "“Refuse” does not send the prompt and shows the category. “Warn” sends it and shows the "
                    "category. “Log” shows nothing. All three add a case to the queue. Prompts are never changed."
                ),
                "fields": ["kind", "patterns", "threshold"],
            },
        ),
    ]

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False  # verdicts refer to rules; administrators switch them off

    def run_trial(self, data: JsonObject) -> object:
        """Try inactive rules, too."""
        return try_rules(data["text"], ask_endpoint=data.get("ask_endpoint", False))

    @admin.display(description=_("category"), ordering="category")
    def category_name(self, rule: ModerationRule) -> str:
        return rule.localized_category

    @admin.display(description=_("what is looked for"))
    def pattern_summary(self, rule: ModerationRule) -> str:
        return ", ".join([*rule.patterns[:3], *(["…"] if len(rule.patterns) > 3 else [])])


@admin.register(ModerationEndpoint)
class ModerationEndpointAdmin(RegistryAdmin):
    list_display = ["provider", "model", "seconds", "refuses_when_away", "is_active"]
    list_select_related = ["provider"]
    fields = ["provider", "model", "seconds", "refuses_when_away", "is_active"]

    def formfield_for_foreignkey(self, db_field: ForeignKey, request: HttpRequest, **options: object) -> object:  # type: ignore[override, type-arg]
        """Offer the site's providers: a team's server must not receive prompts of others."""
        if db_field.name == "provider":
            options["queryset"] = Provider.objects.all()
        return super().formfield_for_foreignkey(db_field, request, **options)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return super().has_add_permission(request) and not ModerationEndpoint.objects.exists()
