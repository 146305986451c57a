"""Form fields of JSON values and of texts that keep their spaces."""

from typing import TYPE_CHECKING, Literal

import msgspec
from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from common.text.storable import has_unstorable

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

MAX_CHARACTERS = 200_000


class JSONField(forms.Field):
    """JSON of one type; NaN, NUL and lone surrogates are refused."""

    def __init__(
        self,
        label: "_StrPromise",
        kind: Literal["object", "list"],
        *,
        help_text: "str | _StrPromise" = "",
        rows: int = 3,
    ) -> None:
        widget = forms.Textarea(attrs={"rows": rows, "spellcheck": "false", "class": "code"})
        super().__init__(required=False, widget=widget, label=label, help_text=help_text)
        self._kind = kind

    def to_python(self, value: object) -> object:
        text = str(value or "").strip()
        if len(text) > MAX_CHARACTERS:
            raise ValidationError(_("This is too long."))
        try:
            decoded: object = msgspec.json.decode(text or ("{}" if self._kind == "object" else "[]"))
        except msgspec.MsgspecError as error:
            raise ValidationError(_("This is not JSON: %(reason)s"), params={"reason": str(error)}) from error
        if not isinstance(decoded, dict if self._kind == "object" else list):
            if self._kind == "object":
                raise ValidationError(_('Write a JSON object, such as {"name": 1}.'))
            raise ValidationError(_("Write a JSON list, such as [1, 2]."))
        if has_unstorable(msgspec.json.encode(decoded).decode()) or "\\u0000" in text:
            raise ValidationError(_("It has characters that cannot be stored."))
        return decoded

    def has_changed(self, initial: object, data: object) -> bool:
        try:
            return (self.to_python(data) or None) != (initial or None)
        except ValidationError:
            return True

    def prepare_value(self, value: object) -> object:
        if isinstance(value, str):
            return value
        return msgspec.json.format(msgspec.json.encode(value)).decode() if value else ""


def text_area(
    label: "_StrPromise", *, rows: int, required: bool = True, help_text: "str | _StrPromise" = ""
) -> forms.CharField:
    """Return a field for a longer text whose outer spaces are kept."""
    widget = forms.Textarea(attrs={"rows": rows, "dir": "auto"})
    return forms.CharField(
        label=label, required=required, strip=False, max_length=MAX_CHARACTERS, widget=widget, help_text=help_text
    )


def plain_lines(text: str) -> str:
    """Return a text with one kind of line end."""
    return text.replace("\r\n", "\n").replace("\r", "\n")
