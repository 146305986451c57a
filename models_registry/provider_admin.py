"""The window onto providers: a new one begins with a preset, and a key goes in once."""

from typing import Any

from django.contrib import admin
from django.db.models import Count, QuerySet
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse
from django.utils.decorators import method_decorator
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.debug import sensitive_post_parameters

from models_registry.forms import ProviderForm
from models_registry.ledger import spent_by_provider_today
from models_registry.models import Provider
from models_registry.registry_admin import RegistryAdmin


@admin.register(Provider)
class ProviderAdmin(RegistryAdmin):
    form = ProviderForm
    list_display = ["name", "base_url", "which_kind", "key_state", "can_be_called", "spent_today", "model_count"]
    search_fields = ["name", "base_url", "api_key_env"]
    list_filter = ["kind", "needs_key"]
    readonly_fields = ["key_state", "can_be_called", "probed_at"]
    fieldsets = [
        (None, {"fields": ["name", "base_url", "kind", "can_be_called"]}),
        (_("Key"), {"fields": ["needs_key", "key_state", "key", "remove_key", "api_key_env"]}),
        (
            _("Patience"),
            {
                "classes": ["collapse"],
                "fields": ["connect_s", "first_s", "idle_s", "total_s", "finish_reason_required", "probed_at"],
            },
        ),
        (_("Limits"), {"fields": ["calls_at_once", "daily_budget"]}),
    ]

    @method_decorator(sensitive_post_parameters("key"))
    def changeform_view(self, *args: Any, **kwargs: Any) -> HttpResponse:
        return super().changeform_view(*args, **kwargs)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Provider]:
        queryset: QuerySet[Provider] = super().get_queryset(request)
        return queryset.annotate(models_served=Count("models"), spent=spent_by_provider_today())

    def save_model(self, request: HttpRequest, obj: Provider, form: "ModelForm[Any]", change: bool) -> None:
        super().save_model(request, obj, form, change)
        self.write_down(request, form, obj, change=change)

    @admin.display(description=_("kind"))
    def which_kind(self, provider: Provider) -> str:
        return str(provider.known_kind.label)

    @admin.display(description=_("key"))
    def key_state(self, provider: Provider) -> str | None:
        if provider._state.adding:
            return None
        if provider.key_encrypted:
            shown = f"…{provider.key_last_four}" if provider.key_last_four else gettext("stored")
            return f"{shown} ({provider.key_fingerprint})"
        if provider.api_key_env:
            sentence = gettext("%(name)s is set") if provider.has_key else gettext("%(name)s is not set")
            return sentence % {"name": provider.api_key_env}
        return gettext("missing") if provider.needs_key else gettext("not needed")

    @admin.display(description=_("can be called now"))
    def can_be_called(self, provider: Provider) -> str | None:
        return None if provider._state.adding else provider.obstacle or gettext("yes")

    @admin.display(description=_("spent today"), ordering="spent")
    def spent_today(self, provider: Any) -> str:
        spent = f"${provider.spent or 0:f}"
        return spent if provider.daily_budget is None else f"{spent} / ${provider.daily_budget.normalize():f}"

    @admin.display(description=_("models"), ordering="models_served")
    def model_count(self, provider: Any) -> int:
        return int(provider.models_served)
