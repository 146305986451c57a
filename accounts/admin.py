"""The window onto people: members, visitors, API tokens and what staff changed."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.forms import AdminUserCreationForm, UserChangeForm
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from accounts import audit
from accounts.models import ApiToken, AuditEntry, Scope, User, Visitor


class LowerCaseEmail(forms.ModelForm):  # type: ignore[type-arg]
    """Addresses that differ only in case are one person's."""

    def clean_email(self) -> str:
        return str(self.cleaned_data["email"]).lower()


class NewUserForm(LowerCaseEmail, AdminUserCreationForm):  # type: ignore[type-arg]
    class Meta:
        model = User
        fields = ["email"]


class UserForm(LowerCaseEmail, UserChangeForm):  # type: ignore[type-arg]
    class Meta:
        model = User
        fields = [
            "email", "first_name", "last_name", "is_active", "is_staff", "is_superuser", "groups", "user_permissions",
        ]  # fmt: skip


@admin.register(User)
class UserAdmin(DjangoUserAdmin):  # type: ignore[type-arg]
    form = UserForm
    add_form = NewUserForm
    ordering = ["email"]
    list_display = ["email", "is_active", "is_staff", "date_joined", "last_login"]
    list_filter = ["is_staff", "is_superuser", "is_active", "groups"]
    search_fields = ["email", "first_name", "last_name"]
    readonly_fields = ["date_joined", "last_login"]
    fieldsets = [
        (None, {"fields": ["email", "password"]}),
        (_("Name"), {"fields": ["first_name", "last_name"]}),
        (
            _("Rights"),
            {"fields": ["is_active", "is_staff", "is_superuser", "groups", "user_permissions"]},
        ),
        (_("Dates"), {"fields": ["date_joined", "last_login"]}),
    ]
    add_fieldsets = [(None, {"classes": ["wide"], "fields": ["email", "usable_password", "password1", "password2"]})]


class ApiTokenForm(forms.ModelForm):  # type: ignore[type-arg]
    scopes = forms.MultipleChoiceField(label=_("Scopes"), choices=Scope.choices, widget=forms.CheckboxSelectMultiple)

    class Meta:
        model = ApiToken
        fields = ["user", "name", "scopes", "expires_at"]


@admin.register(ApiToken)
class ApiTokenAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """A token is shown once, when it is made; afterwards it can only be revoked."""

    form = ApiTokenForm
    list_display = ["name", "user", "last_four", "scopes", "created_at", "expires_at", "last_used_at", "revoked_at"]
    list_select_related = ["user"]
    list_filter = ["revoked_at"]
    search_fields = ["name", "user__email", "last_four"]
    autocomplete_fields = ["user"]
    actions = ["revoke"]

    def get_fields(self, request: HttpRequest, obj: ApiToken | None = None) -> list[Any]:
        asked = ["user", "name", "scopes", "expires_at"]
        return asked if obj is None else [*asked, "last_four", "created_at", "last_used_at", "revoked_at"]

    def get_readonly_fields(self, request: HttpRequest, obj: ApiToken | None = None) -> list[str]:
        return [] if obj is None else self.get_fields(request, obj)

    def save_model(self, request: HttpRequest, obj: ApiToken, form: Any, change: bool) -> None:
        if change:
            return
        row, token = ApiToken.issue(
            user=obj.user, name=obj.name, scopes=[Scope(scope) for scope in obj.scopes], expires_at=obj.expires_at
        )
        obj.pk = row.pk
        audit.record(request.user, "add API token", row, member=obj.user.email, scopes=row.scopes)  # type: ignore[arg-type]
        sentence = _("Copy the token now, it will not be shown again: {}")
        messages.warning(request, format_html(str(sentence), format_html("<code>{}</code>", token)))

    @admin.action(description=_("Revoke: the tokens stop working at once"), permissions=["change"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiToken]) -> None:
        usable = queryset.filter(revoked_at=None).select_related("user")
        for token in usable:
            token.revoke()
            audit.record(request.user, "revoke API token", token, member=token.user.email)  # type: ignore[arg-type]
        sentence = ngettext("%(n)d token is revoked.", "%(n)d tokens are revoked.", len(usable))
        messages.success(request, sentence % {"n": len(usable)})


class ReadOnlyAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """A window without handles."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Visitor)
class VisitorAdmin(ReadOnlyAdmin):
    """Without the key: it is what a visitor's cookie proves."""

    list_display = ["__str__", "created_at", "claimed_by"]
    list_select_related = ["claimed_by"]
    fields = ["created_at", "claimed_by"]


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyAdmin):
    list_display = ["created_at", "user", "action", "subject", "reason"]
    list_select_related = ["user"]
    list_filter = ["action"]
    search_fields = ["action", "subject", "reason", "user__email"]
    fields = ["created_at", "user", "action", "subject", "reason", "details"]
