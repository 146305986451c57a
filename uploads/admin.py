from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from common.admin.estimated_count import EstimatedCountAdmin
from uploads.models import Upload


@admin.register(Upload)
class UploadAdmin(EstimatedCountAdmin):
    list_display = ["name", "media_type", "size", "state", "error", "created_at", "used_at", "deleted_at"]
    list_filter = ["state", "kind", "error"]
    search_fields = ["public_id", "owner_user__email"]
    search_help_text = _("The address of a file, or a member's e-mail address.")
    list_select_related = ["owner_user"]
    ordering = ["-pk"]
    exclude = ["stored_as", "lease_until"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False
