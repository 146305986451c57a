"""Rules and thresholds of auto mode, and a page to try a question: nothing is called and nothing stored."""

from collections.abc import Iterable
from dataclasses import dataclass

from django import forms
from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.actor import Actor
from accounts.admin.audited import AuditedAdmin
from accounts.models import Team
from battles.auto.options import DEFAULT_DIAL, MAX_WORKFLOW_CHARACTERS, RoutingContext
from battles.auto.port import Routed, RoutingRequest, route
from battles.auto.reasons import reason_sentence
from common.admin.single_row import SingleRowMixin
from common.admin.trial_page import TrialPageMixin
from common.payload_types import JsonObject
from routing.admin.decisions import candidate_table
from routing.deciding.query_types import type_names
from routing.forms import CONDITIONS, DECISION, RuleForm
from routing.models import RoutingThresholds, Rule

_THRESHOLDS = ("min_confidence", "max_explored_share", "stay_margin")


class TryForm(forms.Form):
    text = forms.CharField(
        label=_("A question"), max_length=20_000,
        widget=forms.Textarea(attrs={"rows": 8, "cols": 100, "dir": "auto"}),
    )  # fmt: skip
    tools = forms.BooleanField(label=_("The application has tools"), required=False)
    data_loaded = forms.BooleanField(label=_("The application has loaded data of its own"), required=False)
    workflow = forms.CharField(label=_("Workflow"), max_length=MAX_WORKFLOW_CHARACTERS, required=False)
    needs_images = forms.BooleanField(label=_("With images"), required=False)
    allow_battle = forms.BooleanField(label=_("A battle is possible"), required=False, initial=True)
    dial = forms.FloatField(
        label=_("Dial"), min_value=0, max_value=1, initial=DEFAULT_DIAL,
        widget=forms.NumberInput(attrs={"step": "0.05"}), help_text=_("0: the cheapest model. 1: the best."),
    )  # fmt: skip


@dataclass(frozen=True)
class Trial:
    """Decision on a question as the page shows it."""

    routed: Routed
    target: str
    sentence: str
    query_type: str
    candidates: SafeString | str


def _routing_request(data: JsonObject) -> RoutingRequest:
    return RoutingRequest(
        prompts=(data["text"],),
        needs_images=data["needs_images"],
        context=RoutingContext(data["tools"], data["data_loaded"], data["workflow"]),
        dial=data["dial"],
        allow_battle=data["allow_battle"],
        records=False,
    )


@admin.register(Rule)
class RuleAdmin(TrialPageMixin, AuditedAdmin):
    form = RuleForm
    trial_form = TryForm
    trial_template = "admin/routing/rule/try.html"
    trial_title = _("Try auto mode")
    trial_link = _("Try a question")
    list_display = ["order", "__str__", "conditions", "target", "model", "is_active"]
    list_display_links = ["__str__"]
    list_select_related = ["model"]
    list_filter = ["is_active", "target"]
    search_fields = ["note", "workflow"]
    autocomplete_fields = ["model", "token"]
    fieldsets = [
        (None, {"fields": ["order", "note", "is_active"]}),
        (_("When"), {"fields": CONDITIONS, "description": _("All conditions must hold. Empty ones always do.")}),
        (_("Then"), {"fields": DECISION}),
    ]

    def get_fieldsets(self, request: HttpRequest, obj: Rule | None = None) -> list[object]:  # type: ignore[override]
        first, *others = super().get_fieldsets(request, obj)
        owner = ["team"] if Team.objects.exists() else []
        return [(None, {"fields": [*owner, *first[1]["fields"]]}), *others]

    def run_trial(self, data: JsonObject) -> Trial:
        routed = route(_routing_request(data), Actor())
        return Trial(
            routed,
            str(routed.target.label),
            reason_sentence(routed.reason, routed.details),
            type_names().get(routed.query_type, routed.query_type),
            candidate_table([alternative.as_json for alternative in routed.alternatives]),
        )

    @admin.display(description=_("when"))
    def conditions(self, rule: Rule) -> str:
        return ", ".join(f"{name}: {value}" for name, value in _values(rule, CONDITIONS).items()) or gettext("always")

    def state_of(self, row: Rule) -> dict[str, object]:
        return {"order": row.order, "is_active": row.is_active, **_values(row, ("team", *CONDITIONS, *DECISION))}


def _values(rule: Rule, names: Iterable[str]) -> dict[str, object]:
    """Return the set fields as texts; lists as they are."""
    values = {name: getattr(rule, name) for name in names}
    return {
        name: value if isinstance(value, list) else str(value)
        for name, value in values.items()
        if value not in (None, "", [])
    }


@admin.register(RoutingThresholds)
class RoutingThresholdsAdmin(SingleRowMixin, AuditedAdmin):
    fields = _THRESHOLDS

    def state_of(self, row: RoutingThresholds) -> dict[str, object]:
        return {name: getattr(row, name) for name in _THRESHOLDS}

    def subject_of(self, row: Model) -> str:
        return "thresholds of auto mode"
