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
from benchmarks.checks.reasons import check_reason, placed
from benchmarks.checks.targets import without_templates
from benchmarks.forms.fields import JSONField, text_area
from benchmarks.imports.limits import MAX_CHECKS
from benchmarks.models import Check, Prompt, Template, TemplateVersion
from benchmarks.scoring import registry
from common.payload_types import JsonObject

# Line that separates follow-ups.
_SEPARATOR = re.compile(r"(?m)^---[ \t]*$\n?")


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
    parameters = JSONField(_("Parameters"), "object",
        help_text=_("Sent with every prompt, for example {\"temperature\": 0, \"max_tokens\": 300}."),
    )  # fmt: skip

    def __init__(self, data: QueryDict | None, *, initial: JsonObject, may_publish: bool) -> None:
        super().__init__(data, initial=initial)
        if not may_publish:
            del self.fields["visibility"]

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
        turns = [turn.strip("\n") for turn in _SEPARATOR.split(_lines(self.cleaned_data["follow_ups"]))]
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
        system = [{"role": "system", "template": _lines(data["system"])}] if data["system"].strip() else []
        question = {"role": "user", "template": _lines(data["question"])}
        return Prompt(label=data["label"], messages=[*system, *data["examples"], question], turns=data["follow_ups"])


class _Message(msgspec.Struct, forbid_unknown_fields=True):
    role: str
    template: str

    def __post_init__(self) -> None:
        if self.role not in ("system", "user", "assistant"):
            raise ValueError(f"{self.role!r} is no role")


def _target_text(target: list[object] | None) -> str:
    if not target:
        return ""
    if len(target) == 1 and isinstance(target[0], str) and not target[0].startswith("["):
        return target[0]
    return msgspec.json.encode(target).decode()


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


class CheckForm(forms.Form):
    key = forms.CharField(label=_("Name"), max_length=80)
    scorer = forms.ChoiceField(
        label=_("Compares by"), choices=lambda: [(name, name) for name in sorted(registry.BUILT_IN)],
        # A browser sends the first choice of the untouched form, which then is not an empty one.
        initial="contains",
    )  # fmt: skip
    target = forms.CharField(
        label=_("Target"), required=False, max_length=20_000, widget=forms.Textarea(attrs={"rows": 1}),
        help_text=_("Empty: the expected values of each case. May use variables as a prompt does; or a JSON list."),
    )  # fmt: skip
    settings = JSONField(_("Settings"), "object", rows=1)
    extract = JSONField(_("Extraction"), "list", rows=1,
        help_text=_("Steps before the comparison, for example [{\"step\": \"last_line\"}]."),
    )  # fmt: skip
    weight = forms.FloatField(label=_("Weight"), min_value=0, max_value=1e6, initial=1)
    threshold = forms.FloatField(label=_("Passes from"), required=False, min_value=0, max_value=1)
    metric = forms.CharField(label=_("Metric"), required=False, max_length=80)
    negate = forms.BooleanField(label=_("Swap right and wrong"), required=False)
    is_gate = forms.BooleanField(label=_("Must pass"), required=False)

    @classmethod
    def initial_of(cls, check: Check) -> JsonObject:
        return raw_check(check) | {"target": _target_text(check.target)}

    def clean_target(self) -> list[object] | None:
        """Return values: a JSON list as it is, another text as the only one."""
        text = _lines(self.cleaned_data["target"])
        if not text.strip():
            return None
        try:
            return msgspec.json.decode(text, type=list[object]) if text.startswith("[") else [text]
        except msgspec.MsgspecError as error:
            raise ValidationError(_("This is not JSON: %(reason)s"), params={"reason": str(error)}) from error

    def clean(self) -> None:
        """Refuse bad settings and steps, except of scorers that only the child may import."""
        if self.errors:
            return
        for error in registry.errors_of_checks([without_templates(self._values())], lambda check, position: []):
            place = error.position.removeprefix("checks[0]").strip(".")
            self.add_error(error.field, placed(place, check_reason(error)))

    def check(self) -> Check:
        """Return the unsaved check of valid data."""
        return Check(**self._values())

    def _values(self) -> JsonObject:
        return {name: self.cleaned_data[name] for name in self.base_fields}


def filled_forms(formset: forms.BaseFormSet) -> Sequence[forms.Form]:  # type: ignore[type-arg]
    """Return forms without deleted ones and the untouched one."""
    return [
        form
        for number, form in enumerate(formset.forms)
        if (number < formset.initial_form_count() or form.has_changed()) and form not in formset.deleted_forms
    ]


class BaseCheckFormSet(forms.BaseFormSet):  # type: ignore[type-arg]
    def clean(self) -> None:
        filled = [form for form in filled_forms(self) if form.is_valid()]
        keys = [form.cleaned_data["key"] for form in filled]
        for form in filled:
            if keys.count(form.cleaned_data["key"]) > 1:
                form.add_error("key", _("Another check has this name."))


PromptFormSet = forms.formset_factory(PromptForm, extra=1, max_num=Prompt.MAX_PER_VERSION, can_delete=True)
CheckFormSet = forms.formset_factory(CheckForm, formset=BaseCheckFormSet, extra=1, max_num=MAX_CHECKS, can_delete=True)


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
        self.checks = CheckFormSet(
            data, prefix="checks", initial=[CheckForm.initial_of(check) for check in version.checks.all()]
        )

    def is_valid(self) -> bool:
        # All of them, so that every error is shown at once.
        return all([self.form.is_valid(), self.prompts.is_valid(), self.checks.is_valid()])

    def kept_prompts(self) -> list[Prompt]:
        return [cast(PromptForm, form).prompt() for form in filled_forms(self.prompts) if form.is_valid()]

    def kept_checks(self) -> list[Check]:
        return [cast(CheckForm, form).check() for form in filled_forms(self.checks) if form.is_valid()]

    def content(self) -> DraftContent:
        data = self.form.cleaned_data
        return DraftContent(
            self.kept_prompts(), self.kept_checks(), data["parameters"], data["errors_count"],
            threshold=data["threshold"], relevant_difference=data["relevant_difference"],
        )  # fmt: skip
