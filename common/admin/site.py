"""The administration's site: which staff enter, and which filters a list's address may have."""

from collections.abc import Iterator

from django.contrib import admin
from django.contrib.admin.utils import get_fields_from_path
from django.core.exceptions import PermissionDenied
from django.db.models import Model
from django.http import HttpRequest, HttpResponse

# Lookups of Django's filters; others, such as `startswith` and `regex`, would spell values out.
_LOOKUPS = ("", "__exact", "__isnull", "__isempty", "__gte", "__lt")


class DeclaredLookups(admin.ModelAdmin):  # type: ignore[type-arg]
    """Allow no parameters in a list's address but those of `list_filter`.

    Django allows every field of the model and follows relations, so `?password__startswith=a` would spell it out.
    """

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        return lookup in self._declared_lookups(request)

    def _declared_lookups(self, request: HttpRequest) -> Iterator[str]:
        for item in [*self.get_list_filter(request), *([self.date_hierarchy] if self.date_hierarchy else [])]:
            if isinstance(item, type):
                yield from _parameters(item, request, self)
                continue
            path = item if isinstance(item, str) else item[0]
            yield from (path + lookup for lookup in _LOOKUPS)
            related = get_fields_from_path(self.model, path)[-1].related_model
            if related is not None:
                yield f"{path}__{related._meta.pk.name}__exact"


def _parameters(filter_class: type[admin.ListFilter], request: HttpRequest, window: DeclaredLookups) -> list[str]:
    if issubclass(filter_class, admin.SimpleListFilter):
        return [str(filter_class.parameter_name)]
    return [str(name) for name in filter_class(request, {}, window.model, window).expected_parameters()]


class ArenaAdminSite(admin.AdminSite):
    def has_permission(self, request: HttpRequest) -> bool:
        return getattr(request.user, "has_staff_rights", False)

    def login(self, request: HttpRequest, extra_context: dict[str, object] | None = None) -> HttpResponse:
        """Refuse members, to whom Django would show a form without limits."""
        if request.user.is_authenticated and not self.has_permission(request):
            raise PermissionDenied
        return super().login(request, extra_context)

    def register(  # type: ignore[override]
        self,
        model_or_iterable: type[Model],
        admin_class: type["admin.ModelAdmin[Model]"] | None = None,
        **options: object,
    ) -> None:
        """Register with DeclaredLookups, also the classes of libraries."""
        window = admin_class or admin.ModelAdmin
        guarded = type(window.__name__, (DeclaredLookups, window), {"__module__": window.__module__})
        super().register(model_or_iterable, guarded, **options)
