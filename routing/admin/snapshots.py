from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from common.admin.read_only import ReadOnlyAdmin
from routing.admin.tables import number, table
from routing.models import RouterSnapshot


@admin.register(RouterSnapshot)
class RouterSnapshotAdmin(ReadOnlyAdmin):
    list_display = ["created_at", "state", "method", "votes", "passed_heads", "seconds", "message"]
    list_filter = ["state", "created_at"]
    search_fields = ["public_id", "slot", "checksum"]
    fields = [
        "public_id", "created_at", "team", "slot", "state", "message", "method", "features_version", "board", "votes",
        "trained_until", "head_table", "price_table", "checksum", "seconds",
    ]  # fmt: skip
    readonly_fields = ["head_table", "price_table"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[RouterSnapshot]:
        return RouterSnapshot.objects.defer("parameters")

    @admin.display(description=_("parts that decide"))
    def passed_heads(self, snapshot: RouterSnapshot) -> str:
        return ", ".join(head["name"] for head in snapshot.heads if head.get("passed")) or "–"

    @admin.display(description=_("parts"))
    def head_table(self, snapshot: RouterSnapshot) -> SafeString | str:
        """Show each part's gain on held-out votes; it decides only if the lower bound is above 0."""
        rows = [
            [
                head.get("name", "–"),
                _("yes") if head.get("passed") else _("no"),
                number(head.get("gain"), 4),
                number(head.get("lower_bound"), 4),
                number(head.get("scale"), 1),
            ]
            for head in snapshot.heads
        ]
        names = (_("part"), _("decides"), _("gain in log loss"), _("lower bound, 95 %"), _("scale"))
        return table(_("Parts, tested on votes that they were not trained on"), names, rows) if rows else "–"

    @admin.display(description=_("price of money"))
    def price_table(self, snapshot: RouterSnapshot) -> SafeString | str:
        steps = max(len(snapshot.prices) - 1, 1)
        rows = [[f"{step / steps:.2f}", number(price, 2)] for step, price in enumerate(snapshot.prices)]
        return (
            table(_("Price of money by dial"), (_("dial"), _("chances of winning per dollar")), rows) if rows else "–"
        )
