from collections.abc import Mapping

from django import forms
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.utils.functional import Promise
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from benchmarks.imports.content import Request
from benchmarks.imports.limits import MAX_FILE_BYTES
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
