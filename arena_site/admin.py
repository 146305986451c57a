"""What the whole administration is called, and allauth's own pages in it without what nobody has to see."""

from allauth.mfa.models import Authenticator
from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from accounts import audit
from arena_site import moderation_queue  # noqa: F401 (registers its page)

admin.site.site_header = admin.site.site_title = _("Arena administration")
admin.site.unregister(Authenticator)


@admin.register(Authenticator)
class SecondFactorAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Staff delete one for somebody who lost it; what it proves itself with is not shown."""

    list_display = ["user", "type", "created_at", "last_used_at"]
    list_select_related = ["user"]
    list_filter = ["type"]
    search_fields = ["user__email"]
    fields = ["user", "type", "created_at", "last_used_at"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Authenticator | None = None) -> bool:
        return False

    def delete_model(self, request: HttpRequest, obj: Authenticator) -> None:
        audit.record(request.user, "delete second factor", f"user {obj.user_id}", kind=obj.type)  # type: ignore[arg-type]
        super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: object) -> None:
        for authenticator in queryset:  # type: ignore[attr-defined]
            self.delete_model(request, authenticator)
