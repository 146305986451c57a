from collections.abc import Sequence

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.http import QueryDict
from django.utils.datastructures import MultiValueDict
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from benchmarks.imports.limits import MAX_KEY
from benchmarks.models import CaseFile
from uploads.limits import MAX_FILE_MB


class FilesInput(forms.FileInput):
    allow_multiple_selected = True


class FilesField(forms.FileField):
    widget = FilesInput

    def clean(self, data: object, initial: object = None) -> "list[UploadedFile[bytes]]":
        files = data if isinstance(data, list) else []
        return [super(FilesField, self).clean(file, initial) for file in files]


class CaseFilesForm(forms.Form):
    file = FilesField(
        label=_("Add files"), required=False,
        help_text=format_lazy(
            _("PDF, Office documents, text, images; at most {megabytes} MB together."), megabytes=MAX_FILE_MB
        ),
    )  # fmt: skip
    variable = forms.CharField(
        label=_("Variable"), required=False, initial="file", max_length=MAX_KEY,
        help_text=_("A prompt with this variable shows the file’s name in its place."),
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
