from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect


class SingleRowMixin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Lead from "Add" to the only row, which cannot be deleted."""

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        # has_add_permission would ask for the row on every page.
        row = self.model.objects.first() if self.has_add_permission(request) else None
        if row is not None:
            return redirect(f"admin:{self.opts.app_label}_{self.opts.model_name}_change", row.pk)
        return super().add_view(request, form_url, extra_context)

    def changeform_view(
        self, request: HttpRequest, object_id: str | None = None, form_url: str = "",
        extra_context: dict[str, object] | None = None,
    ) -> HttpResponse:  # fmt: skip
        context = {"show_save_and_add_another": False, **(extra_context or {})}
        return super().changeform_view(request, object_id, form_url, context)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False
