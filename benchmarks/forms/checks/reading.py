"""Stored checks as values of form fields, and in words."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import msgspec
from django import forms
from django.utils.translation import gettext_lazy as _

from benchmarks.checks.check_set import MAX_KEY
from benchmarks.forms.checks.catalogue import KINDS, kind_of
from benchmarks.forms.checks.kinds import Kind, LinesField, pointer_field
from benchmarks.scoring.extraction import (
    AnyStep,
    CodeFence,
    FirstLine,
    JsonPointer,
    LastLine,
    LastNumber,
    Letter,
    Regex,
)
from common.payload_types import JsonObject

_STRIP = {"step": "strip_reasoning"}
_MARKED = r"\s*(.+)"
_PARTS: Mapping[str, AnyStep] = {
    "first_line": FirstLine(), "last_line": LastLine(), "last_number": LastNumber(), "letter": Letter(choices=26),
    "letter_of_4": Letter(), "code": CodeFence(), "last_code": CodeFence(index=-1),
}  # fmt: skip
_PART_LABELS = {
    "": _("the whole answer"), "first_line": _("the first line"), "last_line": _("the last line"),
    "last_number": _("the number (the last one)"), "letter": _("the letter after “Answer:”"),
    "letter_of_4": _("the letter after “Answer:”, A to D"), "after_mark": _("the text after a mark"),
    "code": _("the first block of code"), "last_code": _("the last block of code"),
    "json_field": _("one field of its JSON"),
}  # fmt: skip


def read_steps(extract: object) -> JsonObject | None:
    """Return form values of steps of extraction, None if fields cannot show them."""
    steps = list(extract) if isinstance(extract, list | tuple) else []
    values: JsonObject = {"without_reasoning": steps[:1] == [_STRIP], "part": "", "mark": "", "place": ""}
    try:
        parts = msgspec.convert(steps[1:] if values["without_reasoning"] else steps, list[AnyStep])
    except (msgspec.ValidationError, ValueError):
        return None
    if not parts:
        return values
    [part, *more] = parts
    named = next((name for name, step in _PARTS.items() if step == part), "")
    if more:
        return None
    if named:
        return values | {"part": named}
    if isinstance(part, JsonPointer):
        return values | {"part": "json_field", "place": part.pointer}
    if isinstance(part, Regex):
        mark = re.sub(r"\\(.)", r"\1", part.pattern.removesuffix(_MARKED))
        return values | {"part": "after_mark", "mark": mark} if part == _after(mark) else None
    return None


def _after(mark: str) -> Regex:
    return Regex(pattern=f"{re.escape(mark)}{_MARKED}", group=1, which="last")


def write_steps(values: Mapping[str, object]) -> list[JsonObject]:
    name = str(values["part"])
    steps: list[JsonObject] = [_STRIP] if values["without_reasoning"] else []
    if name == "json_field":
        return [*steps, {"step": "json_pointer", "pointer": values["place"]}]
    part = _after(str(values["mark"])) if name == "after_mark" else _PARTS.get(name)
    return [*steps, msgspec.to_builtins(part)] if part else steps


# Values that fields of every kind have beside key, target, settings and steps.
COUNTING = ("weight", "threshold", "metric", "negate", "is_gate")


def read_check(raw: JsonObject) -> JsonObject | None:
    """Return form values of a check, None if fields cannot show all of it."""
    found, steps = kind_of(raw["scorer"], raw["settings"]), read_steps(raw["extract"])
    if found is None or steps is None:
        return None
    kind, settings = found
    target = raw["target"] or []
    is_lines = all(isinstance(text, str) and text.strip() and text.splitlines() == [text] for text in target)
    if not is_lines or (target and kind.target is None):
        return None
    values = settings | steps | {name: raw[name] for name in COUNTING} | {"kind": kind.name, "target": target}
    return values | {"shown": kind.name, "key": "" if raw["key"] == automatic_key(kind, values) else raw["key"]}


def without_key(values: JsonObject) -> JsonObject:
    return values | {"key": ""}


def automatic_key(kind: Kind, values: Mapping[str, object]) -> str:
    """Return a name that says what a check does, from form values."""
    texts = ", ".join(map(str, cast(Sequence[object], values.get("target") or ())))
    summary = kind.summary(values)
    return (f"{summary}: {texts}" if texts else summary)[:MAX_KEY]


def fields_of(kind: Kind) -> dict[str, forms.Field]:
    """Return fields of a kind that checks as JSON do not have."""
    fields = kind.form_fields()
    if kind.target is not None:
        help_text = _("One on each line. Empty: the expected answer of each case. Variables are filled in, too.")
        fields["target"] = LinesField(kind.target, help_text=help_text)
    return fields | {
        "part": forms.ChoiceField(label=_("Look at"), required=False, choices=[*_PART_LABELS.items()]),
        "mark": forms.CharField(label=_("Mark"), required=False, max_length=200, help_text=_("For example ####.")),
        "place": pointer_field(required=False),
        "without_reasoning": forms.BooleanField(
            label=_("Without the reasoning before the answer"), required=False, initial=True
        ),
    }


@dataclass(frozen=True)
class CheckWords:
    summary: str
    details: list[str]
    is_compared: bool


def in_words(raw: JsonObject) -> CheckWords | None:
    """Return None for a check that only its JSON can show."""
    values = read_check(raw)
    if values is None:
        return None
    kind = KINDS[values["kind"]]
    fields = fields_of(kind)
    del fields["without_reasoning"]
    flags = [str(made.label) for name, made in fields.items() if values[name] is True]
    part = [f"{fields['part'].label}: {_PART_LABELS[values['part']]}"] if values["part"] else []
    marks = [str(values[name]) for name in ("mark", "place") if values[name]]
    details = [*flags, " ".join(part + marks)] if part else flags
    return CheckWords(kind.summary(values), details, is_compared=kind.target is not None)
