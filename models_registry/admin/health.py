from contextlib import suppress
from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.views.main import ChangeList
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path
from django.utils.functional import Promise
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from accounts import audit
from common.valkey.connections import UNREACHABLE
from models_registry import versions
from models_registry.health import oddities, outcomes
from models_registry.health.oddities import SeenOddity
from models_registry.health.oddity_messages import ODDITY_MESSAGES
from models_registry.models import Breaker, LanguageModel
from models_registry.models.availability import Availability


def set_status(request: HttpRequest, models: QuerySet[LanguageModel], status: LanguageModel.Status) -> None:
    changed = 0
    for model in models.exclude(status=status):
        versions.revise(model.pk, {"status": status})
        audit.record(request.user, f"set status {status}", model, before=model.status)  # type: ignore[arg-type]
        changed += 1
    sentence = ngettext("%(n)d model is %(status)s now.", "%(n)d models are %(status)s now.", changed)
    messages.success(request, sentence % {"n": changed, "status": status.label})


def _oddities_of(model: LanguageModel | None) -> list[tuple[SeenOddity, Promise]]:
    """Return what the model's server sent in the last days, the most frequent first; nothing without Valkey."""
    if model is None:
        return []
    with suppress(*UNREACHABLE):
        seen = [oddity for oddity in oddities.read() if oddity.model_id == model.pk]
        return [(oddity, ODDITY_MESSAGES[oddity.kind]) for oddity in sorted(seen, key=lambda oddity: -oddity.number)]
    return []


class HealthAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    change_form_template = "admin/models_registry/languagemodel/change_form.html"

    def get_urls(self) -> list[URLPattern]:
        return [
            path(f"<path:object_id>/{verb}/", self.admin_site.admin_view(require_POST(view)), name=name)
            for verb, view, name in [
                ("close-breaker", self.close_breaker, "models_registry_close_breaker"),
                ("activate", self.activate_one, "models_registry_activate"),
                ("pause", self.pause_one, "models_registry_pause"),
            ]
        ] + super().get_urls()

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        model = self.get_object(request, object_id)
        breakers = Breaker.objects.of_model(model.pk, model.provider_id).open() if model is not None else []
        context = {**(extra_context or {}), "breakers": breakers, "oddities": _oddities_of(model)}
        return super().change_view(request, object_id, form_url, context)

    def close_breaker(self, request: HttpRequest, object_id: str) -> HttpResponse:
        if outcomes.close(self._changeable(request, object_id), by=request.user):  # type: ignore[arg-type]
            messages.success(request, gettext("The breaker is closed: the model is drawn again."))
        return HttpResponseRedirect("../change/")

    def activate_one(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self._set_status_of_one(request, object_id, LanguageModel.Status.ACTIVE)

    def pause_one(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self._set_status_of_one(request, object_id, LanguageModel.Status.PAUSED)

    def _set_status_of_one(self, request: HttpRequest, object_id: str, status: LanguageModel.Status) -> HttpResponse:
        model = self._changeable(request, object_id)
        set_status(request, LanguageModel.of_every_owner.filter(pk=model.pk), status)
        return HttpResponseRedirect("../change/")

    def _changeable(self, request: HttpRequest, object_id: str) -> LanguageModel:
        if not self.has_change_permission(request):
            raise PermissionDenied
        model: LanguageModel | None = self.get_object(request, object_id)
        if model is None:
            raise Http404
        return model

    def get_changelist_instance(self, request: HttpRequest) -> ChangeList:
        """Look up the reasons of all listed models with fixed queries."""
        listed = super().get_changelist_instance(request)
        models: list[Any] = list(listed.result_list)
        availability = Availability(models)
        for model in models:
            model.listed_unavailable_reason = availability.unavailable_reason(model)
        listed.result_list = models
        return listed

    @admin.display(description=_("drawn now"))
    def drawn_now(self, model: Any) -> str:
        listed = getattr(model, "listed_unavailable_reason", None)
        return (model.unavailable_reason if listed is None else listed) or gettext("yes")
