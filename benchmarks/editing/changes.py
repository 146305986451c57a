"""Changes between two versions of a template."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal

from django.contrib.postgres.expressions import ArraySubquery
from django.contrib.postgres.fields import ArrayField
from django.db.models import Exists, F, JSONField, OuterRef, QuerySet, TextField, Value, prefetch_related_objects
from django.db.models.functions import Cast, Coalesce, Concat
from django.forms import BooleanField, ChoiceField, Field
from django.utils.choices import flatten_choices
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from benchmarks.checks.check_set import raw_check
from benchmarks.editing.text_diffs import Part, diff
from benchmarks.forms.checks.catalogue import KINDS
from benchmarks.forms.checks.form import CheckForm, RawCheckForm
from benchmarks.forms.checks.reading import COUNTING, fields_of, read_check
from benchmarks.forms.templates import TemplateForm
from benchmarks.models import Case, CaseFile, Check, Prompt, TemplateVersion
from benchmarks.queries.cases import cell_text, expected_text

LISTED_CASES = 50
Kind = Literal["added", "removed", "changed"]
_RULES = ("parameters", "errors_count", "threshold", "relevant_difference")
_VERSION_FIELDS = (*_RULES, "variables")
_CASE_FIELDS = ("expected", "tags", "cluster", "weight", "messages", "checks", "metadata")
_CASE_LABELS: Mapping[str, str | Promise] = {
    "expected": _("Expected answer"), "tags": _("Tags"), "cluster": _("Cluster"), "weight": _("Weight"),
    "messages": _("Messages"), "checks": _("Checks"), "metadata": _("Metadata"), "files": _("Files"),
}  # fmt: skip


@dataclass(frozen=True)
class FieldChange:
    """role: of a message, "" for other fields."""

    label: str | Promise
    parts: list[Part]
    role: str = ""


@dataclass(frozen=True)
class RowChange:
    kind: Kind
    name: str
    fields: list[FieldChange]


@dataclass(frozen=True)
class CaseChanges:
    """Numbers of all, and the first of each kind."""

    added: int
    removed: int
    changed: int
    listed: list[RowChange]

    @property
    def unlisted(self) -> int:
        return self.added + self.removed + self.changed - len(self.listed)


@dataclass(frozen=True)
class VersionChanges:
    settings: list[FieldChange]
    prompts: list[RowChange]
    checks: list[RowChange]
    cases: CaseChanges

    @property
    def is_empty(self) -> bool:
        cases = self.cases
        return not (self.settings or self.prompts or self.checks or cases.added or cases.removed or cases.changed)


def read_changes(before: TemplateVersion, after: TemplateVersion) -> VersionChanges:
    labels: dict[str, str | Promise] = {"variables": _("Schema of the variables")}
    labels |= {name: TemplateForm.base_fields[name].label or name for name in _RULES}
    return VersionChanges(
        _fields(
            _version_values(before), _version_values(after), labels,
        ),
        _prompts(list(before.prompts.all()), list(after.prompts.all())),
        _checks(list(before.checks.all()), list(after.checks.all())),
        _cases(before.cases.all(), after.cases.all()),
    )  # fmt: skip


def _version_values(version: TemplateVersion) -> dict[str, str]:
    values = {name: getattr(version, name) for name in _VERSION_FIELDS}
    return {name: "" if value is None else cell_text(value) for name, value in values.items()}


def _fields(
    before: Mapping[str, str], after: Mapping[str, str], labels: Mapping[str, str | Promise]
) -> list[FieldChange]:
    names = dict.fromkeys([*before, *after])
    pairs = [(name, before.get(name, ""), after.get(name, "")) for name in names]
    return [FieldChange(labels.get(name, name), diff(old, new)) for name, old, new in pairs if old != new]


def _prompts(before: Sequence[Prompt], after: Sequence[Prompt]) -> list[RowChange]:
    """Match prompts by their labels, those without one by their places."""
    old, new = ({prompt.label or f"{prompt.position + 1}": prompt for prompt in prompts} for prompts in (before, after))
    rows = []
    for name in dict.fromkeys([*new, *old]):
        messages = _messages(old.get(name)), _messages(new.get(name))
        if messages[0] == messages[1]:
            continue
        fields = [
            FieldChange("", diff(first[1], second[1]), second[0] or first[0])
            for first, second in zip_longest(*messages, fillvalue=("", ""))
        ]
        rows.append(RowChange(_kind(name, old, new), name, fields))
    return rows


def _messages(prompt: Prompt | None) -> list[tuple[str, str]]:
    if prompt is None:
        return []
    messages = [(message["role"], message["template"]) for message in prompt.messages]
    return messages + [("follow-up", turn) for turn in prompt.turns]


def _checks(before: Sequence[Check], after: Sequence[Check]) -> list[RowChange]:
    old, new = ({check.key: check for check in checks} for checks in (before, after))
    rows = [
        RowChange(_kind(key, old, new), key, _fields(_check_values(old.get(key)), _check_values(new.get(key)), {}))
        for key in dict.fromkeys([*new, *old])
    ]
    return [row for row in rows if row.fields]


def _check_values(check: Check | None) -> dict[str, str]:
    """Return texts of the editor's fields by their labels, without empty ones."""
    if check is None:
        return {}
    raw = raw_check(check)
    values = read_check(raw)
    fields = {name: field for name, field in RawCheckForm.base_fields.items() if name != "key"}
    if values is not None:
        counting = {name: fields[name] for name in COUNTING}
        fields = {"kind": CheckForm.base_fields["kind"], **fields_of(KINDS[values["kind"]]), **counting}
    texts = {str(field.label): _field_text(field, (values or raw)[name]) for name, field in fields.items()}
    return {label: text for label, text in texts.items() if text}


def _field_text(field: Field, value: object) -> str:
    if isinstance(field, BooleanField):
        return gettext("yes") if value else ""
    if isinstance(field, ChoiceField):
        return str(dict(flatten_choices(field.choices)).get(value, value))  # type: ignore[arg-type]
    return "" if value is None or value in ("", [], {}) else cell_text(field.prepare_value(value))


def _kind(name: str, old: Mapping[str, object], new: Mapping[str, object]) -> Kind:
    if name not in old:
        return "added"
    return "changed" if name in new else "removed"


def _cases(before: QuerySet[Case], after: QuerySet[Case]) -> CaseChanges:
    """Match cases by their keys; six queries and one for each kind that is listed."""
    old, new = _without_nulls(before), _without_nulls(after)
    there = {"key": OuterRef("key")}
    names = ("variables", "expected", "tags", "cluster", "weight", "metadata")
    given = ("given_messages", "given_checks", "given_files")
    same = {name: OuterRef(name) for name in names + given}
    added = new.filter(~Exists(before.filter(**there))).order_by("position")
    removed = old.filter(~Exists(after.filter(**there))).order_by("position")
    changed = new.filter(Exists(before.filter(**there)), ~Exists(old.filter(**there, **same))).order_by("position")
    changed_cases = list(changed[:LISTED_CASES])
    originals = {case.key: case for case in before.filter(key__in=[case.key for case in changed_cases])}
    pairs: list[tuple[Kind, Case | None, Case | None]] = [
        *(("changed", originals[case.key], case) for case in changed_cases),
        *(("added", None, case) for case in added[:LISTED_CASES]),
        *(("removed", case, None) for case in removed[:LISTED_CASES]),
    ]
    prefetch_related_objects([case for _kind, *both in pairs for case in both if case], "files__upload")
    listed = [RowChange(kind, case.key, _case_fields(*both)) for kind, *both in pairs if (case := both[1] or both[0])]
    return CaseChanges(added.count(), removed.count(), changed.count(), listed)


def _without_nulls(cases: QuerySet[Case]) -> QuerySet[Case]:
    nothing = Value([], JSONField())
    files = CaseFile.objects.filter(case=OuterRef("pk")).order_by("position")
    facts = files.annotate(fact=Concat("variable", Value("\n"), "upload__sha256")).values("fact")
    return cases.annotate(
        given_messages=Coalesce(F("messages"), nothing), given_checks=Coalesce(F("checks"), nothing),
        given_files=Cast(ArraySubquery(facts), ArrayField(TextField())),
    )  # fmt: skip


def _case_fields(before: Case | None, after: Case | None) -> list[FieldChange]:
    return _fields(_case_values(before), _case_values(after), _CASE_LABELS)


def _case_values(case: Case | None) -> dict[str, str]:
    if case is None:
        return {}
    own = {name: getattr(case, name) for name in _CASE_FIELDS}
    own["files"] = ", ".join(f"{file.variable}: {file.upload.name}" for file in case.files.all())
    texts = {name: cell_text(value) for name, value in own.items() if value not in (None, "", {}, [], 1)}
    return {name: cell_text(value) for name, value in case.variables.items()} | (
        texts | {"expected": expected_text(case.expected), "tags": ", ".join(case.tags)}
    )
