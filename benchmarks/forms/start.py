from collections.abc import Sequence
from decimal import Decimal
from typing import cast

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from accounts.models import Team, User
from benchmarks import actions
from benchmarks.actions import EntrantRequest
from benchmarks.actions.runs import has_images
from benchmarks.forms.fields import JSONField
from benchmarks.models import Prompt, Run, TemplateVersion
from common.errors import ArenaError
from common.payload_types import JsonObject
from models_registry.models import LanguageModel
from models_registry.validators import validate_parameters

# Fields that few runs need; the page folds them.
ADVANCED = ["baseline", "concurrency", "reuse_days", "parameters"]


class StartForm(forms.Form):
    """A run of a version: the entrants are models times prompts."""

    models = forms.MultipleChoiceField(label=_("Models"), widget=forms.CheckboxSelectMultiple)
    prompts = forms.MultipleChoiceField(label=_("Prompts"), widget=forms.CheckboxSelectMultiple)
    baseline = forms.ChoiceField(
        label=_("Baseline"), required=False, help_text=_("The entrant that the others are compared with, if any.")
    )
    name = forms.CharField(label=_("Name"), required=False, max_length=120)
    repeats = forms.IntegerField(
        label=_("Repeats"), initial=1, min_value=1, max_value=Run.MAX_REPEATS,
        help_text=_("How often each case is asked. Repeats show how much a model’s answers vary."),
    )  # fmt: skip
    concurrency = forms.IntegerField(
        label=_("Calls at once"), initial=16, min_value=1, max_value=Run.MAX_CONCURRENCY,
        help_text=_("At most. Battles of people always come first."),
    )  # fmt: skip
    budget = forms.DecimalField(
        label=_("Budget in US dollars"), required=False, min_value=Decimal("0.00000001"), max_digits=14,
        decimal_places=8, help_text=_("The run never spends more. Free models need none."),
    )  # fmt: skip
    reuse_days = forms.IntegerField(
        label=_("Reuse answers up to so many days old"), required=False, min_value=1, max_value=Run.MAX_REUSE_DAYS,
        help_text=_("Only of your own runs, to exactly the same calls. Empty: every call is made."),
    )  # fmt: skip
    parameters = JSONField(_("Parameters"), "object", rows=2,
        help_text=_("For all entrants, over their own and the template’s, for example {\"temperature\": 0}."),
    )  # fmt: skip
    starts_at_once = forms.BooleanField(label=_("Start as soon as it is prepared"), required=False, initial=True)

    def __init__(
        self, data: QueryDict | None, *, version: TemplateVersion, models: Sequence[LanguageModel],
        team: Team | None = None,
    ) -> None:  # fmt: skip
        needs_images = has_images(version)
        free = [model for model in models if not model.is_paid and (model.sees_images or not needs_images)]
        super().__init__(data, initial={"models": [model.slug for model in free[:3] or models[:1]]})
        self._team = team
        if team is not None:
            sentence = _("Only of the team’s runs, to exactly the same calls. Empty: every call is made.")
            self.fields["reuse_days"].help_text = sentence
        self._models = {model.slug: model for model in models}
        self._prompts = {str(prompt.position): prompt for prompt in version.prompts.all()}
        slugs = [(slug, str(model)) for slug, model in self._models.items()]
        labels = [
            (position, prompt.label or _("Prompt %(number)s") % {"number": prompt.position + 1})
            for position, prompt in self._prompts.items()
        ]
        for name, choices in (("models", slugs), ("prompts", labels), ("baseline", slugs)):
            cast(forms.ChoiceField, self.fields[name]).choices = choices
        if len(labels) == 1:
            self.fields["prompts"].required = False
            self.fields["prompts"].widget = forms.MultipleHiddenInput()
        self.initial.setdefault("prompts", [position for position, _label in labels])

    @property
    def advanced_fields(self) -> list[forms.BoundField]:
        """Return those after the baseline, which is chosen in a picker."""
        return [self[name] for name in ADVANCED[1:]]

    @property
    def is_advanced_open(self) -> bool:
        return self.is_bound and any(name in self.errors or name in self.changed_data for name in ADVANCED)

    def clean_parameters(self) -> JsonObject:
        parameters: JsonObject = self.cleaned_data["parameters"]
        validate_parameters(parameters)
        return parameters

    def clean(self) -> None:
        data = self.cleaned_data
        if data.get("baseline") and data["baseline"] not in data.get("models", []):
            self.add_error("baseline", ValidationError(_("Choose one of the run’s models.")))

    @property
    def pairs(self) -> list[tuple[LanguageModel, Prompt]]:
        """Return the entrants chosen so far, also of a form with errors."""
        data = self.cleaned_data
        positions = data.get("prompts") or list(self._prompts)[:1]
        prompts = [self._prompts[position] for position in positions if position in self._prompts]
        return [(self._models[slug], prompt) for slug in data.get("models", []) for prompt in prompts]

    def create_run(self, owner: User, version: TemplateVersion) -> Run:
        """Raises as actions.create_run does."""
        data = self.cleaned_data
        requests = [
            EntrantRequest(
                model, prompt, data["parameters"],
                is_baseline=number == self._baseline_number(), label=prompt.label if len(self._prompts) > 1 else "",
            )
            for number, (model, prompt) in enumerate(self.pairs)
        ]  # fmt: skip
        return actions.create_run(
            owner=owner, version=version, team=self._team, entrants=requests, name=data["name"],
            repeats=data["repeats"], concurrency=data["concurrency"], budget=data["budget"],
            reuse_days=data["reuse_days"], starts_at_once=data["starts_at_once"],
        )  # fmt: skip

    def _baseline_number(self) -> int | None:
        slugs = [model.slug for model, _prompt in self.pairs]
        baseline = self.cleaned_data["baseline"]
        return slugs.index(baseline) if baseline in slugs else None

    def add_refusal(self, refusal: ArenaError) -> None:
        """Show each sentence at its field; those about models at the models."""
        if not refusal.fields:
            is_about_budget = self.cleaned_data.get("budget") is None and any(
                model.is_paid for model, _prompt in self.pairs
            )
            self.add_error("budget" if is_about_budget else None, refusal.detail)
        for name, lines in (refusal.fields or {}).items():
            place = "models" if name in self._models or name == "entrants" else name
            self.add_error(place if place in self.fields else None, lines)
