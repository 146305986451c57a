from collections.abc import Iterator, Mapping, Sequence

from django import forms
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.forms import BoundField
from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from benchmarks.imports.content import Column, ReadLine, Request
from benchmarks.imports.limits import MAX_FILE_BYTES, MAX_KEY
from benchmarks.imports.ports import installed_names

# Names of benchmarks.imports.reading.FORMATS, which only the child may import.
BUILT_IN: Mapping[str, str | Promise] = {
    "": _("found by the file’s fields"), "arena": _("YAML of an arena"), "promptfoo": "promptfoo",
    "table": _("table (CSV, TSV, XLSX, JSON lines)"),
    "inspect": "inspect-ai", "openai_evals": "OpenAI evals", "lm_eval": "lm-evaluation-harness",
}  # fmt: skip


def formats() -> dict[str, str | Promise]:
    """Return labels by name, also of other packages' formats."""
    return {**BUILT_IN, **{name: name for name in installed_names() if name not in BUILT_IN}}


class ImportForm(forms.Form):
    file = forms.FileField(
        label=_("File"), help_text=format_lazy(_("At most {megabytes} MB."), megabytes=MAX_FILE_BYTES // 1_000_000)
    )
    format = forms.ChoiceField(label=_("Format"), required=False, choices=lambda: formats().items())
    sheet = forms.CharField(
        label=_("Sheet of a workbook"), required=False, max_length=100, help_text=_("Empty: the first one.")
    )

    def clean_file(self) -> "UploadedFile[bytes]":
        file: UploadedFile[bytes] = self.cleaned_data["file"]
        if (file.size or 0) > MAX_FILE_BYTES:
            raise ValidationError(_("The file is too large."))
        return file

    def request(self) -> Request:
        data = self.cleaned_data
        return Request(name=data["file"].name or "", format=data["format"], sheet=data["sheet"])


# Two fields for each; Django refuses forms with more than a thousand.
MAX_COLUMNS = 300
# Roles of benchmarks.imports.formats.tables, which only the child may import.
ROLES: Mapping[str, str | Promise] = {
    "variable": _("variable"), "prompt": _("prompt"), "expected": _("expected answer"), "key": _("key"),
    "tag": _("tags"), "cluster": _("cluster"), "weight": _("weight"), "metadata": _("metadata"),
    "reply": _("answer of a model"), "ignore": _("left out"),
}  # fmt: skip


class ColumnsForm(forms.Form):
    def __init__(
        self, data: QueryDict | None = None, *, columns: Sequence[Column], sheets: Sequence[str] = (),
        encodings: Sequence[ReadLine] = (),
    ) -> None:  # fmt: skip
        super().__init__(data)
        if encodings:
            self.fields["encoding"] = forms.ChoiceField(
                label=_("Encoding: choose the line whose letters are right"), widget=forms.RadioSelect,
                choices=[(read.encoding, f"{read.line} ({read.encoding})") for read in encodings],
                initial=encodings[0].encoding, required=False,
            )  # fmt: skip
        self._columns = columns if len(columns) <= MAX_COLUMNS else []
        if len(sheets) > 1:
            self.fields["sheet"] = forms.ChoiceField(label=_("Sheet"), choices=[(name, name) for name in sheets])
        for number, column in enumerate(self._columns):
            role, _colon, name = column.role.partition(":")
            choices = list(ROLES.items())
            if role not in ROLES:
                choices.insert(0, ("", _("by its name")))
            self.fields[f"role-{number}"] = forms.ChoiceField(
                label=_("Role of “%(column)s”") % {"column": column.name}, choices=choices,
                required=role in ROLES, initial=role if role in ROLES else "",
            )  # fmt: skip
            self.fields[f"name-{number}"] = forms.CharField(
                label=_("Name of “%(column)s”") % {"column": column.name}, required=False, max_length=MAX_KEY,
                initial=name, widget=forms.TextInput(attrs={"placeholder": column.name}),
            )  # fmt: skip

    @property
    def has_columns(self) -> bool:
        return bool(self._columns)

    @property
    def rows(self) -> Iterator[tuple[Column, BoundField, BoundField]]:
        """Yield columns with the fields of their roles and names."""
        for number, column in enumerate(self._columns):
            yield column, self[f"role-{number}"], self[f"name-{number}"]

    @property
    def mapping(self) -> dict[str, str]:
        return {
            column.name: role for number, column in enumerate(self._columns) if (role := self._role(number, column))
        }

    def _role(self, number: int, column: Column) -> str:
        role, name = self.cleaned_data[f"role-{number}"], self.cleaned_data[f"name-{number}"]
        if role == "reply":
            return f"reply:{name or column.name}"
        return f"{role}:{name}" if name and role in ("variable", "metadata") else str(role)
