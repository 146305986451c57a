from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import ForeignKey, Model
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from battles.editing.forms import RuleForm
from battles.models import ModerationEndpoint, ModerationRule
from battles.moderation import policy
from battles.moderation.dry_run import try_rules
from common.admin.trial_page import TrialPageMixin
from common.payload_types import JsonObject
from models_registry.admin.base import OwnedAdmin, RegistryAdmin
from models_registry.models import Provider


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
class ModerationRuleAdmin(TrialPageMixin, OwnedAdmin):
    form = RuleForm
    list_select_related = ["team"]
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
