"""The editor of judges: a rubric in fields, and a trial on pasted answers."""

from collections.abc import Sequence
from typing import cast

import msgspec
from django import forms
from django.http import QueryDict
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from benchmarks.forms.fields import plain_lines, text_area
from benchmarks.forms.rows import add_row, remove_row
from benchmarks.judges.actions import JudgeContent
from benchmarks.judging.rubrics import (
    MAX_CRITERIA,
    MAX_NAME,
    MAX_POINTS,
    MAX_WEIGHT,
    MIN_POINTS,
    MIN_WEIGHT,
    Criterion,
    Kind,
    Rubric,
)
from benchmarks.models import Judge
from common.payload_types import JsonObject
from models_registry.models import LanguageModel

DEFAULT_POINTS = 5
_POINTS = range(MIN_POINTS, MAX_POINTS + 1)
_ANCHORS = [f"anchor_{point}" for point in range(1, MAX_POINTS + 1)]
# Parameters with a field; a judge keeps its others.
_OWN_PARAMETERS = ("temperature", "max_tokens")
MAX_QUESTION = 1_000
_OWN_FAMILY = [
    (Judge.OwnFamily.EXCLUDE, _("Leave them out")),
    (Judge.OwnFamily.FLAG, _("Judge and mark them")),
    (Judge.OwnFamily.ALLOW, _("Judge them like others")),
]


class JudgeForm(forms.Form):
    name = forms.CharField(label=_("Name"), max_length=120)
    kind = forms.ChoiceField(
        label=_("What it does"), choices=Judge.Kind, widget=forms.RadioSelect, initial=Judge.Kind.PAIRWISE
    )
    instructions = text_area(
        _("Instructions"), rows=3, required=False,
        help_text=_("What the answers are for, and what the judge should know. It always gets the question."),
    )  # fmt: skip
    uses_reference = forms.BooleanField(
        label=_("Show the judge the expected answer"), required=False,
        help_text=_("Of cases that have one. It then takes the expected answer for right."),
    )  # fmt: skip
    own_family = forms.ChoiceField(
        label=_("Answers of models of the judge’s own organization"), choices=_OWN_FAMILY,
        initial=Judge.OwnFamily.EXCLUDE, help_text=_("Judges tend to prefer answers of their own family."),
    )  # fmt: skip
    temperature = forms.FloatField(
        label=_("Temperature"), required=False, min_value=0, max_value=2, initial=0,
        help_text=_("0: as little chance as possible. Empty: the model’s own."),
    )  # fmt: skip
    max_tokens = forms.IntegerField(
        label=_("Longest answer (tokens)"), required=False, min_value=1, max_value=10_000_000,
        help_text=_("Empty: as long as the model may answer. A verdict that is cut off does not count."),
    )  # fmt: skip
    models = forms.ChoiceField(label=_("Model"), error_messages={"required": _("Choose the model that judges.")})

    def __init__(self, data: QueryDict | None, *, models: Sequence[LanguageModel], initial: JsonObject) -> None:
        super().__init__(data, initial=initial)
        self._models = {slug: model for model in models for slug in model.slugs}
        cast(forms.ChoiceField, self.fields["models"]).choices = [(slug, slug) for slug in self._models]

    @property
    def folded_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in ("own_family", *_OWN_PARAMETERS)]

    @property
    def is_folded_open(self) -> bool:
        return self.is_bound and any(field.errors for field in self.folded_fields)

    def clean_temperature(self) -> float | None:
        value: float | None = self.cleaned_data["temperature"]
        return int(value) if value is not None and value.is_integer() else value

    @property
    def model(self) -> LanguageModel:
        return self._models[self.cleaned_data["models"]]

    def parameters(self, others: JsonObject) -> JsonObject:
        """others: of the judge so far."""
        own = {name: self.cleaned_data[name] for name in _OWN_PARAMETERS}
        kept = {name: value for name, value in others.items() if name not in own}
        return kept | {name: value for name, value in own.items() if value is not None}


class CriterionForm(forms.Form):
    name = forms.CharField(label=_("Criterion"), max_length=MAX_NAME)
    question = forms.CharField(
        label=_("Question to the judge"), required=False, max_length=MAX_QUESTION,
        widget=forms.Textarea(attrs={"rows": 1, "dir": "auto"}),
    )  # fmt: skip
    weight = forms.FloatField(label=_("Weight"), min_value=MIN_WEIGHT, max_value=MAX_WEIGHT, initial=1)
    points = forms.TypedChoiceField(
        label=_("Points"), coerce=int, choices=[(number, number) for number in _POINTS], initial=DEFAULT_POINTS,
    )  # fmt: skip

    def __init__(self, *arguments: object, **options: object) -> None:
        super().__init__(*arguments, **options)  # type: ignore[arg-type]
        for point, name in enumerate(_ANCHORS, 1):
            label = gettext("What %(points)s means") % {"points": point}
            self.fields[name] = forms.CharField(
                label=label, required=False, max_length=300, widget=forms.TextInput(attrs={"dir": "auto"})
            )

    @property
    def anchors(self) -> list[forms.BoundField]:
        return [self[name] for name in _ANCHORS]

    @property
    def has_anchors(self) -> bool:
        return any(field.value() or field.errors for field in self.anchors)

    @staticmethod
    def initial_of(criterion: Criterion) -> JsonObject:
        anchors = dict(zip(_ANCHORS, criterion.anchors, strict=False))
        weight = int(criterion.weight) if criterion.weight == int(criterion.weight) else criterion.weight
        return {
            "name": criterion.name, "question": criterion.question, "points": criterion.points, "weight": weight,
        } | anchors  # fmt: skip

    def criterion(self) -> Criterion:
        """Return the criterion of valid data."""
        data = self.cleaned_data
        anchors = [data[name] for name in _ANCHORS[: data["points"]]]
        return Criterion(
            name=data["name"], question=plain_lines(data["question"]), points=data["points"], weight=data["weight"],
            anchors=anchors if any(anchors) else [],
        )  # fmt: skip


class BaseCriterionFormSet(forms.BaseFormSet):  # type: ignore[type-arg]
    def get_form_kwargs(self, index: int | None) -> dict[str, object]:
        return super().get_form_kwargs(index) | {"empty_permitted": False}

    def clean(self) -> None:
        names = [form.cleaned_data.get("name") for form in self.forms]
        for form in self.forms:
            if form.cleaned_data.get("name") and names.count(form.cleaned_data["name"]) > 1:
                form.add_error("name", _("Another criterion has this name."))


CriterionFormSet = forms.formset_factory(
    CriterionForm, formset=BaseCriterionFormSet, extra=0, max_num=MAX_CRITERIA, validate_max=True
)


class TrialForm(forms.Form):
    question = text_area(_("Question"), rows=2)
    reference = text_area(_("Expected answer"), rows=1, required=False)
    first = text_area(_("Answer"), rows=3)
    second = text_area(_("Another answer, to compare with"), rows=3, required=False)


class JudgeEditor:
    """is_moved: after a button that adds or removes a criterion."""

    def __init__(
        self, data: QueryDict | None, *, judge: Judge | None, models: Sequence[LanguageModel],
        trial: JsonObject | None = None,
    ) -> None:  # fmt: skip
        """models: that can judge. trial: first texts to try the judge on."""
        self.judge = judge
        self.is_moved = data is not None and ("add_criterion" in data or "remove_criterion" in data)
        if data is not None and self.is_moved:
            data = data.copy()
            if "add_criterion" in data:
                add_row(data, "criteria", weight="1", points=str(DEFAULT_POINTS))
            remove_row(data, "criteria", data.get("remove_criterion", ""))
        rubric = _first_rubric() if judge is None else msgspec.convert(judge.rubric, Rubric)
        self.form = JudgeForm(data, models=models, initial=_initial_of(judge, rubric))
        self.criteria = CriterionFormSet(
            data, prefix="criteria", initial=[CriterionForm.initial_of(criterion) for criterion in rubric.criteria]
        )
        self.trial = TrialForm(data, initial=trial or {})

    @property
    def has_room(self) -> bool:
        return self.criteria.total_form_count() < MAX_CRITERIA

    def is_valid(self) -> bool:
        is_valid = all([self.form.is_valid(), self.criteria.is_valid()])
        if is_valid and self.form.cleaned_data["kind"] == Kind.SCORES and not self.criteria.forms:
            self.form.add_error(None, _("Grades need at least one criterion."))
            return False
        return is_valid

    def is_trial_valid(self) -> bool:
        """Return whether the judge can be tried; a name is not needed."""
        self.form.fields["name"].required = False
        are_valid = [self.is_valid(), self.trial.is_valid()]
        compares = all(are_valid) and self.form.cleaned_data["kind"] == Kind.PAIRWISE
        if compares and not self.trial.cleaned_data["second"].strip():
            self.trial.add_error("second", _("A judge that compares needs two answers."))
            return False
        return all(are_valid)

    def rubric(self) -> Rubric:
        data = self.form.cleaned_data
        return Rubric(
            kind=Kind(data["kind"]), instructions=plain_lines(data["instructions"]),
            criteria=[cast(CriterionForm, form).criterion() for form in self.criteria],
            uses_reference=data["uses_reference"],
        )  # fmt: skip

    def content(self) -> JudgeContent:
        data = self.form.cleaned_data
        parameters = self.form.parameters({} if self.judge is None else self.judge.parameters)
        return JudgeContent(data["name"], self.form.model, self.rubric(), parameters, data["own_family"])


def _initial_of(judge: Judge | None, rubric: Rubric) -> JsonObject:
    shown = {
        "kind": rubric.kind.value, "instructions": rubric.instructions, "uses_reference": rubric.uses_reference,
    }  # fmt: skip
    if judge is None:
        return shown
    own = {name: judge.parameters.get(name) for name in _OWN_PARAMETERS}
    return shown | own | {"name": judge.name, "own_family": judge.own_family, "models": judge.model.full_slug}


def _first_rubric() -> Rubric:
    """Return the criteria with which a new judge begins."""
    questions = {
        gettext("Correctness"): gettext("Is everything in the answer true?"),
        gettext("Usefulness"): gettext("Does it answer what was asked, and all of it?"),
        gettext("Clarity"): gettext("Is it easy to follow, and no longer than it needs to be?"),
    }
    criteria = [Criterion(name=name, question=question) for name, question in questions.items()]
    return Rubric(kind=Kind.PAIRWISE, criteria=criteria)
