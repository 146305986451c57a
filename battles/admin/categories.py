import re
from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import Model
from django.http import HttpRequest
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from battles.labels.categories import BUILT_IN
from battles.models import Category
from battles.text.classifier import classify
from battles.text.labels import UNDETERMINED
from common.admin.trial_page import TrialPageMixin
from common.payload_types import JsonObject
from models_registry.admin.base import RegistryAdmin

MAX_PHRASES = 200
_LANGUAGE = re.compile(rf"[a-z]{{2}}|{UNDETERMINED}")


class LinesField(forms.CharField):
    widget = forms.Textarea(attrs={"rows": 8, "cols": 40})

    def prepare_value(self, value: object) -> object:
        return "\n".join(value) if isinstance(value, list) else value

    def to_python(self, value: object) -> Any:
        lines = (" ".join(line.split()) for line in (super().to_python(value) or "").splitlines())
        return list(dict.fromkeys(line for line in lines if line))


class CategoryForm(forms.ModelForm):  # type: ignore[type-arg]
    phrases = LinesField(
        label=_("Words or phrases"),
        required=False,
        help_text=_(
            "One per line; a prompt with any of them matches. Case is ignored. “contract” matches the whole word "
            "only, “contract*” also “contracts” and “contractor”."
        ),
    )

    class Meta:
        model = Category
        fields = [
            "name",
            "slug",
            "description",
            "is_active",
            "phrases",
            "languages",
            "fewest_characters",
            "fewest_turns",
        ]
        help_texts = {
            "slug": _("The board's address. It cannot be changed later."),
            "description": _("Shown to readers of the board: what is filed here?"),
            "is_active": _(
                "If unchecked, no new votes are filed here. Existing ones stay until votes are filed again."
            ),
            "languages": _("Two-letter codes separated by commas, such as “en, fr”. Empty: any language."),
            "fewest_characters": _("Of all the person's prompts in a battle. 0: any length."),
            "fewest_turns": _("1: any battle."),
        }

    def clean_slug(self) -> str:
        slug = str(self.cleaned_data["slug"])
        if slug in BUILT_IN:
            raise ValidationError(_("The arena has this category already."))
        return slug

    def clean_phrases(self) -> list[str]:
        phrases: list[str] = self.cleaned_data["phrases"]
        if len(phrases) > MAX_PHRASES:
            raise ValidationError(_("At most %(most)d words or phrases."), params={"most": MAX_PHRASES})
        for phrase in phrases:
            if len(phrase.removesuffix("*").strip()) < 2:
                raise ValidationError(_("“%(phrase)s” is too short."), params={"phrase": phrase})
            if len(phrase) > 80:
                raise ValidationError(_("“%(phrase)s” is longer than 80 characters."), params={"phrase": phrase})
        return phrases

    def clean_languages(self) -> list[str]:
        languages = [language.strip().lower() for language in self.cleaned_data["languages"]]
        for language in languages:
            if not _LANGUAGE.fullmatch(language):
                raise ValidationError(_("“%(code)s” is not a two-letter code."), params={"code": language})
        return languages


class TryForm(forms.Form):
    prompt = forms.CharField(
        label=_("A prompt"), max_length=20_000, widget=forms.Textarea(attrs={"rows": 10, "cols": 100})
    )


@admin.register(Category)
class CategoryAdmin(TrialPageMixin, RegistryAdmin):
    form = CategoryForm
    list_display = ["name", "slug", "is_active", "conditions"]
    list_filter = ["is_active"]
    search_fields = ["name", "slug", "description"]
    trial_form = TryForm
    trial_template = "admin/battles/category/try.html"
    trial_title = _("Try the categories")
    trial_link = _("Try a prompt")
    fieldsets = [
        (None, {"fields": ["name", "slug", "description", "is_active"]}),
        (
            _("What is filed here"),
            {
                "description": _("All conditions must match. Votes that are not counted yet are updated immediately."),
                "fields": ["phrases", "languages", "fewest_characters", "fewest_turns"],
            },
        ),
    ]

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> list[str]:
        return ["slug"] if obj is not None else []

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False  # votes refer to categories by slug

    def run_trial(self, data: JsonObject) -> object:
        """Try inactive categories, too."""
        return _classification(data["prompt"])

    @admin.display(description=_("what fits"))
    def conditions(self, category: Category) -> str:
        shown = category.phrases[:3] + (["…"] if len(category.phrases) > 3 else [])
        parts = [", ".join(shown), ", ".join(category.languages)]
        if category.fewest_characters:
            sentence = ngettext("%(n)d character or more", "%(n)d characters or more", category.fewest_characters)
            parts.append(sentence % {"n": category.fewest_characters})
        if category.fewest_turns > 1:
            parts.append(gettext("%(n)d turns or more") % {"n": category.fewest_turns})
        return " · ".join(part for part in parts if part)


def _classification(prompt: str) -> dict[str, object]:
    labels = classify([prompt])
    custom = [category for category in Category.objects.all() if category.rule.matches([prompt], labels.language)]
    return {
        "language": labels.language,
        "built_in": [BUILT_IN[key][0] for key in labels.categories],
        "own": custom,
    }
