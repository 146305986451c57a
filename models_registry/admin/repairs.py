from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from accounts.admin.audited import AuditedAdmin
from models_registry.models import RequestRepair
from models_registry.providers.kinds import CAPS
from models_registry.providers.repairs import FORMS

_BY_HAND = [
    "max_tokens → max_completion_tokens", "max_completion_tokens → max_tokens", "system → user", "-stream_options",
    "-temperature", "-top_p", "-presence_penalty", "-frequency_penalty", "-seed", "-stop", "-reasoning_effort",
]  # fmt: skip


class RequestRepairForm(forms.ModelForm):  # type: ignore[type-arg]
    repair = forms.RegexField(
        label=_("repair"),
        regex=r"-[a-z][a-z0-9_]*|max_tokens [→≤] \w+|max_completion_tokens [→≤] \w+|" + "|".join(sorted(FORMS)),
        max_length=80,
        help_text=_("For example: %(examples)s") % {"examples": ", ".join(_BY_HAND)},
    )

    def clean_repair(self) -> str:
        repair: str = self.cleaned_data["repair"]
        if repair.removeprefix("-") in CAPS | {"model", "messages", "stream"}:
            raise forms.ValidationError(_("An answer always has a cap, and a request its model and messages."))
        return repair


@admin.register(RequestRepair)
class RequestRepairAdmin(AuditedAdmin):
    # Rows added or changed by hand are settings: they do not expire.
    form = RequestRepairForm
    fields = ("model", "repair", "battles_go_on", "explanation", "state", "seen_at", "expires_at")
    readonly_fields = ("explanation", "state", "seen_at", "expires_at")
    list_display = ("model", "repair", "explanation", "state", "battles_go_on", "seen_at", "expires_at")
    list_filter = ("state", "battles_go_on")
    list_select_related = ("model__provider",)
    autocomplete_fields = ("model",)
    search_fields = ("model__name", "model__slug", "repair")
    actions = ("keep", "let_battles_go_on")

    def state_of(self, row: RequestRepair) -> dict[str, object]:
        return {"repair": row.repair, "battles_go_on": row.battles_go_on, "expires_at": str(row.expires_at)}

    def save_model(self, request: HttpRequest, obj: RequestRepair, form: RequestRepairForm, change: bool) -> None:
        _make_setting(obj)

    @admin.display(description=_("meaning"))
    def explanation(self, row: RequestRepair) -> str:
        return row.sentence if row.pk else ""

    @admin.action(description=_("Keep as a setting"), permissions=["change"])
    def keep(self, request: HttpRequest, queryset: QuerySet[RequestRepair]) -> None:
        self._keep(request, queryset)

    @admin.action(description=_("Let battles go on without the parameter"), permissions=["change"])
    def let_battles_go_on(self, request: HttpRequest, queryset: QuerySet[RequestRepair]) -> None:
        self._keep(request, queryset, battles_go_on=True)

    def _keep(self, request: HttpRequest, queryset: QuerySet[RequestRepair], **changes: bool) -> None:
        rows = list(queryset.select_related("model"))
        for row in rows:
            for name, value in changes.items():
                setattr(row, name, value)
            _make_setting(row)
            self.record(request, "change", row, **self.state_of(row))
            self.log_change(request, row, "kept")
        sentence = ngettext("%(n)d repair is a setting now.", "%(n)d repairs are settings now.", len(rows))
        messages.success(request, sentence % {"n": len(rows)})


def _make_setting(row: RequestRepair) -> None:
    row.state, row.expires_at, row.due_at = RequestRepair.State.CONFIRMED, None, None
    row.save()
