from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.forms import AdminUserCreationForm, UserChangeForm
from django.db import transaction
from django.db.models import QuerySet
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse
from django.utils.formats import date_format
from django.utils.html import format_html_join
from django.utils.safestring import mark_safe
from django.utils.translation import gettext_lazy as _

from accounts import actions, audit
from accounts.models import SignIn, User
from accounts.sign_in.sessions import active_sign_ins


class LowerCaseEmail(forms.ModelForm):  # type: ignore[type-arg]
    """Mixin: store addresses in lower case; those that differ in case belong to one person."""

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
        fieldsets = super().get_fieldsets(request, obj)
        if obj is None or self.has_change_permission(request, obj):
            return fieldsets
        # Staff who may only view do not see the password's hash.
        return [(None, {"fields": ["email"]}), *fieldsets[1:]]

    def save_model(self, request: HttpRequest, obj: User, form: "ModelForm[User]", change: bool) -> None:
        super().save_model(request, obj, form, change)
        data = form.cleaned_data
        changed = [name for name in form.changed_data if not name.startswith("password")]
        rights: dict[str, object] = {
            name: data[name] for name in ("is_active", "is_staff", "is_superuser") if name in changed
        }
        rights |= {name: [str(row) for row in data[name]] for name in ("groups", "user_permissions") if name in changed}
        action = "change user" if change else "add user"
        audit.record(request.user, action, f"user {obj.pk}", changed=changed, **rights)  # type: ignore[arg-type]

    @transaction.atomic
    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> HttpResponse:
        """Show Django's page; write an audit entry when the password was changed or disabled."""
        before = self._password_of(request, id)
        response = super().user_change_password(request, id, form_url)
        if self._password_of(request, id) != before:
            audit.record(request.user, "set password", f"user {id}")  # type: ignore[arg-type]
        return response

    def _password_of(self, request: HttpRequest, id: str) -> str:
        user = self.get_object(request, id)
        return user.password if user is not None else ""

    def delete_model(self, request: HttpRequest, obj: User) -> None:
        actions.delete_account(obj, by=request.user)  # type: ignore[arg-type]

    @transaction.atomic
    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        for user in queryset:
            self.delete_model(request, user)

    def get_deleted_objects(
        self, objs: Sequence[User] | QuerySet[User], request: HttpRequest
    ) -> tuple[list[str], dict[str, int], set[str], list[str]]:
        """Require no rights to related objects: actions.delete_account decides which of them go."""
        listed, counts, _refused, protected = super().get_deleted_objects(objs, request)
        return listed, counts, set(), protected

    @admin.display(description=_("Signed in with"), empty_value="–")
    def browsers(self, user: User) -> str | None:
        # Never with a session's key, which would sign in.
        lines = [(str(row), date_format(row.last_seen_at, "DATE_FORMAT")) for row in active_sign_ins(user)]
        return format_html_join(mark_safe("<br>"), "{}, {}", lines) or None

    @admin.action(description=_("Sign out of every browser"), permissions=["change"])
    def sign_out_everywhere(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        for user in queryset:
            actions.sign_out(SignIn.objects.all(), member=user, by=request.user)  # type: ignore[arg-type]
        messages.success(request, _("They are signed out everywhere."))
