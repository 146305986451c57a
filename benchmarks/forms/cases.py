"""The editable table of cases, with inputs named by case id and column number; files of a case."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import msgspec
from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.http import QueryDict
from django.utils.datastructures import MultiValueDict
from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from benchmarks.imports.limits import MAX_KEY
from benchmarks.models import Case, CaseFile
from benchmarks.pasting import PastedCase, expected_of, tags_of
from benchmarks.queries.cases import CasePage, expected_text
from common.errors import InvalidInput
from common.text.storable import has_unstorable
from uploads.limits import MAX_FILE_MB

# Django refuses forms with more fields than a thousand.
MAX_CELLS = 900


class PasteForm(forms.Form):
    table = forms.CharField(
        label=gettext_lazy("Paste from a spreadsheet"), strip=False, widget=forms.Textarea(attrs={"rows": 6}),
        help_text=gettext_lazy(
            "Tab-separated, with the columns’ names in the first row. The columns key, expected and tags have "
            "a meaning; every other one is a variable."
        ),
    )  # fmt: skip
    replace = forms.BooleanField(label=gettext_lazy("Replace all cases"), required=False)


@dataclass
class EditedRow:
    """A row as stored or as typed."""

    case: Case
    key: str
    cells: list[str]
    expected: str
    tags: str
    problems: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, case: Case, cells: list[str], expected: str, typed: Mapping[str, str] | None) -> "EditedRow":
        data, prefix = typed or {}, f"{case.pk}-"
        return cls(
            case,
            data.get(f"{prefix}key", case.key),
            [data.get(f"{prefix}{number}", cell) for number, cell in enumerate(cells)],
            data.get(f"{prefix}expected", expected),
            data.get(f"{prefix}tags", ",".join(case.tags)),
        )


def rows_per_page(columns: int, maximum: int) -> int:
    """Return a form's number of rows; key, expected, tags and deletion are fields, too."""
    return max(1, min(maximum, MAX_CELLS // (columns + 4)))


def read_cells(data: Mapping[str, str], page: CasePage) -> tuple[dict[int, PastedCase], set[int]]:
    """Return edited cases by id, and ids to delete. Raises InvalidInput, ids as fields."""
    edited: dict[int, PastedCase] = {}
    problems: dict[str, list[str]] = {}
    deleted = {case.pk for case in page.cases if f"{case.pk}-delete" in data}
    for case in page.cases:
        if f"{case.pk}-key" not in data or case.pk in deleted:
            continue
        try:
            edited[case.pk] = _read_row(data, case, page.columns)
        except InvalidInput as error:
            problems[str(case.pk)] = [error.detail]
    if problems:
        raise InvalidInput(fields=problems)
    return edited, deleted


def _read_row(data: Mapping[str, str], case: Case, columns: list[str]) -> PastedCase:
    """Read a cell as JSON unless its value was a text; leave out absent variables that stay empty."""
    cells = {name: data.get(f"{case.pk}-{number}", "").replace("\r\n", "\n") for number, name in enumerate(columns)}
    key, expected = data.get(f"{case.pk}-key", "").strip(), data.get(f"{case.pk}-expected", "").replace("\r\n", "\n")
    if any(has_unstorable(text) for text in (*cells.values(), key, expected)):
        raise InvalidInput(_("It has characters that cannot be stored."))
    variables: dict[str, object] = {}
    for name, text in cells.items():
        before = case.variables.get(name, "")
        if name not in case.variables and not text:
            continue
        if isinstance(before, str):
            variables[name] = text
            continue
        try:
            variables[name] = msgspec.json.decode(text)
        except msgspec.MsgspecError as error:
            details = {"name": name, "reason": str(error)}
            raise InvalidInput(_("“%(name)s” is not JSON: %(reason)s") % details) from error
    expected_value = case.expected if expected == expected_text(case.expected) else expected_of(expected)
    return PastedCase(key, variables, expected_value, tags_of(data.get(f"{case.pk}-tags", "")))


class FilesInput(forms.FileInput):
    allow_multiple_selected = True


class FilesField(forms.FileField):
    widget = FilesInput

    def clean(self, data: object, initial: object = None) -> "list[UploadedFile[bytes]]":
        files = data if isinstance(data, list) else []
        return [super(FilesField, self).clean(file, initial) for file in files]


class CaseFilesForm(forms.Form):
    file = FilesField(
        label=gettext_lazy("Add files"), required=False,
        help_text=format_lazy(
            gettext_lazy(
                "Documents (PDF, Office, OpenDocument, EPUB, RTF), mails, notebooks, web pages, text, images; at most "
                "{megabytes} MB together."
            ),
            megabytes=MAX_FILE_MB,
        ),
    )  # fmt: skip
    variable = forms.CharField(
        label=gettext_lazy("Variable"), required=False, initial="file", max_length=MAX_KEY,
        help_text=gettext_lazy("A prompt with this variable shows the file’s name in its place."),
    )  # fmt: skip
    remove = forms.TypedMultipleChoiceField(required=False, coerce=int)

    def __init__(
        self, data: QueryDict | None, sent: "MultiValueDict[str, UploadedFile[bytes]] | None",
        *, files: Sequence[CaseFile],
    ) -> None:  # fmt: skip
        """files: of the case."""
        super().__init__(data, sent)
        remove = self.fields["remove"]
        if isinstance(remove, forms.ChoiceField):
            remove.choices = [(file.pk, file.upload.name) for file in files]
