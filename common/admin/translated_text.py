"""Form field for a text in each language of the site."""

from collections.abc import Mapping, Sequence
from copy import deepcopy

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from common.text.storable import has_unstorable
from common.text.translated import Texts

# Shown by static/js/input_limits.js before the form is sent.
TOO_LONG = gettext_lazy("This text is too long. Shorten it.")


class TranslatedWidget(forms.MultiWidget):
    """One input per language, labelled with the language's name."""

    use_fieldset = True

    def __init__(self, widget: forms.Widget) -> None:
        super().__init__({code: deepcopy(widget) for code, _name in settings.LANGUAGES})

    def decompress(self, value: Texts | None) -> list[str]:
        return [(value or {}).get(code, "") for code, _name in settings.LANGUAGES]

    def render(
        self, name: str, value: object, attrs: Mapping[str, object] | None = None, renderer: object = None
    ) -> SafeString:
        inputs = self.get_context(name, value, dict(attrs or {}))["widget"]["subwidgets"]
        rows = [
            (
                each["attrs"]["id"],
                label,
                code,
                widget.render(each["name"], each["value"], each["attrs"] | {"lang": code}),
            )
            for widget, each, (code, label) in zip(self.widgets, inputs, settings.LANGUAGES, strict=True)
        ]
        row = '<p><label for="{0}"><span lang="{2}">{1}</span></label>{3}</p>'
        return format_html('<div class="translated">{}</div>', format_html_join("", row, rows))


class TranslatedField(forms.MultiValueField):
    """Field whose value is {language: text}, without languages left empty."""

    def __init__(
        self,
        *,
        max_characters: int,
        widget: forms.Widget | None = None,
        required: bool = True,
        label: object = None,
        help_text: object = "",
    ) -> None:
        self.max_characters = max_characters
        # The length is checked here: a browser would cut a pasted text at a maxlength without a word.
        inner = deepcopy(widget) if widget is not None else forms.TextInput(attrs={"size": 60})
        inner.attrs |= {"data-limit": max_characters, "data-too-large": TOO_LONG}
        super().__init__(
            [forms.CharField(required=False, strip=True) for _language in settings.LANGUAGES],
            widget=TranslatedWidget(inner),
            require_all_fields=False,
            required=required,
            label=label,  # type: ignore[arg-type]
            help_text=help_text,  # type: ignore[arg-type]
        )

    def compress(self, data_list: Sequence[str]) -> Texts:
        codes = [code for code, _name in settings.LANGUAGES]
        # The list is empty if nothing was sent.
        texts = {code: text.replace("\r\n", "\n") for code, text in zip(codes, data_list, strict=False) if text}
        problems = [
            ValidationError(
                _("%(language)s: %(problem)s") % {"language": name, "problem": problem.message}, problem.code
            )
            for code, name in settings.LANGUAGES
            if (problem := self._problem(texts.get(code, ""))) is not None
        ]
        if problems:
            raise ValidationError(problems)
        return texts

    def _problem(self, text: str) -> ValidationError | None:
        if has_unstorable(text):
            return ValidationError(_("The text contains an invalid character."), "invalid_character")
        if len(text) > self.max_characters:
            words = {"count": len(text), "most": self.max_characters}
            return ValidationError(_("%(count)d characters are too many; at most %(most)d.") % words, "too_long")
        return None
