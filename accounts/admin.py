"""The window onto people: members, visitors, bans, invitations, API tokens and what staff changed."""

from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.forms import AdminUserCreationForm, UserChangeForm
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import mark_safe
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from accounts import actions, audit
from accounts.models import ApiToken, AuditEntry, Ban, Invitation, Scope, SignIn, User, Visitor
from accounts.sign_ins import signed_in
from common.large_lists import EstimatingPaginator


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
    readonly_fields = ["date_joined", "last_login", "browsers"]
    fieldsets = [
        (None, {"fields": ["email", "password"]}),
        (_("Name"), {"fields": ["first_name", "last_name"]}),
        (
            _("Rights"),
            {"fields": ["is_active", "is_staff", "is_superuser", "groups", "user_permissions"]},
        ),
        (_("Dates"), {"fields": ["date_joined", "last_login", "browsers"]}),
    ]
    add_fieldsets = [(None, {"classes": ["wide"], "fields": ["email", "usable_password", "password1", "password2"]})]

    actions = ["sign_out_everywhere"]

    def get_fieldsets(self, request: HttpRequest, obj: User | None = None) -> Any:
        """Whoever may only look has no use for what is left of a password."""
        fieldsets = super().get_fieldsets(request, obj)
        if obj is None or self.has_change_permission(request, obj):
            return fieldsets
        return [(None, {"fields": ["email"]}), *fieldsets[1:]]

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        changed = [name for name in form.changed_data if not name.startswith("password")]
        audit.record(request.user, "change user" if change else "add user", f"user {obj.pk}", changed=changed)  # type: ignore[arg-type]

    def delete_model(self, request: HttpRequest, obj: User) -> None:
        actions.delete_account(obj, by=request.user)  # type: ignore[arg-type]

    @transaction.atomic
    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        for user in queryset:
            self.delete_model(request, user)

    @admin.display(description=_("Signed in with"), empty_value="–")
    def browsers(self, user: User) -> str | None:
        """Without what would sign in: a session's key."""
        lines = [(str(row), date_format(row.last_seen_at, "DATE_FORMAT")) for row in signed_in(user)]
        return format_html_join(mark_safe("<br>"), "{}, {}", lines) or None

    @admin.action(description=_("Sign out of every browser"), permissions=["change"])
    def sign_out_everywhere(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        for user in queryset:
            actions.sign_out(SignIn.objects.all(), of=user, by=request.user)  # type: ignore[arg-type]
        messages.success(request, _("They are signed out everywhere."))


@admin.register(Ban)
class BanAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """A ban is made and lifted, not edited: what was said to somebody stays on record."""

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
        asked = ["user", "visitor", "network", "reason", "expires_at"]
        return asked if obj is None else [*asked, "created_by", "created_at", "lifted_by", "lifted_at"]

    def get_readonly_fields(self, request: HttpRequest, obj: Ban | None = None) -> list[str]:
        return [] if obj is None else self.get_fields(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Ban | None = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: Ban, form: Any, change: bool) -> None:
        if not change:
            actions.ban(obj, by=request.user)  # type: ignore[arg-type]

    @admin.action(description=_("Lift: they may take part again"), permissions=["change"])
    def lift(self, request: HttpRequest, queryset: QuerySet[Ban]) -> None:
        for ban in queryset:
            actions.lift_ban(ban, by=request.user)  # type: ignore[arg-type]
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
    """A link is shown once, when it is made; afterwards it can only be revoked."""

    form = InvitationForm
    list_display = ["__str__", "email", "created_by", "created_at", "expires_at", "used_by", "revoked_at"]
    list_select_related = ["created_by", "used_by"]
    list_filter = ["used_at", "revoked_at"]
    search_fields = ["email", "used_by__email"]
    actions = ["revoke"]

    def get_fields(self, request: HttpRequest, obj: Invitation | None = None) -> list[Any]:
        asked = ["email", "expires_at"]
        return asked if obj is None else [*asked, "created_by", "created_at", "used_by", "used_at", "revoked_at"]

    def get_readonly_fields(self, request: HttpRequest, obj: Invitation | None = None) -> list[str]:
        return [] if obj is None else self.get_fields(request, obj)

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        return {"expires_at": timezone.now() + timedelta(days=14)}

    def has_delete_permission(self, request: HttpRequest, obj: Invitation | None = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: Invitation, form: Any, change: bool) -> None:
        if change:
            return
        row, token = actions.invite(by=request.user, email=obj.email, expires_at=obj.expires_at)  # type: ignore[arg-type]
        obj.pk = row.pk
        link = request.build_absolute_uri(f"{reverse('account_signup')}?invitation={token}")
        sentence = _("Copy the link now, it will not be shown again: {}")
        messages.warning(request, format_html(str(sentence), format_html("<code>{}</code>", link)))

    @admin.action(description=_("Revoke: the links open nothing any more"), permissions=["change"])
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
        audit.record(request.user, "add API token", row, member=f"user {obj.user_id}", scopes=row.scopes)  # type: ignore[arg-type]
        sentence = _("Copy the token now, it will not be shown again: {}")
        messages.warning(request, format_html(str(sentence), format_html("<code>{}</code>", token)))

    @admin.action(description=_("Revoke: the tokens stop working at once"), permissions=["change"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiToken]) -> None:
        usable = queryset.filter(revoked_at=None)
        for token in usable:
            token.revoke()
            audit.record(request.user, "revoke API token", token, member=f"user {token.user_id}")  # type: ignore[arg-type]
        sentence = ngettext("%(n)d token is revoked.", "%(n)d tokens are revoked.", len(usable))
        messages.success(request, sentence % {"n": len(usable)})


class ReadOnlyAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """A window without handles."""

    paginator = EstimatingPaginator
    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Visitor)
class VisitorAdmin(ReadOnlyAdmin):
    """Without the key: it is what a visitor's cookie proves."""

    list_display = ["__str__", "created_at", "network", "claimed_by"]
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
