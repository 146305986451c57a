from decimal import Decimal
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Model, QuerySet
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils.decorators import method_decorator
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.debug import sensitive_post_parameters

from common.payload_types import JsonObject
from common.text.money import dollars, plain_decimal
from models_registry.admin.base import OwnedAdmin
from models_registry.admin.discovery import DiscoverAdmin
from models_registry.catalogue.presets import PRESETS
from models_registry.forms import ProviderForm
from models_registry.health import outcomes
from models_registry.models import Provider
from models_registry.models.ledger import spent_by_provider_today
from models_registry.providers.kinds import ProviderKind


@admin.register(Provider)
class ProviderAdmin(DiscoverAdmin, OwnedAdmin):
    form = ProviderForm
    list_display = ["name", "base_url", "kind_label", "key_state", "can_be_called", "spent_today", "model_count"]
    search_fields = ["name", "base_url", "api_key_env"]
    list_filter = ["kind", "needs_key"]
    list_select_related = ["team"]
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
        (
            _("Other software"),
            {"classes": ["collapse"], "fields": ["passed_names", "fetches_media", "server_tool_prices"]},
        ),
        (_("Traces"), {"classes": ["collapse"], "fields": ["sends_trace"]}),
    ]

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        """Show presets first, then the form."""
        preset = PRESETS.get(request.GET.get("preset", ""))
        if preset is None and request.method == "GET":
            return self._choose_preset(request)
        return super().add_view(request, form_url, {**(extra_context or {}), "preset": preset})

    def _choose_preset(self, request: HttpRequest) -> HttpResponse:
        if not self.has_add_permission(request):
            raise PermissionDenied
        registered = list(Provider.objects.order_by("name"))
        presets = [
            {
                "key": key,
                "label": preset.label,
                "preset": preset,
                "registered": [provider for provider in registered if provider.base_url == preset.base_url],
            }
            for key, preset in PRESETS.items()
        ]
        context = {
            **self.admin_site.each_context(request), "opts": self.opts, "presets": presets,
            "title": gettext("Add a provider"),
        }  # fmt: skip
        return TemplateResponse(request, "admin/models_registry/provider/choose_preset.html", context)

    def get_changeform_initial_data(self, request: HttpRequest) -> JsonObject:
        preset = PRESETS.get(request.GET.get("preset", ""))
        if preset is None:
            return {}
        return {
            "name": preset.name, "base_url": preset.base_url, "needs_key": preset.needs_key,
            "kind": "" if preset.kind is ProviderKind.OTHER else preset.kind, "api_key_env": preset.api_key_env,
            "fetches_media": preset.fetches_media,
        }  # fmt: skip

    def response_add(self, request: HttpRequest, obj: Provider, post_url_continue: str | None = None) -> HttpResponse:
        """Redirect to the provider's list of models, unless another button was pressed."""
        if {"_continue", "_addanother", "_popup"} & request.POST.keys():
            return super().response_add(request, obj, post_url_continue)
        sentence = gettext("“%(provider)s” was added. Now get its list of models.") % {"provider": obj}
        messages.success(request, sentence)
        return redirect("admin:models_registry_discover", obj.pk)

    @method_decorator(sensitive_post_parameters("key"))
    def changeform_view(self, *args: Any, **kwargs: Any) -> HttpResponse:
        return super().changeform_view(*args, **kwargs)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Provider]:
        queryset: QuerySet[Provider] = super().get_queryset(request)
        return queryset.annotate(models_served=Count("models"), spent=spent_by_provider_today())

    def save_model(self, request: HttpRequest, obj: Provider, form: "ModelForm[Provider]", change: bool) -> None:
        super().save_model(request, obj, form, change)
        if change and {"key", "base_url", "api_key_env"} & set(form.changed_data):
            outcomes.reset_provider_breaker(obj)

    def get_fieldsets(self, request: HttpRequest, obj: Model | None = None) -> Any:
        """Hide fields that a new provider does not have."""
        hidden = {"can_be_called", "key_state", "remove_key", "probed_at"} if obj is None else set()
        return [
            (title, {**options, "fields": [name for name in options["fields"] if name not in hidden]})
            for title, options in self.fieldsets
        ]

    @admin.display(description=_("kind"))
    def kind_label(self, provider: Provider) -> str:
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
        return None if provider._state.adding else provider.unavailable_reason or gettext("yes")

    @admin.display(description=_("spent today"), ordering="spent")
    def spent_today(self, provider: Any) -> str:
        spent = dollars(plain_decimal(provider.spent or Decimal(0)))
        return spent if provider.daily_budget is None else f"{spent} / {dollars(plain_decimal(provider.daily_budget))}"

    @admin.display(description=_("models"), ordering="models_served")
    def model_count(self, provider: Any) -> int:
        return int(provider.models_served)
