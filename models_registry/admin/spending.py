from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from common.admin.read_only import ReadOnlyAdmin
from models_registry import spending
from models_registry.models import Charge
from models_registry.models.ledger import are_paid_calls_halted, today


class ChargeAdmin(ReadOnlyAdmin):
    list_display = ["created_at", "model", "provider", "price", "most", "cost"]
    list_select_related = ["model", "provider", "price"]
    list_filter = ["day", "provider"]
    search_fields = ["model__name", "model__slug", "provider__name", "person"]
    change_list_template = "admin/models_registry/charge/change_list.html"

    def get_urls(self) -> list[URLPattern]:
        switch = self.admin_site.admin_view(require_POST(self.switch_paid_calls))
        return [path("paid-calls/", switch, name="models_registry_switch_paid_calls"), *super().get_urls()]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, object] | None = None) -> HttpResponse:
        context = {
            "spending_today": [
                (_("provider"), Charge.objects.totals(today(), "provider__name")),
                (_("model"), Charge.objects.totals(today(), "model__name")),
            ],
            "is_halted": are_paid_calls_halted(),
            "may_switch": _may_switch(request),
        }
        return super().changelist_view(request, {**(extra_context or {}), **context})

    def switch_paid_calls(self, request: HttpRequest) -> HttpResponse:
        if not _may_switch(request) or not request.user.is_authenticated:
            raise PermissionDenied
        if "allow" in request.POST:
            spending.allow_paid_calls(by=request.user)
            messages.success(request, _("Paid models can be called again."))
        else:
            spending.halt_paid_calls(by=request.user)
            messages.success(request, _("Calls to paid models are stopped. Calls in progress finish."))
        return redirect("admin:models_registry_charge_changelist")


def _may_switch(request: HttpRequest) -> bool:
    return request.user.has_perm("models_registry.add_paidcallshalt")
