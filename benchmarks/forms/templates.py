"""The editor's forms: a template, its prompts and its checks."""

import re
from collections.abc import Sequence
from typing import cast

import msgspec
from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from benchmarks import actions
from benchmarks.actions.drafts import DraftContent
from benchmarks.checks.check_set import raw_check
from benchmarks.forms.checks.form import BaseCheckFormSet, CheckForm, CheckFormSet, moved
from benchmarks.forms.checks.reading import read_check
from benchmarks.forms.fields import JSONField, plain_lines, text_area
from benchmarks.models import Prompt, Template, TemplateVersion
from common.payload_types import JsonObject

# Line that separates follow-ups.
_SEPARATOR = re.compile(r"(?m)^---[ \t]*$\n?")

# Parameters with a field beside the JSON of the others.
_OWN_PARAMETERS = {"temperature": (int, float), "max_tokens": (int,)}
# Fields that few templates need; the editor folds them.
_FOLDED = ["held_out", "errors_count", "threshold", "relevant_difference", *_OWN_PARAMETERS]


class NewTemplateForm(forms.Form):
    name = forms.CharField(label=_("Name"), max_length=120)
    description = forms.CharField(
        label=_("Description"), required=False, max_length=2_000, widget=forms.Textarea(attrs={"rows": 3})
    )


class TemplateForm(NewTemplateForm):
    visibility = forms.ChoiceField(label=_("Who may use it"), choices=Template.Visibility)
    held_out = forms.BooleanField(
        label=_("Held out"), required=False,
        help_text=_("Prompts and references stay out of published runs, so that no model can learn them."),
    )  # fmt: skip
    errors_count = forms.ChoiceField(
        label=_("Answers that failed to arrive count"), choices=TemplateVersion.ErrorsCount
    )
    threshold = forms.FloatField(
        label=_("An answer passes from this score"), required=False, min_value=0, max_value=1,
        help_text=_("From 0 to 1. Empty: it passes when all checks do."),
    )  # fmt: skip
    relevant_difference = forms.FloatField(
        label=_("Smallest difference that matters"), required=False, min_value=0, max_value=1,
        help_text=_("Of two mean scores, for example 0.05. Reports then say how many cases tell it apart."),
    )  # fmt: skip
    temperature = forms.FloatField(
        label=_("Temperature"), required=False, min_value=0, max_value=2,
        help_text=_("0: as little chance as possible. Empty: each model’s own."),
    )  # fmt: skip
    max_tokens = forms.IntegerField(
        label=_("Longest answer (tokens)"), required=False, min_value=1, max_value=10_000_000,
        help_text=_("Empty: as long as each model may answer."),
    )  # fmt: skip
    parameters = JSONField(_("Parameters"), "object",
        help_text=_("Others that are sent with every prompt, for example {\"top_p\": 0.9, \"seed\": 7}."),
    )  # fmt: skip

    def __init__(self, data: QueryDict | None, *, initial: JsonObject, may_publish: bool) -> None:
        """initial: with all parameters; those with a field of their own are shown there."""
        others = dict(initial["parameters"])
        own = {name: others.pop(name) for name, types in _OWN_PARAMETERS.items() if type(others.get(name)) in types}
        super().__init__(data, initial=initial | own | {"parameters": others})
        if not may_publish:
            del self.fields["visibility"]

    @property
    def shown_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in self.fields if name not in (*_FOLDED, "parameters")]

    @property
    def folded_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in _FOLDED]

    @property
    def has_folded_errors(self) -> bool:
        return any(name in self.errors for name in _FOLDED)

    def clean_temperature(self) -> float | None:
        """Return a whole number as one, which is the same call for reused answers."""
        value: float | None = self.cleaned_data["temperature"]
        return int(value) if value is not None and value.is_integer() else value

    def clean(self) -> None:
        own = {name: self.cleaned_data.get(name) for name in _OWN_PARAMETERS}
        given = {name: value for name, value in own.items() if value is not None}
        self.cleaned_data["parameters"] = self.cleaned_data.get("parameters", {}) | given

    def save(self, template: Template, *, by: User) -> None:
        data = self.cleaned_data
        actions.update_template(
            template, name=data["name"], description=data["description"], held_out=data["held_out"],
            visibility=data.get("visibility", template.visibility), by=by,
        )  # fmt: skip


class PromptForm(forms.Form):
    """System text, question and follow-ups; other messages as JSON."""

    label = forms.CharField(label=_("Label"), required=False, max_length=80)
    system = text_area(_("System prompt"), rows=2, required=False)
    question = text_area(_("Prompt"), rows=5)
    follow_ups = text_area(
        _("Follow-ups"), rows=2, required=False,
        help_text=_("Asked after the model’s own answers. Put --- on a line between two of them."),
    )  # fmt: skip
    examples = JSONField(_("Messages before the prompt"), "list",
        help_text=_("For examples: [{\"role\": \"user\", \"template\": \"…\"}, …], also with the role assistant."),
    )  # fmt: skip

    @staticmethod
    def initial_of(prompt: Prompt) -> JsonObject:
        messages = list(prompt.messages)
        system = messages.pop(0)["template"] if messages and messages[0]["role"] == "system" else ""
        question = messages.pop()["template"] if messages and messages[-1]["role"] == "user" else ""
        turns = "\n---\n".join(prompt.turns)
        return {
            "label": prompt.label, "system": system, "question": question, "follow_ups": turns, "examples": messages,
        }  # fmt: skip

    def clean_follow_ups(self) -> list[str]:
        turns = [turn.strip("\n") for turn in _SEPARATOR.split(plain_lines(self.cleaned_data["follow_ups"]))]
        turns = [turn for turn in turns if turn.strip()]
        if len(turns) > Prompt.MAX_TURNS:
            raise ValidationError(_("A prompt has at most %(most)s follow-ups."), params={"most": Prompt.MAX_TURNS})
        return turns

    def clean_examples(self) -> list[JsonObject]:
        try:
            messages = msgspec.convert(self.cleaned_data["examples"], list[_Message])
        except msgspec.ValidationError as error:
            raise ValidationError(
                _("This is not a list of messages: %(reason)s"), params={"reason": str(error)}
            ) from None
        if len(messages) > Prompt.MAX_MESSAGES - 2:
            raise ValidationError(_("A prompt has at most %(most)s messages."), params={"most": Prompt.MAX_MESSAGES})
        return [msgspec.structs.asdict(message) for message in messages]

    def prompt(self) -> Prompt:
        """Return the unsaved prompt of valid data."""
        data = self.cleaned_data
        system = [{"role": "system", "template": plain_lines(data["system"])}] if data["system"].strip() else []
        question = {"role": "user", "template": plain_lines(data["question"])}
        return Prompt(label=data["label"], messages=[*system, *data["examples"], question], turns=data["follow_ups"])


class _Message(msgspec.Struct, forbid_unknown_fields=True):
    role: str
    template: str

    def __post_init__(self) -> None:
        if self.role not in ("system", "user", "assistant"):
            raise ValueError(f"{self.role!r} is no role")


def filled_forms(formset: forms.BaseFormSet) -> Sequence[forms.Form]:  # type: ignore[type-arg]
    """Return forms without deleted ones and the untouched one."""
    return [
        form
        for number, form in enumerate(formset.forms)
        if (number < formset.initial_form_count() or form.has_changed()) and form not in formset.deleted_forms
    ]


PromptFormSet = forms.formset_factory(PromptForm, extra=1, max_num=Prompt.MAX_PER_VERSION, can_delete=True)


class Editor:
    def __init__(
        self, template: Template, version: TemplateVersion, data: QueryDict | None = None, *, may_publish: bool = False
    ) -> None:
        initial = {
            "name": template.name, "description": template.description, "visibility": template.visibility,
            "held_out": template.held_out, "errors_count": version.errors_count, "parameters": version.parameters,
            "threshold": version.threshold, "relevant_difference": version.relevant_difference,
        }  # fmt: skip
        self.template, self.version = template, version
        self.form = TemplateForm(data, initial=initial, may_publish=may_publish)
        self.prompts = PromptFormSet(
            data, prefix="prompts", initial=[PromptForm.initial_of(prompt) for prompt in version.prompts.all()]
        )
        stored = [(read_check(raw), raw) for raw in map(raw_check, version.checks.all())]
        after_move = None if data is None else moved(data)
        self.is_moved = after_move is not None
        formset = CheckFormSet(
            after_move or data, prefix="checks", form_kwargs={"stored": stored, "hides_errors": self.is_moved},
            initial=[CheckForm.initial_of(raw) for _values, raw in stored] if data is None else None,
        )  # fmt: skip
        self.checks = cast(BaseCheckFormSet, formset)

    def is_valid(self) -> bool:
        # All of them, so that every error is shown at once.
        return all([self.form.is_valid(), self.prompts.is_valid(), self.checks.is_valid()])

    def kept_prompts(self) -> list[Prompt]:
        return [cast(PromptForm, form).prompt() for form in filled_forms(self.prompts) if form.is_valid()]

    def content(self) -> DraftContent:
        data = self.form.cleaned_data
        return DraftContent(
            self.kept_prompts(), self.checks.checks(), data["parameters"], data["errors_count"],
            threshold=data["threshold"], relevant_difference=data["relevant_difference"],
        )  # fmt: skip
