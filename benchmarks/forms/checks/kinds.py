"""Checks as people choose them: groups of kinds, and each scorer's settings as form fields."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec
from django import forms
from django.core.exceptions import ValidationError
from django.utils.text import capfirst
from django.utils.translation import get_language_info, gettext
from django.utils.translation import gettext_lazy as _

from benchmarks.forms.fields import JSONField
from benchmarks.scoring.registry import BUILT_IN
from common.payload_types import JsonObject

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

MAX_LINES = 20_000
PREFIX = "setting_"
_LANGUAGES = (
    "ar", "bg", "bn", "ca", "cs", "da", "de", "el", "en", "es", "et", "fa", "fi", "fr", "he", "hi", "hr", "hu", "id",
    "it", "ja", "ko", "lt", "lv", "nl", "pl", "pt", "ro", "ru", "sk", "sl", "sr", "sv", "th", "tr", "uk", "vi",
)  # fmt: skip


class ScaledField(forms.FloatField):
    """A number that is stored in a smaller or larger unit than it is typed in."""

    def __init__(
        self, label: "_StrPromise", *, scale: float = 1, required: bool = False, initial: float | None = None
    ) -> None:
        super().__init__(label=label, required=required, min_value=0, initial=initial)
        self._scale = scale

    def prepare_value(self, value: object) -> object:
        return f"{value * self._scale:.10g}" if isinstance(value, int | float) else value

    def clean(self, value: object) -> float | None:
        number = super().clean(value)
        return None if number is None else round(number / self._scale, 12)


class LinesField(forms.CharField):
    def __init__(
        self, label: "_StrPromise", *, help_text: "str | _StrPromise" = "", required: bool = False, rows: int = 1
    ) -> None:
        widget = forms.Textarea(attrs={"rows": rows, "dir": "auto"})
        super().__init__(
            label=label, help_text=help_text, required=required, widget=widget, strip=False, max_length=MAX_LINES
        )

    def prepare_value(self, value: object) -> object:
        return "\n".join(map(str, value)) if isinstance(value, list | tuple) else value

    def clean(self, value: object) -> list[str]:
        lines = [line for line in str(super().clean(value)).splitlines() if line.strip()]
        if self.required and not lines:
            raise ValidationError(self.error_messages["required"], code="required")
        return lines


class PointerField(forms.CharField):
    """A place in JSON; a name alone is a field of the outermost object."""

    def clean(self, value: object) -> str:
        text = str(super().clean(value))
        return text if not text or text.startswith("/") else f"/{text}"


def pointer_field(*, required: bool = True) -> forms.Field:
    return PointerField(
        label=_("Field"), required=required, max_length=500,
        help_text=_("Its name, for example age; of nested ones the path, for example /items/0/name."),
    )  # fmt: skip


MakeField = Callable[[], forms.Field]


def flag(label: "_StrPromise", *, initial: bool = False) -> MakeField:
    return lambda: forms.BooleanField(label=label, required=False, initial=initial)


def whole(label: "_StrPromise", *, required: bool = False, initial: int | None = None) -> MakeField:
    return lambda: forms.IntegerField(label=label, required=required, min_value=0, initial=initial)


def choice(
    label: "_StrPromise", choices: Sequence[tuple[str, "_StrPromise"]], *, initial: str | None = None
) -> MakeField:
    return lambda: forms.ChoiceField(label=label, choices=choices, initial=initial or choices[0][0])


def language_field() -> forms.Field:
    names = {code: capfirst(str(get_language_info(code)["name_translated"])) for code in _LANGUAGES}
    names["zh"] = gettext("Chinese")  # Django knows its scripts only
    choices = [(code, names[code]) for code in sorted(names, key=lambda code: names[code])]
    return forms.ChoiceField(label=_("Language"), choices=choices, initial="en")


RANGE: Mapping[str, MakeField] = {"min": whole(_("At least")), "max": whole(_("At most"))}


@dataclass(frozen=True)
class Kind:
    """name: of the scorer. target: label of texts to compare with. aliases: scorers with preset settings."""

    name: str
    label: "_StrPromise"
    fields: Mapping[str, MakeField] = field(default_factory=dict)
    target: "_StrPromise | None" = None
    aliases: Mapping[str, JsonObject] = field(default_factory=dict)
    # Its value has no verdict of its own.
    needs_threshold: bool = False

    def form_fields(self) -> dict[str, forms.Field]:
        return {f"{PREFIX}{name}": make() for name, make in self.fields.items()}

    def settings(self, values: Mapping[str, object]) -> JsonObject:
        """Return settings of cleaned form values, without defaults."""
        given = {name: values[f"{PREFIX}{name}"] for name in self.fields}
        known = self._defaults()
        return {name: value for name, value in given.items() if value != known.get(name) and value is not None}

    def values(self, settings: JsonObject) -> JsonObject | None:
        """Return form values of settings, None if fields cannot show all of them."""
        if not settings.keys() <= self.fields.keys():
            return None
        values = self._defaults() | settings
        shown: JsonObject = {}
        for name, make in self.fields.items():
            made, value = make(), values.get(name)
            try:
                if value is not None and made.clean(made.prepare_value(value)) != value:
                    return None
            except ValidationError:
                return None
            shown[f"{PREFIX}{name}"] = value
        return shown

    def summary(self, values: Mapping[str, object]) -> str:
        low, high = values.get(f"{PREFIX}min"), values.get(f"{PREFIX}max")
        if self.fields is RANGE and (low, high) != (None, None):
            numbers = {"label": self.label, "low": low, "high": high}
            if low is None:
                return gettext("%(label)s: at most %(high)s") % numbers
            if high is None:
                return gettext("%(label)s: at least %(low)s") % numbers
            return gettext("%(label)s: %(low)s to %(high)s") % numbers
        parts = []
        for name, made in self.form_fields().items():
            value = values.get(name)
            if isinstance(made, forms.BooleanField | JSONField) or value in (None, "", []) or value == made.initial:
                continue
            shown = made.prepare_value(value)
            if isinstance(made, forms.ChoiceField):
                shown = next((label for code, label in made.widget.choices if code == value), shown)
            parts.append(gettext("%(name)s: %(value)s") % {"name": made.label, "value": shown})
        return f"{self.label} ({', '.join(parts)})" if parts else str(self.label)

    def _defaults(self) -> JsonObject:
        defaults: JsonObject = {}
        for known in msgspec.structs.fields(BUILT_IN[self.name].settings):
            if known.default is not msgspec.NODEFAULT:
                defaults[known.name] = list(known.default) if isinstance(known.default, tuple) else known.default
        return {name: value for name, value in defaults.items() if name in self.fields}
