from datetime import datetime
from itertools import chain
from typing import Any

from django.contrib import admin, messages
from django.db.models import OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.forms import BaseModelFormSet, ModelForm
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.html import format_html
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts import audit
from models_registry import versions
from models_registry.admin.base import OwnedAdmin
from models_registry.admin.health import HealthAdmin, set_status
from models_registry.admin.spending import ChargeAdmin
from models_registry.forms import OWN_FIELDS, LanguageModelForm
from models_registry.models import CatalogueChange, Charge, LanguageModel, Price
from models_registry.payloads import model_icon_url
from models_registry.profiles import profile_of

admin.site.register(Charge, ChargeAdmin)


class PriceInline(admin.TabularInline):  # type: ignore[type-arg]
    """Prices are added, never changed, so that costs of past calls stay true."""

    model = Price
    extra = 1
    fields = ["input_per_million", "output_per_million", "since"]
    readonly_fields = ["since"]
    verbose_name_plural = _("prices, US dollars per million tokens (the newest is in force)")

    @admin.display(description=_("since"))
    def since(self, price: Price) -> datetime | str:
        return "" if price._state.adding else price.valid_from

    def has_change_permission(self, request: HttpRequest, obj: LanguageModel | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: LanguageModel | None = None) -> bool:
        return False


@admin.register(LanguageModel)
class LanguageModelAdmin(HealthAdmin, OwnedAdmin):
    form = LanguageModelForm
    inlines = [PriceInline]
    list_display = ["name", "provider", "status", "drawn_now", "weight", "version_label", "has_votes"]
    list_select_related = ["provider__team", "team"]
    search_fields = ["name", "slug", "upstream_name", "organization", "aliases"]
    list_filter = ["status", "has_votes", "license_kind", "provider"]
    readonly_fields = ["drawn_now", "version_label", "has_votes", "retired_at", "unsent_parameters", "icon_now"]
    actions = ["activate", "pause", "retire"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[LanguageModel]:
        owners = LanguageModel.of_every_owner.alias(owner=Coalesce("team", 0))
        of_owner = owners.filter(family=OuterRef("family"), owner=Coalesce(OuterRef("team"), 0))
        family = of_owner.order_by("-version")
        queryset: QuerySet[LanguageModel] = super().get_queryset(request)
        return queryset.annotate(newest_version=Subquery(family.values("version")[:1])).prefetch_related("prices")

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, object] | None = None) -> HttpResponse:
        proposals = CatalogueChange.objects.of_site().waiting().count()
        return super().changelist_view(request, {**(extra_context or {}), "proposals": proposals})

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        description = _("The model's name and the request sent to it. Votes refer to these values.")
        if obj is not None and obj.has_votes:
            description = _("This model has votes, so a change needs a new version with its own rating.")
        if obj is not None and obj.version < obj.newest_version:
            description = _("A newer version exists. This one cannot be changed.")
        state = ["drawn_now", "version_label", "has_votes", "retired_at"] if obj is not None else []
        is_fixed = obj is not None and obj.has_votes and obj.version == obj.newest_version
        new_version = ["make_version"] if is_fixed else []
        not_sent = ["unsent_parameters"] if obj is not None and obj.unsent_parameters else []
        icon, remove_icon = (["icon_now"], ["remove_icon"]) if obj is not None and profile_of(obj.pk).icon else ([], [])
        return [
            (None, {"fields": ["name", "slug", "status", "weight", "calls_at_once", *state]}),
            (
                _("What it says"),
                {
                    "description": description,
                    "fields": [
                        "provider", "upstream_name", "system_prompt", "parameters", "hides_setup", *not_sent,
                        *new_version,
                    ],
                },
            ),
            (
                _("About it"),
                {
                    "fields": [
                        "organization", "license", "license_kind", "size_b", "active_b", "energy_name",
                        "context_length", "abilities", "aliases", *icon, "icon_file", *remove_icon,
                    ]
                },
            ),
        ]  # fmt: skip

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        fixed = list(self.readonly_fields)
        if obj is not None:
            fixed.append("slug")
            if obj.version < obj.newest_version:
                fixed += ["provider", "upstream_name", "system_prompt", "parameters"]
        return fixed

    def has_delete_permission(self, request: HttpRequest, obj: LanguageModel | None = None) -> bool:
        has_votes = obj is not None and obj.has_votes
        return not has_votes and super().has_delete_permission(request, obj)

    def save_model(self, request: HttpRequest, obj: LanguageModel, form: LanguageModelForm, change: bool) -> None:
        if change:
            names = set(form.changed_data) - OWN_FIELDS
            fields = {"provider_id" if name == "provider" else name for name in names}
            saved = versions.revise(obj.pk, {name: getattr(obj, name) for name in fields})
            if saved.pk != obj.pk:
                sentence = gettext("The model has votes, so this is a new version: “%(model)s”.")
                messages.warning(request, sentence % {"model": saved})
            obj.pk = saved.pk  # inline prices, history and messages refer to the saved row
            obj.refresh_from_db()
        else:
            super().save_model(request, obj, form, change)
        form.save_profile(obj)

    def save_related(
        self,
        request: HttpRequest,
        form: "ModelForm[LanguageModel]",
        formsets: "list[BaseModelFormSet[Price, ModelForm[Price]]]",
        change: bool,
    ) -> None:
        super().save_related(request, form, formsets, change)
        for price in chain.from_iterable(formset.new_objects for formset in formsets):
            audit.record(request.user, "add price", price.model, price=str(price))  # type: ignore[arg-type]

    def response_change(self, request: HttpRequest, obj: LanguageModel) -> HttpResponse:
        if "_continue" in request.POST:  # the page of the saved row, which may be a new version
            return HttpResponseRedirect(f"../../{obj.pk}/change/")
        return super().response_change(request, obj)

    @admin.display(description=_("not sent, because this kind of provider does not take it"))
    def unsent_parameters(self, model: LanguageModel) -> str:
        return ", ".join(model.unsent_parameters)

    @admin.display(description=_("icon"))
    def icon_now(self, model: LanguageModel) -> str:
        return format_html('<img src="{}" width="48" height="48" alt="">', model_icon_url(model.pk))

    @admin.display(description=_("version"), ordering="version")
    def version_label(self, model: Any) -> str:
        return gettext("%(this)d of %(newest)d") % {"this": model.version, "newest": model.newest_version}

    @admin.action(description=_("Activate: allow them in battles"), permissions=["change"])
    def activate(self, request: HttpRequest, queryset: QuerySet[LanguageModel]) -> None:
        set_status(request, queryset, LanguageModel.Status.ACTIVE)

    @admin.action(description=_("Pause: exclude them from battles until activated again"), permissions=["change"])
    def pause(self, request: HttpRequest, queryset: QuerySet[LanguageModel]) -> None:
        set_status(request, queryset, LanguageModel.Status.PAUSED)

    @admin.action(description=_("Retire: exclude them from battles; votes and standing stay"), permissions=["change"])
    def retire(self, request: HttpRequest, queryset: QuerySet[LanguageModel]) -> None:
        set_status(request, queryset, LanguageModel.Status.RETIRED)
