"""A check in the editor: fields of its kind, or JSON."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, cast

import msgspec
from django import forms
from django.core.exceptions import ValidationError
from django.forms import BoundField
from django.forms.utils import ErrorDict
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from benchmarks.checks.check_set import MAX_KEY, case_checks
from benchmarks.checks.reasons import check_reason, placed
from benchmarks.checks.targets import without_templates
from benchmarks.forms.checks.catalogue import GROUPS, KINDS, kind_choices
from benchmarks.forms.checks.kinds import PREFIX, Kind
from benchmarks.forms.checks.reading import (
    COUNTING,
    automatic_key,
    fields_of,
    read_check,
    without_key,
    write_steps,
)
from benchmarks.forms.fields import JSONField, plain_lines
from benchmarks.forms.rows import add_row, remove_row
from benchmarks.imports.limits import MAX_CHECKS
from benchmarks.models import Check
from benchmarks.scoring import registry
from common.payload_types import JsonObject

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

# The kind of a check that is written as JSON.
JSON = "json"
_DEFAULT_KIND = "contains_any"
_UNUSED = (None, "", False)
# Fields that a part of the answer needs.
_NEEDED = {"after_mark": "mark", "json_field": "place"}


class RawCheckForm(forms.Form):
    key = forms.CharField(label=_("Name"), required=False, max_length=MAX_KEY)
    scorer = forms.ChoiceField(
        label=_("Compares by"), choices=lambda: [(name, name) for name in sorted(registry.BUILT_IN)]
    )
    target = forms.CharField(
        label=_("Target"), required=False, max_length=20_000, widget=forms.Textarea(attrs={"rows": 1}),
        help_text=_("Empty: the expected values of each case. May use variables as a prompt does; or a JSON list."),
    )  # fmt: skip
    settings = JSONField(_("Settings"), "object", rows=1)
    extract = JSONField(_("Extraction"), "list", rows=1,
        help_text=_("Steps before the comparison, for example [{\"step\": \"last_line\"}]."),
    )  # fmt: skip
    weight = forms.FloatField(
        label=_("Weight"), min_value=0, max_value=1e6, initial=1, help_text=_("0: it is shown, but does not count."),
    )  # fmt: skip
    threshold = forms.FloatField(
        label=_("Passes from"), required=False, min_value=0, max_value=1,
        help_text=_("From 0 to 1. Empty: the check’s own rule."),
    )  # fmt: skip
    metric = forms.CharField(
        label=_("Metric"), required=False, max_length=80,
        help_text=_("Checks of the same metric get a column of their own in the results."),
    )  # fmt: skip
    negate = forms.BooleanField(label=_("Swap right and wrong"), required=False)
    is_gate = forms.BooleanField(label=_("An answer cannot pass without it"), required=False)

    def clean_target(self) -> list[object] | None:
        """Return values: a JSON list as it is, another text as the only one."""
        text = plain_lines(self.cleaned_data["target"])
        if not text.strip():
            return None
        try:
            return msgspec.json.decode(text, type=list[object]) if text.startswith("[") else [text]
        except msgspec.MsgspecError as error:
            raise ValidationError(_("This is not JSON: %(reason)s"), params={"reason": str(error)}) from error


class CheckForm(RawCheckForm):
    kind = forms.ChoiceField(
        label=_("Right if the answer"), choices=lambda: [*kind_choices(), (_("Advanced"), [(JSON, _("as JSON"))])]
    )
    # The kind whose fields the page had.
    shown = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(
        self, data: QueryDict | None = None, *, stored: Sequence[tuple[JsonObject | None, JsonObject]] = (),
        hides_errors: bool = False, **options: object,
    ) -> None:  # fmt: skip
        """stored: form values and spelling of checks. hides_errors: while the person still fills the form in."""
        super().__init__(data, **options)  # type: ignore[arg-type]
        self._stored, self._hides_errors = stored, hides_errors
        name = self._sent("kind") if self.is_bound else str(self.initial.get("kind", _DEFAULT_KIND))
        self.chosen: Kind | None = None if name == JSON else KINDS.get(name, KINDS[_DEFAULT_KIND])
        if self.chosen is None:
            self._fill_json()
            return
        for name in ("scorer", "settings", "extract", "target"):
            del self.fields[name]
        self.fields |= fields_of(self.chosen)
        if self.chosen.needs_threshold:
            self.fields["threshold"].initial = 0.5
        if self.is_bound:
            self._fill_defaults(self.chosen)

    @staticmethod
    def initial_of(raw: JsonObject) -> JsonObject:
        values = read_check(raw) or {**raw, "kind": JSON, "shown": JSON, "target": _target_text(raw["target"])}
        return values | {"raw": raw}

    def _sent(self, name: str) -> str:
        return str(self.data.get(self.add_prefix(name), ""))

    def _send(self, values: Mapping[str, object]) -> None:
        data = cast(QueryDict, self.data).copy()
        for name, value in values.items():
            data[self.add_prefix(name)] = str(value)
        self.data = data

    def _fill_defaults(self, kind: Kind) -> None:
        """Give fields that the page did not have yet their first values."""
        before = self._sent("shown")
        known = RawCheckForm.base_fields if before == JSON else fields_of(KINDS[before]) if before in KINDS else ()
        fields = {name: made for name, made in self.fields.items() if name not in known and not self._sent(name)}
        if before == kind.name:
            return
        if not before:
            self.fields["kind"].widget.attrs["autofocus"] = True
        else:
            fields = {name: made for name, made in fields.items() if name not in COUNTING}
        self._send({
            **{name: made.prepare_value(made.initial) for name, made in fields.items() if made.initial not in _UNUSED},
            "kind": kind.name, "shown": kind.name,
        })  # fmt: skip

    def _fill_json(self) -> None:
        if not self.is_bound or self._sent("shown") not in KINDS:
            return
        before = self._sent("shown")
        data = cast(QueryDict, self.data).copy()
        data[self.add_prefix("kind")] = before
        fields = CheckForm(data, prefix=self.prefix)
        raw = fields.raw() if fields.is_valid() else {"scorer": before, "settings": {}, "extract": [], "target": None}
        texts = {name: self.fields[name].prepare_value(raw[name]) for name in ("settings", "extract")}
        self._send({**texts, "scorer": raw["scorer"], "target": _target_text(raw["target"]), "shown": JSON})

    @property
    def errors(self) -> ErrorDict:
        return ErrorDict() if self._hides_errors else super().errors

    @property
    def is_complete(self) -> bool:
        return self.is_bound and not super().errors

    def clean_target(self) -> list[object] | None:
        return super().clean_target() if self.chosen is None else self.cleaned_data["target"] or None

    def clean(self) -> None:
        """Refuse bad settings and steps, except of scorers that only the child may import."""
        if super().errors:
            return
        needed = _NEEDED.get(self.cleaned_data.get("part", ""), "")
        if needed and not self.cleaned_data[needed]:
            self.add_error(needed, _("This field is required."))
            return
        for error in registry.errors_of_checks([without_templates(self.raw())], lambda check, position: []):
            place = error.position.removeprefix("checks[0]").strip(".")
            self.add_error(error.field if error.field in self.fields else None, placed(place, check_reason(error)))

    def raw(self) -> JsonObject:
        """Return the check, spelled as a stored one with the same fields."""
        data = self.cleaned_data
        if self.chosen is None:
            raw = {name: data[name] for name in RawCheckForm.base_fields}
            return raw | {"key": data["key"] or data["scorer"]}
        raw = {name: data[name] for name in COUNTING} | {
            "key": data["key"] or automatic_key(self.chosen, data), "scorer": self.chosen.name,
            "target": data.get("target"), "settings": self.chosen.settings(data), "extract": write_steps(data),
        }  # fmt: skip
        values = read_check(raw)
        same = (
            stored for shown, stored in self._stored if shown and values and without_key(shown) == without_key(values)
        )
        return next(same, raw) | {"key": raw["key"]}

    @property
    def setting_fields(self) -> list[BoundField]:
        fields = [self[name] for name in self.fields if name.startswith(PREFIX)]
        return sorted(fields, key=lambda field: isinstance(field.field, forms.BooleanField))

    @property
    def example(self) -> "_StrPromise | str":
        return next((group.example for group in GROUPS if group.kinds[0] == self.chosen), "")

    @property
    def counting_fields(self) -> list[BoundField]:
        is_shown = self.chosen is not None and self.chosen.needs_threshold
        return [self[name] for name in COUNTING if name != "threshold" or not is_shown]

    @property
    def counts_as_usual(self) -> bool:
        usual = {"weight": (1, "1", "1.0", "")}
        return not any(
            field.errors or field.value() not in usual.get(field.name, _UNUSED) for field in self.counting_fields
        )

    @cached_property
    def written(self) -> str:
        """The check as JSON, "" while it is incomplete."""
        raw = self.initial.get("raw")
        if self.is_complete:
            raw = self.raw()
        return msgspec.json.format(msgspec.json.encode(raw)).decode() if raw else ""

    @property
    def suggested_key(self) -> str:
        if self.chosen is None:
            return self._sent("scorer") if self.is_bound else str(self.initial.get("scorer", ""))
        if self.is_bound and not self.is_complete:
            return str(self.chosen.label)
        return automatic_key(self.chosen, self.cleaned_data if self.is_bound else self.initial)


def _target_text(target: list[object] | None) -> str:
    if not target:
        return ""
    if len(target) == 1 and isinstance(target[0], str) and not target[0].startswith("["):
        return target[0]
    return msgspec.json.encode(target).decode()


class BaseCheckFormSet(forms.BaseFormSet):  # type: ignore[type-arg]
    def get_form_kwargs(self, index: int | None) -> dict[str, object]:
        # Checks may consist of defaults alone.
        return super().get_form_kwargs(index) | {"empty_permitted": False}

    def clean(self) -> None:
        keys = [form.cleaned_data["key"] for form in self.forms if form.is_complete]
        for form in self.forms:
            if form.is_complete and form.cleaned_data["key"] and keys.count(form.cleaned_data["key"]) > 1:
                form.add_error("key", _("Another check has this name."))

    def checks(self) -> list[Check]:
        return [Check(**raw) for raw in case_checks([], [form.raw() for form in self.forms if form.is_complete])]


CheckFormSet = forms.formset_factory(CheckForm, formset=BaseCheckFormSet, extra=0, max_num=MAX_CHECKS)
_MOVES = ("add_check", "remove_check", "as_json", "change_kind")


def moved(data: QueryDict) -> QueryDict | None:
    """Return the data after a button that adds, removes or turns a check; None if no such button was pressed."""
    if not any(move in data for move in _MOVES):
        return None
    data = data.copy()
    if data.get("add_check") in KINDS or data.get("add_check") == JSON:
        add_row(data, "checks", kind=data.get("add_check", ""))
    if (place := data.get("as_json", "")).isdecimal():
        data[f"checks-{place}-kind"] = JSON
    remove_row(data, "checks", data.get("remove_check", ""))
    return data
