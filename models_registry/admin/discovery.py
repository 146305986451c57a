from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext, ngettext

from accounts import audit
from models_registry.catalogue import discovery
from models_registry.forms import PickForm
from models_registry.models import Catalogue, CatalogueChange, LanguageModel, Provider
from models_registry.providers.catalogue import CatalogueRefused


class DiscoverAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.discover)
        return [path("<int:provider_id>/discover/", view, name="models_registry_discover"), *super().get_urls()]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        provider: Provider | None = self.get_object(request, object_id)
        waiting = CatalogueChange.objects.waiting().filter(model__provider=provider).count() if provider else 0
        return super().change_view(request, object_id, form_url, {**(extra_context or {}), "proposals": waiting})

    def discover(self, request: HttpRequest, provider_id: int) -> HttpResponse:
        """Show the stored list. Only a POST requests it from the endpoint or registers models."""
        if not self.has_change_permission(request):
            raise PermissionDenied
        provider: Provider | None = self.get_object(request, str(provider_id))
        if provider is None:
            raise Http404
        if request.method == "POST" and "ask" in request.POST:
            return self._refresh(request, provider)
        catalogue = Catalogue.objects.filter(provider=provider).first() or Catalogue(provider=provider)
        form = PickForm(request.POST or None, offers=catalogue.offers)
        rows = discovery.offered_rows(provider, catalogue, request.GET.get("q", ""))
        ticked = set(request.POST.getlist("names"))
        if request.method == "GET" and "all" in request.GET:
            ticked = {row["offer"].upstream_name for row in rows}
        if form.is_valid():
            return self._add(request, provider, form)
        return TemplateResponse(
            request,
            "admin/models_registry/provider/discover.html",
            {
                **self.admin_site.each_context(request), "opts": self.opts, "original": provider, "form": form,
                "title": gettext("Models that “%(provider)s” serves") % {"provider": provider},
                "catalogue": catalogue, "rows": rows,
                "q": request.GET.get("q", ""), "ticked": ticked,
            },
            status=422 if form.errors else 200,
        )  # fmt: skip

    def _refresh(self, request: HttpRequest, provider: Provider) -> HttpResponse:
        try:
            catalogue = discovery.get_catalogue(provider, refresh=True)
        except CatalogueRefused as error:
            messages.error(request, str(error))
        else:
            n = len(catalogue.listed)
            sentence = ngettext("The provider serves %(n)d model.", "The provider serves %(n)d models.", n)
            messages.success(request, sentence % {"n": n})
        audit.record(request.user, "discover models", provider)  # type: ignore[arg-type]
        return redirect("admin:models_registry_discover", provider.pk)

    def _add(self, request: HttpRequest, provider: Provider, form: PickForm) -> HttpResponse:
        if not request.user.has_perm("models_registry.add_languagemodel"):
            raise PermissionDenied
        status = LanguageModel.Status(form.cleaned_data["status"])
        added = discovery.add_offered(provider, form.cleaned_data["names"], status=status, by=request.user)  # type: ignore[arg-type]
        sentence = ngettext(
            "%(n)d model was added. Test it and complete its entry here.",
            "%(n)d models were added. Test them and complete their entries here.",
            len(added),
        )
        messages.success(request, sentence % {"n": len(added)})
        if len(added) == 1:
            return redirect("admin:models_registry_languagemodel_change", added[0].pk)
        listed = reverse("admin:models_registry_languagemodel_changelist")
        return HttpResponseRedirect(f"{listed}?provider__id__exact={provider.pk}")
