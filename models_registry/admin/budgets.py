from django.conf import settings
from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from accounts.admin.audited import AuditedAdmin
from common.text.money import dollars, plain_decimal
from models_registry.models import Budget


@admin.register(Budget)
class BudgetAdmin(AuditedAdmin):
    fields = ["whose", "dollars", "default"]
    readonly_fields = ["default"]
    list_display = ["whose", "dollars", "default", "changed_at"]
    ordering = ["whose"]

    def get_readonly_fields(self, request: HttpRequest, obj: Budget | None = None) -> list[str]:
        return ["default"] if obj is None else ["whose", "default"]

    def state_of(self, row: Budget) -> dict[str, object]:
        return {"dollars": row.dollars}

    @admin.display(description=_("default"))
    def default(self, row: Budget) -> str:
        if not row.whose:
            return "–"
        amount = settings.ARENA_BUDGETS.get(row.whose)
        return str(_("no limit")) if amount is None else dollars(plain_decimal(amount))
