"""Prompt suggestions and feedback tags."""

from django import forms
from django.contrib import admin, messages
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.text import capfirst
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.admin.audited import AuditedAdmin
from battles import feedback
from battles.editing.forms import PromptSuggestionForm
from battles.models import FeedbackTag, PromptSuggestion
from common.admin.translated_text import TranslatedField
from common.text.translated import Texts
from models_registry.admin.base import OwnersMixin


@admin.register(PromptSuggestion)
class PromptSuggestionAdmin(OwnersMixin):
    form = PromptSuggestionForm
    list_select_related = ["team"]
    list_display = ["__str__", "position", "is_shown"]

    class Media:
        js = ["js/input_limits.js"]

    def state_of(self, row: PromptSuggestion) -> dict[str, object]:
        return {"texts": row.texts, "position": row.position, "is_shown": row.is_shown}


class FeedbackTagForm(forms.ModelForm):  # type: ignore[type-arg]
    labels = TranslatedField(
        label=capfirst(_("label")), max_characters=40, required=False,
        help_text=_("The arena’s own tags need none: empty, they are translated."),
    )  # fmt: skip

    class Meta:
        model = FeedbackTag
        fields = ["slug", "labels", "is_good", "position", "is_retired"]
        help_texts = {
            "slug": _("For the API and in exports. It cannot be changed later."),
            "is_retired": _("Not offered any more. Votes that have it keep it."),
        }

    def clean_labels(self) -> Texts:
        labels: Texts = self.cleaned_data["labels"] or {}
        slug = self.cleaned_data.get("slug", self.instance.slug)
        if not labels and slug not in feedback.BUILT_IN:
            raise forms.ValidationError(_("Write a label in at least one language."), "no_label")
        return labels


@admin.register(FeedbackTag)
class FeedbackTagAdmin(AuditedAdmin):
    """A tag with votes is retired instead of deleted."""

    form = FeedbackTagForm
    fields = ["slug", "labels", "is_good", "position", "is_retired"]
    list_display = ["label", "slug", "is_good", "position", "is_retired"]
    list_filter = ["is_retired"]

    class Media:
        js = ["js/input_limits.js"]

    @admin.display(description=_("label"))
    def label(self, row: FeedbackTag) -> str:
        return feedback.label_of(row.slug)

    def state_of(self, row: FeedbackTag) -> dict[str, object]:
        return {
            "labels": row.labels, "is_good": row.is_good, "position": row.position, "is_retired": row.is_retired,
        }  # fmt: skip

    def get_actions(self, request: HttpRequest) -> dict[str, object]:  # type: ignore[override]
        return {name: each for name, each in super().get_actions(request).items() if name != "delete_selected"}

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> list[str]:
        return ["slug"] if obj is not None else []

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        tag = self.get_object(request, object_id)
        is_deleting = request.method == "POST" and self.has_delete_permission(request, tag)
        if is_deleting and tag is not None and feedback.is_used(tag.slug):
            return self._retire(request, tag)
        return super().delete_view(request, object_id, extra_context)

    def _retire(self, request: HttpRequest, tag: FeedbackTag) -> HttpResponse:
        tag.is_retired = True
        tag.save(update_fields=["is_retired"])
        self.record(request, "retire", tag)
        sentence = gettext("Votes have the tag “%(tag)s”: it is retired, not deleted.")
        messages.warning(request, sentence % {"tag": feedback.label_of(tag.slug)})
        return redirect("admin:battles_feedbacktag_changelist")
