"""The window onto the registry for administrators."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import PROTECT, Count, ForeignObjectRel, OuterRef, QuerySet, Subquery
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.decorators import method_decorator
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.debug import sensitive_post_parameters

from accounts import audit
from models_registry import versions
from models_registry.forms import LanguageModelForm, ProviderForm
from models_registry.health_admin import HealthAdmin, set_status
from models_registry.ledger import spent_by_provider_today
from models_registry.models import Charge, LanguageModel, Price, Provider
from models_registry.spending_admin import ChargeAdmin

admin.site.register(Charge, ChargeAdmin)


class RegistryAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Every change is written down; what battles or models lean on is not deleted."""

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        actions = super().get_actions(request)
        actions.pop("delete_selected", None)  # it would first list every battle the rows took part in
        return actions

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        row = self.get_object(request, object_id)
        if row is not None and _is_leaned_on(row):
            sentence = gettext("“%(row)s” is in use and cannot be deleted. Pause or retire it instead.")
            messages.error(request, sentence % {"row": row})
            return HttpResponseRedirect("../change/")
        return super().delete_view(request, object_id, extra_context)

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        audit.record(request.user, f"delete {self.opts.verbose_name}", obj)  # type: ignore[arg-type]
        super().delete_model(request, obj)

    def write_down(self, request: HttpRequest, form: "ModelForm[Any]", row: Any, *, change: bool) -> None:
        """An audit entry with the fields' old and new values; a key is only said to have been entered or removed."""
        action = f"{'change' if change else 'add'} {self.opts.verbose_name}"
        changed = {
            name: [str(form.initial.get(name, "")), str(form.cleaned_data[name])]
            for name in form.changed_data
            if name not in ("key", "remove_key") and form.initial.get(name) != form.cleaned_data[name]
        }
        if "key" in form.changed_data:
            changed["key"] = ["", f"entered ({row.key_fingerprint})"]
        elif "remove_key" in form.changed_data:
            changed["key"] = ["", "removed"]
        audit.record(request.user, action, row, changed=changed)  # type: ignore[arg-type]


def _is_leaned_on(row: Provider | LanguageModel) -> bool:
    """Whether the database would refuse to delete `row` (a foreign key with PROTECT points at it)."""
    return any(
        relation.related_model._base_manager.filter(**{relation.field.name: row}).exists()
        for relation in row._meta.get_fields(include_hidden=True)
        if isinstance(relation, ForeignObjectRel) and relation.on_delete is PROTECT
    )


@admin.register(Provider)
class ProviderAdmin(RegistryAdmin):
    form = ProviderForm
    list_display = ["name", "base_url", "which_kind", "key_state", "can_be_called", "spent_today", "model_count"]
    search_fields = ["name", "base_url", "api_key_env"]
    list_filter = ["kind", "needs_key"]
    readonly_fields = ["key_state", "can_be_called", "probed_at"]
    fieldsets = [
        (None, {"fields": ["name", "base_url", "kind", "can_be_called"]}),
        (_("Key"), {"fields": ["needs_key", "key_state", "key", "remove_key", "api_key_env"]}),
        (
            _("Patience"),
            {
                "classes": ["collapse"],
                "fields": ["connect_s", "first_s", "idle_s", "total_s", "finish_reason_required", "probed_at"],
            },
        ),
        (_("Limits"), {"fields": ["calls_at_once", "daily_budget"]}),
    ]

    @method_decorator(sensitive_post_parameters("key"))
    def changeform_view(self, *args: Any, **kwargs: Any) -> HttpResponse:
        return super().changeform_view(*args, **kwargs)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Provider]:
        queryset: QuerySet[Provider] = super().get_queryset(request)
        return queryset.annotate(models_served=Count("models"), spent=spent_by_provider_today())

    def save_model(self, request: HttpRequest, obj: Provider, form: "ModelForm[Any]", change: bool) -> None:
        super().save_model(request, obj, form, change)
        self.write_down(request, form, obj, change=change)

    @admin.display(description=_("kind"))
    def which_kind(self, provider: Provider) -> str:
        return str(provider.known_kind.label)

    @admin.display(description=_("key"))
    def key_state(self, provider: Provider) -> str | None:
        if provider._state.adding:
            return None
        if provider.key_encrypted:
            shown = f"…{provider.key_last_four}" if provider.key_last_four else gettext("stored")
            return f"{shown} ({provider.key_fingerprint})"
        if provider.api_key_env:
            sentence = gettext("%(name)s is set") if provider.has_key else gettext("%(name)s is not set")
            return sentence % {"name": provider.api_key_env}
        return gettext("missing") if provider.needs_key else gettext("not needed")

    @admin.display(description=_("can be called now"))
    def can_be_called(self, provider: Provider) -> str | None:
        return None if provider._state.adding else provider.obstacle or gettext("yes")

    @admin.display(description=_("spent today"), ordering="spent")
    def spent_today(self, provider: Any) -> str:
        spent = f"${provider.spent or 0:f}"
        return spent if provider.daily_budget is None else f"{spent} / ${provider.daily_budget.normalize():f}"

    @admin.display(description=_("models"), ordering="models_served")
    def model_count(self, provider: Any) -> int:
        return int(provider.models_served)


class PriceInline(admin.TabularInline):  # type: ignore[type-arg]
    """Prices are added, never changed: what an answer cost stays true."""

    model = Price
    extra = 0
    fields = ["input_per_million", "output_per_million", "valid_from"]
    readonly_fields = ["valid_from"]
    verbose_name_plural = _("prices, US dollars per million tokens (the newest is in force)")

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(LanguageModel)
class LanguageModelAdmin(HealthAdmin, RegistryAdmin):
    form = LanguageModelForm
    inlines = [PriceInline]
    list_display = ["name", "provider", "status", "drawn_now", "weight", "which_version", "has_votes"]
    list_select_related = ["provider"]
    search_fields = ["name", "slug", "upstream_name", "organization", "aliases"]
    list_filter = ["status", "has_votes", "license_kind", "provider"]
    readonly_fields = ["drawn_now", "which_version", "has_votes", "retired_at", "left_out"]
    actions = ["activate", "pause", "retire"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[LanguageModel]:
        family = LanguageModel.objects.filter(family=OuterRef("family")).order_by("-version")
        queryset: QuerySet[LanguageModel] = super().get_queryset(request)
        return queryset.annotate(newest_version=Subquery(family.values("version")[:1])).prefetch_related("prices")

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        said = _("What it is called and what is sent to it. This is what people vote on.")
        if obj is not None and obj.has_votes:
            said = _(
                "This model has votes. Saving a change here makes a new version with a rating of its own, and "
                "retires this one."
            )
        if obj is not None and obj.version < obj.newest_version:
            said = _("A newer version exists: what this one says stays as it was.")
        state = ["drawn_now", "which_version", "has_votes", "retired_at"] if obj is not None else []
        not_sent = ["left_out"] if obj is not None and obj.parameters_left_out else []
        return [
            (None, {"fields": ["name", "slug", "status", "weight", "calls_at_once", *state]}),
            (
                _("What it says"),
                {
                    "description": said,
                    "fields": ["provider", "upstream_name", "system_prompt", "parameters", *not_sent],
                },
            ),
            (
                _("About it"),
                {
                    "fields": [
                        "organization", "license", "license_kind", "size_b", "context_length", "abilities", "aliases",
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

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        has_votes = obj is not None and obj.has_votes
        return not has_votes and super().has_delete_permission(request, obj)

    def save_model(self, request: HttpRequest, obj: LanguageModel, form: "ModelForm[Any]", change: bool) -> None:
        if change:
            fields = {"provider_id" if name == "provider" else name for name in form.changed_data}
            saved = versions.revise(obj.pk, {name: getattr(obj, name) for name in fields})
            if saved.pk != obj.pk:
                sentence = gettext("The model has votes, so this is a new version: “%(model)s”.")
                messages.warning(request, sentence % {"model": saved})
            obj.pk = saved.pk  # the prices below, the history and the messages are about the row that was saved
            obj.refresh_from_db()
        else:
            super().save_model(request, obj, form, change)
        self.write_down(request, form, obj, change=change)

    def save_formset(self, request: HttpRequest, form: "ModelForm[Any]", formset: Any, change: bool) -> None:
        super().save_formset(request, form, formset, change)
        for price in formset.new_objects:
            audit.record(request.user, "add price", price.model, price=str(price))  # type: ignore[arg-type]

    def response_change(self, request: HttpRequest, obj: LanguageModel) -> HttpResponse:
        if "_continue" in request.POST:  # its own page, which a new version has not been on
            return HttpResponseRedirect(f"../../{obj.pk}/change/")
        return super().response_change(request, obj)

    @admin.display(description=_("not sent, because this kind of provider does not take it"))
    def left_out(self, model: LanguageModel) -> str:
        return ", ".join(model.parameters_left_out)

    @admin.display(description=_("version"), ordering="version")
    def which_version(self, model: Any) -> str:
        return gettext("%(this)d of %(newest)d") % {"this": model.version, "newest": model.newest_version}

    @admin.action(description=_("Activate: battles may draw them"), permissions=["change"])
    def activate(self, request: HttpRequest, queryset: QuerySet[LanguageModel]) -> None:
        set_status(request, queryset, LanguageModel.Status.ACTIVE)

    @admin.action(description=_("Pause: not drawn until activated again"), permissions=["change"])
    def pause(self, request: HttpRequest, queryset: QuerySet[LanguageModel]) -> None:
        set_status(request, queryset, LanguageModel.Status.PAUSED)

    @admin.action(description=_("Retire: not drawn any more, votes and standing stay"), permissions=["change"])
    def retire(self, request: HttpRequest, queryset: QuerySet[LanguageModel]) -> None:
        set_status(request, queryset, LanguageModel.Status.RETIRED)
