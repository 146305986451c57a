from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest

from common.admin.estimated_count import EstimatingPaginator


class ReadOnlyAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    paginator = EstimatingPaginator
    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False
