from collections.abc import Mapping

from django import forms
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.utils.functional import Promise
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from benchmarks.imports.content import Request
from benchmarks.imports.limits import MAX_FILE_BYTES

# Names of benchmarks.imports.reading.FORMATS, which only the child may import.
FORMATS: Mapping[str, str | Promise] = {
    "": _("found by the file’s fields"), "promptfoo": "promptfoo", "table": _("table (CSV, TSV, XLSX, JSON lines)"),
    "inspect": "inspect-ai", "openai_evals": "OpenAI evals", "lm_eval": "lm-evaluation-harness",
    "mt_bench": "MT-Bench", "arena_hard": "Arena-Hard", "alpaca_eval": "AlpacaEval", "gsm8k": "GSM8K", "mmlu": "MMLU",
    "ifeval": "IFEval", "human_eval": "HumanEval", "simple_qa": "SimpleQA", "truthful_qa": "TruthfulQA",
    "traces": "Langfuse, Braintrust, Phoenix, DeepEval, Ragas",
}  # fmt: skip


class ImportForm(forms.Form):
    file = forms.FileField(
        label=_("File"), help_text=format_lazy(_("At most {megabytes} MB."), megabytes=MAX_FILE_BYTES // 1_000_000)
    )
    format = forms.ChoiceField(label=_("Format"), required=False, choices=FORMATS)
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
