"""The guided start: a table, then its columns and how an answer is right."""

from collections.abc import Iterator, Sequence

from django import forms
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.forms.boundfield import BoundWidget
from django.utils.text import Truncator, format_lazy
from django.utils.translation import gettext_lazy as _

from benchmarks.checks.check_set import raw_check
from benchmarks.forms.checks.catalogue import GROUPS, KINDS, Group
from benchmarks.forms.checks.reading import automatic_key, read_check
from benchmarks.imports.content import Column
from benchmarks.imports.limits import MAX_FILE_BYTES
from benchmarks.models import Check
from common.payload_types import JsonObject

MAX_TABLE = 900_000
# Length of a name made of the first question.
MAX_NAME = 60
_EQUAL, _CONTAINS, _NUMBER, _CHOICE = GROUPS[:4]
# The usual way first.
_RULES: dict[str, Group] = {group.kinds[0].name: group for group in (_CONTAINS, _EQUAL, _NUMBER, _CHOICE)}
_BY_HAND = "by_hand"
_SETTINGS: dict[str, JsonObject] = {
    "contains_any": {"ignore_case": True}, "equals": {"ignore_case": True, "ignore_punctuation": True},
}  # fmt: skip
_STRIP = [{"step": "strip_reasoning"}]


class TableForm(forms.Form):
    table = forms.CharField(
        label=_("Paste from a spreadsheet"), required=False, strip=False, max_length=MAX_TABLE,
        widget=forms.Textarea(attrs={"rows": 6, "dir": "auto"}),
        help_text=_("Copy the rows together with the first one, which names the columns."),
    )  # fmt: skip
    file = forms.FileField(
        label=_("Or choose the file"), required=False,
        help_text=format_lazy(
            _("XLSX, CSV, TSV or JSON lines; at most {megabytes} MB."), megabytes=MAX_FILE_BYTES // 1_000_000
        ),
    )  # fmt: skip

    def clean(self) -> None:
        data = self.cleaned_data
        if not data.get("file") and not (data.get("table") or "").strip():
            raise ValidationError(_("Paste a table, or choose a file."))
        if data.get("file") and (data["file"].size or 0) > MAX_FILE_BYTES:
            self.add_error("file", _("The file is too large."))

    def source(self) -> tuple[str, bytes]:
        """Return the table's name and content."""
        file: UploadedFile[bytes] | None = self.cleaned_data["file"]
        if file is not None:
            return file.name or "", file.read()
        return "table.tsv", self.cleaned_data["table"].encode()


class ColumnsOfTableForm(forms.Form):
    name = forms.CharField(label=_("Name"), max_length=120)
    question = forms.ChoiceField(label=_("Column with the questions"))
    answer = forms.ChoiceField(label=_("Column with the right answers"), required=False)
    rule = forms.ChoiceField(
        label=_("How is an answer right?"), widget=forms.RadioSelect, initial="contains_any",
        choices=[*((name, group.label) for name, group in _RULES.items()), (_BY_HAND, _("I judge by hand"))],
    )  # fmt: skip

    def __init__(self, data: object = None, *, columns: Sequence[Column], name: str = "") -> None:
        """name: of the file; without one, the first question names the template."""
        self._columns = columns
        variables = _with_role(columns, "variable")
        [asked, *_more] = [*_with_role(columns, "prompt"), *variables, *columns]
        answers = [column for column in (*_with_role(columns, "expected"), *variables) if column != asked]
        name = name or Truncator(" ".join(asked.sample.split())).chars(MAX_NAME) or asked.name
        initial = {"name": name, "question": asked.name, "answer": answers[0].name if answers else ""}
        super().__init__(data, initial=initial)  # type: ignore[arg-type]
        choices = [(column.name, _shown(column)) for column in columns]
        self.fields["question"] = forms.ChoiceField(label=self.fields["question"].label, choices=choices)
        self.fields["answer"] = forms.ChoiceField(
            label=self.fields["answer"].label, choices=[*choices, ("", _("none"))], required=False
        )

    @property
    def rules(self) -> Iterator[tuple[BoundWidget, Group | None]]:
        return ((radio, _RULES.get(str(radio.data["value"]))) for radio in self["rule"])

    def clean(self) -> None:
        data = self.cleaned_data
        if data.get("answer") == data.get("question"):
            self.add_error("answer", _("Choose another column than that of the questions."))
        elif not data.get("answer") and data.get("rule") != _BY_HAND:
            self.add_error("answer", _("Choose the column with the right answers, or judge by hand."))

    @property
    def mapping(self) -> dict[str, str]:
        """Return roles of all columns; the others keep what their names say, and are in no prompt."""
        roles = {column.name: column.role for column in self._columns}
        others = {
            name: role if role in ("key", "tag", "cluster", "weight") else "metadata" for name, role in roles.items()
        }
        answer = {self.cleaned_data["answer"]: "expected"} if self.cleaned_data["answer"] else {}
        return others | answer | {self.cleaned_data["question"]: "prompt"}

    def checks(self, expected: Sequence[object]) -> list[Check]:
        """Return the unsaved check of these expected answers."""
        rule = self.cleaned_data["rule"]
        if rule == _BY_HAND:
            return []
        settings = _SETTINGS.get(rule, {})
        letters = [
            text for text in (str(value).strip().upper() for value in expected) if len(text) == 1 and text.isascii()
        ]
        if rule == "choice" and letters:
            settings = {"choices": max(4, ord(max(letters)) - ord("A") + 1)}
        check = Check(scorer=rule, settings=settings, extract=_STRIP)
        values = read_check(raw_check(check))
        check.key = automatic_key(KINDS[rule], values or {})
        return [check]


def _with_role(columns: Sequence[Column], role: str) -> list[Column]:
    return [column for column in columns if column.role.partition(":")[0] == role]


def _shown(column: Column) -> str:
    sample = Truncator(column.sample).chars(50)
    return f"{column.name} – {sample}" if sample else column.name
