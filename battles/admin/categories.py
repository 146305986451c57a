from django import forms
from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from battles.editing.forms import CategoryForm
from battles.labels.categories import BUILT_IN
from battles.models import Category
from battles.text.classifier import classify
from common.admin.trial_page import TrialPageMixin
from common.payload_types import JsonObject
from models_registry.admin.base import OwnedAdmin


class TryForm(forms.Form):
    prompt = forms.CharField(
        label=_("A prompt"), max_length=20_000, widget=forms.Textarea(attrs={"rows": 10, "cols": 100})
    )


@admin.register(Category)
class CategoryAdmin(TrialPageMixin, OwnedAdmin):
    form = CategoryForm
    list_select_related = ["team"]
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
