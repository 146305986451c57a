"""The page “What your servers send”."""

from dataclasses import dataclass

from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import BooleanField, Case, Q, QuerySet, Value, When
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext

from battles.admin.server_facts import Server, read_oddities, read_servers
from battles.worker.probes import PROMPT
from models_registry.admin.health import HealthAdmin
from models_registry.health.oddities import SeenOddity
from models_registry.health.setup_problems import Problem
from models_registry.models import Breaker, LanguageModel, RequestRepair
from models_registry.models.inquiries import inquiries_exist

PER_PAGE = 50


@dataclass(frozen=True)
class LinkedProblem:
    sentence: str
    field: str
    url: str


class ServersAdmin(HealthAdmin):
    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.show_servers)
        return [path("servers/", view, name="battles_servers"), *super().get_urls()]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        url = f"{reverse('admin:battles_servers')}?model={object_id}" if object_id.isdecimal() else ""
        return super().change_view(request, object_id, form_url, {**(extra_context or {}), "server_url": url})

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, object] | None = None) -> HttpResponse:
        context = {**(extra_context or {}), "servers_url": reverse("admin:battles_servers")}
        return super().changelist_view(request, context)

    def show_servers(self, request: HttpRequest) -> HttpResponse:
        """List models, those with something to see first; `model` shows one alone, `q` searches."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        seen = read_oddities()
        chosen, search = request.GET.get("model", ""), request.GET.get("q", "").strip()
        models = _models(seen, chosen, search)
        page = Paginator(models, PER_PAGE).get_page(request.GET.get("page"))
        servers = read_servers(list(page.object_list), seen)
        context = {
            **self.admin_site.each_context(request), "opts": self.opts, "page_obj": page, "q": search,
            "title": gettext("What your servers send"), "prompt": PROMPT, "chosen": chosen,
            "may_change": self.has_change_permission(request),
            "servers": [(server, [_linked(problem, server) for problem in server.problems]) for server in servers],
        }  # fmt: skip
        return TemplateResponse(request, "admin/battles/servers.html", context)


def _models(seen: list[SeenOddity], chosen: str, search: str) -> "QuerySet[LanguageModel]":
    models = LanguageModel.objects.select_related("provider").prefetch_related("prices")
    if chosen.isdecimal():
        return models.filter(pk=min(int(chosen), 2**63 - 1)).order_by("pk")
    for word in search.split():
        models = models.filter(
            Q(name__icontains=word) | Q(slug__icontains=word) | Q(provider__name__icontains=word)
        )  # fmt: skip
    known = {oddity.model_id for oddity in seen}
    if inquiries_exist():
        known |= set(RequestRepair.objects.in_force().values_list("model_id", flat=True))
    has_news = Q(pk__in=known) | Q(pk__in=Breaker.objects.open().values("model"))
    listed = models.exclude(status=LanguageModel.Status.RETIRED)
    first = Case(When(has_news, then=Value(False)), default=Value(True), output_field=BooleanField())
    return listed.annotate(is_quiet=first).order_by("is_quiet", "name", "pk")


def _linked(problem: Problem, server: Server) -> LinkedProblem:
    model = server.model
    of, _, name = problem.field.partition(".")
    if of == "test":
        url, label = reverse("admin:battles_test_model", args=[model.pk]), gettext("Test this model")
    elif of == "repair":
        listed = reverse("admin:models_registry_requestrepair_changelist")
        url, label = f"{listed}?model__id__exact={model.pk}", str(RequestRepair._meta.verbose_name_plural)
    elif name == "prices":
        url = f"{reverse('admin:models_registry_languagemodel_change', args=[model.pk])}#prices-group"
        label = gettext("prices")
    elif of == "provider":
        url = f"{reverse('admin:models_registry_provider_change', args=[model.provider_id])}#id_{name}"
        label = gettext("New key") if name == "key" else _label(type(model.provider), name)
    else:
        url = f"{reverse('admin:models_registry_languagemodel_change', args=[model.pk])}#id_{name}"
        label = _label(type(model), name)
    return LinkedProblem(problem.sentence, label, url)


def _label(rows: type, name: str) -> str:
    label: str = str(rows._meta.get_field(name).verbose_name)  # type: ignore[attr-defined]
    return label
