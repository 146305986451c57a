from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from accounts.admin.audited import AuditedAdmin
from accounts.models import IssuerGroup
from accounts.single_sign_on.issuers import all_issuers


class IssuerGroupForm(forms.ModelForm):  # type: ignore[type-arg]
    issuer = forms.ChoiceField(
        label=_("issuer"), choices=lambda: [(issuer.key, issuer.name) for issuer in all_issuers()]
    )

    class Meta:
        model = IssuerGroup
        fields = ["team", "issuer", "claim", "group", "role"]


@admin.register(IssuerGroup)
class IssuerGroupAdmin(AuditedAdmin):
    form = IssuerGroupForm
    list_display = ["group", "claim", "issuer", "team", "role"]
    list_filter = ["issuer", "team"]
    list_select_related = ["team"]
    search_fields = ["group", "team__name"]

    def state_of(self, row: IssuerGroup) -> dict[str, object]:
        return {"team": row.team.slug, "issuer": row.issuer, "claim": row.claim, "group": row.group, "role": row.role}

    def has_add_permission(self, request: HttpRequest) -> bool:
        return bool(all_issuers()) and super().has_add_permission(request)
