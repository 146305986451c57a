import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from accounts import actions, audit, bans, staff_rights
from accounts.admin.audited import AuditDeletionsMixin
from accounts.errors import NeedsAdministrator
from accounts.models import ApiToken, AuditEntry, Ban, Invitation, Scope, Team, User, Visitor
from common.admin.read_only import ReadOnlyAdmin
from common.payload_types import JsonObject


class BanForm(forms.ModelForm):  # type: ignore[type-arg]
    by: User

    class Meta:
        model = Ban
        fields = ["user", "visitor", "network", "reason", "expires_at"]

    def clean_network(self) -> str:
        network: str = self.cleaned_data["network"]
        if network and not re.fullmatch(r"\d{4}-\d{2}:\S+", network):
            raise forms.ValidationError(_("Copy the network from a visitor’s page. It begins with a month: 2026-11:…"))
        return network

    def _post_clean(self) -> None:
        """Check the right to create this ban, once Django has filled the form's instance."""
        super()._post_clean()  # type: ignore[misc]
        if self.errors:
            return
        try:
            staff_rights.refuse_ban(self.instance, by=self.by)
        except NeedsAdministrator as refusal:
            self.add_error(None, refusal.detail)


@admin.register(Ban)
class BanAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Bans are created and lifted, not edited: the shown reason stays on record."""

    form = BanForm
    list_display = [
        "__str__",
        "user",
        "visitor",
        "network",
        "reason",
        "created_by",
        "created_at",
        "expires_at",
        "lifted_at",
    ]
    list_select_related = ["user", "visitor", "created_by"]
    list_filter = ["lifted_at"]
    search_fields = ["user__email", "network", "reason"]
    autocomplete_fields = ["user"]
    raw_id_fields = ["visitor"]
    actions = ["lift"]

    def get_fields(self, request: HttpRequest, obj: Ban | None = None) -> list[Any]:
        editable = ["user", "visitor", "network", "reason", "expires_at"]
        return editable if obj is None else [*editable, "created_by", "created_at", "lifted_by", "lifted_at"]

    def get_readonly_fields(self, request: HttpRequest, obj: Ban | None = None) -> list[str]:
        return [] if obj is None else self.get_fields(request, obj)

    def get_form(
        self, request: HttpRequest, obj: Ban | None = None, change: bool = False, **kwargs: Any
    ) -> type["forms.ModelForm[Ban]"]:
        form = super().get_form(request, obj, change, **kwargs)
        form.by = request.user  # type: ignore[attr-defined]
        return form

    def has_delete_permission(self, request: HttpRequest, obj: Ban | None = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: Ban, form: object, change: bool) -> None:
        if not change:
            actions.ban(obj, by=request.user)  # type: ignore[arg-type]

    @admin.action(description=_("Lift: the block ends"), permissions=["change"])
    def lift(self, request: HttpRequest, queryset: QuerySet[Ban]) -> None:
        try:
            with transaction.atomic():
                for ban in queryset:
                    network = bans.network_hash_in_month_of(ban, request)
                    actions.lift_ban(ban, by=request.user, network=network)  # type: ignore[arg-type]
        except NeedsAdministrator as refusal:
            messages.error(request, refusal.detail)
            return
        messages.success(request, _("They may take part again."))


class InvitationForm(forms.ModelForm):  # type: ignore[type-arg]
    class Meta:
        model = Invitation
        fields = ["email", "expires_at"]

    def clean_expires_at(self) -> datetime:
        moment: datetime = self.cleaned_data["expires_at"]
        if moment <= timezone.now():
            raise forms.ValidationError(_("This moment is over."))
        return moment


@admin.register(Invitation)
class InvitationAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    form = InvitationForm
    list_display = ["__str__", "email", "created_by", "created_at", "expires_at", "used_by", "revoked_at"]
    list_select_related = ["created_by", "used_by", "team"]
    list_filter = ["used_at", "revoked_at"]
    search_fields = ["email", "used_by__email"]
    actions = ["revoke"]

    def get_list_display(self, request: HttpRequest) -> Sequence[object]:  # type: ignore[override]
        of_teams = ["team", "role", "uses_left"] if Team.objects.exists() else []
        return [*self.list_display, *of_teams]

    def get_fields(self, request: HttpRequest, obj: Invitation | None = None) -> list[Any]:
        editable = ["email", "expires_at"]
        if obj is None:
            return editable
        of_team = [] if obj.team_id is None else ["team", "role", "uses_left"]
        return [*editable, *of_team, "created_by", "created_at", "used_by", "used_at", "revoked_at"]

    def get_readonly_fields(self, request: HttpRequest, obj: Invitation | None = None) -> list[str]:
        return [] if obj is None else self.get_fields(request, obj)

    def get_changeform_initial_data(self, request: HttpRequest) -> JsonObject:
        return {"expires_at": timezone.now() + timedelta(days=14)}

    def has_delete_permission(self, request: HttpRequest, obj: Invitation | None = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: Invitation, form: object, change: bool) -> None:
        if change:
            return
        row, token = actions.invite(by=request.user, email=obj.email, expires_at=obj.expires_at)  # type: ignore[arg-type]
        obj.pk = row.pk
        link = request.build_absolute_uri(f"{reverse('account_signup')}?invitation={token}")
        sentence = _("Copy the link now, it will not be shown again: {}")
        messages.warning(request, format_html(str(sentence), format_html("<code>{}</code>", link)))

    @admin.action(description=_("Revoke: the links stop working"), permissions=["change"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[Invitation]) -> None:
        for invitation in queryset:
            actions.revoke_invitation(by=request.user, invitation=invitation)  # type: ignore[arg-type]
        messages.success(request, _("The links that were still open are revoked."))


class ApiTokenForm(forms.ModelForm):  # type: ignore[type-arg]
    scopes = forms.MultipleChoiceField(label=_("Scopes"), choices=Scope.choices, widget=forms.CheckboxSelectMultiple)

    class Meta:
        model = ApiToken
        fields = ["user", "name", "scopes", "expires_at"]


@admin.register(ApiToken)
class ApiTokenAdmin(AuditDeletionsMixin):
    form = ApiTokenForm
    list_display = ["name", "user", "last_four", "scopes", "created_at", "expires_at", "last_used_at", "revoked_at"]
    list_select_related = ["user"]
    list_filter = ["revoked_at"]
    search_fields = ["name", "user__email", "last_four"]
    autocomplete_fields = ["user"]
    actions = ["revoke"]

    def get_fields(self, request: HttpRequest, obj: ApiToken | None = None) -> list[Any]:
        editable = ["user", "name", "scopes", "expires_at"]
        if obj is None:
            return editable
        of_team = [] if obj.team_id is None else ["team"]
        return [*editable, *of_team, "last_four", "created_at", "last_used_at", "revoked_at"]

    def get_readonly_fields(self, request: HttpRequest, obj: ApiToken | None = None) -> list[str]:
        return [] if obj is None else self.get_fields(request, obj)

    def save_model(self, request: HttpRequest, obj: ApiToken, form: object, change: bool) -> None:
        if change:
            return
        row, token = ApiToken.issue(
            user=obj.user, name=obj.name, scopes=[Scope(scope) for scope in obj.scopes], expires_at=obj.expires_at
        )
        obj.pk = row.pk
        audit.record(request.user, "add API token", row, member=f"user {obj.user_id}", scopes=row.scopes)  # type: ignore[arg-type]
        sentence = _("Copy the token now, it will not be shown again: {}")
        messages.warning(request, format_html(str(sentence), format_html("<code>{}</code>", token)))

    @admin.action(description=_("Revoke: the tokens stop working immediately"), permissions=["change"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiToken]) -> None:
        usable = queryset.filter(revoked_at=None)
        for token in usable:
            token.revoke()
            audit.record(request.user, "revoke API token", token, member=f"user {token.user_id}")  # type: ignore[arg-type]
        sentence = ngettext("%(n)d token is revoked.", "%(n)d tokens are revoked.", len(usable))
        messages.success(request, sentence % {"n": len(usable)})


@admin.register(Visitor)
class VisitorAdmin(ReadOnlyAdmin):
    list_display = ["__str__", "created_at", "network", "claimed_by"]
    ordering = ["-pk"]
    list_select_related = ["claimed_by"]
    search_fields = ["=pk", "network"]
    fields = ["created_at", "network", "claimed_by"]


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyAdmin):
    list_display = ["created_at", "user", "action", "subject", "reason"]
    list_select_related = ["user"]
    list_filter = ["created_at"]
    search_fields = ["action", "subject", "reason", "user__email"]
    fields = ["created_at", "user", "action", "subject", "reason", "details"]
