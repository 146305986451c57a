"""What people uploaded, for operators: records, never the files themselves."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from uploads.models import Upload


@admin.register(Upload)
class UploadAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    list_display = ["name", "media_type", "size", "state", "error", "created_at", "used_at", "deleted_at"]
    list_filter = ["state", "kind", "error"]
    search_fields = ["name", "sha256", "owner_user__email"]
    list_select_related = ["owner_user"]
    ordering = ["-pk"]
    show_full_result_count = False
    exclude = ["stored_as", "lease_until"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
