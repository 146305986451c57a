from allauth.account.admin import EmailAddressAdmin
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin
from django.contrib.auth.models import Group
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.functional import lazy
from django.utils.translation import gettext

from accounts.admin.audited import AuditDeletionsMixin, AuditedAdmin
from accounts.admin.issuers import IssuersAdmin
from arena_site import moderation_queue  # noqa: F401 (registers its page)
from site_content.current import site


def _administration() -> str:
    return gettext("%(site)s administration") % {"site": site().name}


admin.site.site_header = admin.site.site_title = lazy(_administration, str)()
admin.site.unregister([Authenticator, EmailAddress, Group, SocialAccount, SocialApp, SocialToken])


@admin.register(Group)
class AuditedGroupAdmin(AuditedAdmin, GroupAdmin):
    def state_of(self, row: Group) -> dict[str, object]:
        return {"permissions": [str(permission) for permission in row.permissions.all()]}


@admin.register(EmailAddress)
class AuditedEmailAddressAdmin(AuditedAdmin, EmailAddressAdmin):  # type: ignore[misc]
    """Changes are audited, because e-mail addresses sign people in."""

    def subject_of(self, row: EmailAddress) -> str:
        return f"user {row.user_id}"

    def state_of(self, row: EmailAddress) -> dict[str, object]:
        return {"primary": row.primary, "verified": row.verified}

    @admin.action(description=EmailAddressAdmin.make_verified.short_description, permissions=["change"])
    def make_verified(self, request: HttpRequest, queryset: QuerySet[EmailAddress]) -> None:
        for address in queryset.filter(verified=False):
            self.record(request, "verify", address)
        super().make_verified(request, queryset)


@admin.register(Authenticator)
class SecondFactorAdmin(AuditDeletionsMixin):
    """Staff delete lost second factors; the secret is not shown."""

    list_display = ["user", "type", "created_at", "last_used_at"]
    list_select_related = ["user"]
    list_filter = ["type"]
    search_fields = ["user__email"]
    fields = ["user", "type", "created_at", "last_used_at"]

    def subject_of(self, row: Authenticator) -> str:
        return f"user {row.user_id}: {row.type}"

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Authenticator | None = None) -> bool:
        return False


@admin.register(SocialAccount)
class ConnectionAdmin(IssuersAdmin, AuditDeletionsMixin):
    """Connections with issuers of single sign-on. Issuers are settings."""

    list_display = ["user", "provider", "uid", "date_joined", "last_login"]
    list_select_related = ["user"]
    list_filter = ["provider"]
    search_fields = ["user__email", "uid"]
    fields = ["user", "provider", "uid", "date_joined", "last_login"]

    def subject_of(self, row: SocialAccount) -> str:
        return f"user {row.user_id}: {row.provider}"

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: SocialAccount | None = None) -> bool:
        return False
