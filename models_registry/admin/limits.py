from django import forms
from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from accounts.admin.audited import AuditedAdmin
from accounts.limiting.rates import HELP, validate_rate
from models_registry.models import ModelLimit


class ModelLimitForm(forms.ModelForm):  # type: ignore[type-arg]
    rate = forms.CharField(label=_("rate"), max_length=100, validators=[validate_rate], help_text=HELP)


@admin.register(ModelLimit)
class ModelLimitAdmin(AuditedAdmin):
    form = ModelLimitForm
    fields = ("model", "rate")
    list_display = ("model", "rate", "changed_at")
    list_select_related = ("model",)
    autocomplete_fields = ("model",)
    search_fields = ("model__name", "model__slug")
    ordering = ("model__name",)

    def state_of(self, row: ModelLimit) -> dict[str, object]:
        return {"rate": row.rate}
