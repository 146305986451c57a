from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from kombu.exceptions import OperationalError

from accounts import audit
from accounts.actor import Actor
from accounts.open_streams import reader_fields
from battles import tasks
from battles.editing.forms import ModelTestForm
from battles.streaming.protocol import TurnToken
from battles.worker import model_tests
from common.payload_types import JsonObject
from common.valkey.connections import UNREACHABLE
from models_registry.admin.health import HealthAdmin
from models_registry.health.failure_messages import failure_message
from models_registry.models import LanguageModel
from models_registry.picking import setup_gap

TEMPLATE = "admin/battles/model_test.html"
TABLE_TEMPLATE = "admin/battles/model_tests.html"
# Action of the audit log.
TESTED = "test model"


class ModelChoices(forms.ModelMultipleChoiceField):  # type: ignore[type-arg]
    def label_from_instance(self, model: LanguageModel) -> str:
        gap = setup_gap(model)
        return f"{model} – {gap}" if gap else str(model)


class ModelTestsForm(ModelTestForm):
    models = ModelChoices(
        LanguageModel.objects.none(), label=_("Models"), widget=forms.CheckboxSelectMultiple,
        error_messages={"required": _("Tick at least one model.")},
    )  # fmt: skip

    def __init__(self, *args: object, models: QuerySet[LanguageModel], **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self.fields["models"].queryset = models  # type: ignore[attr-defined]


class ModelTestAdmin(HealthAdmin):
    """Test page of a model. Needs the right to change the model, because tests cost money."""

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        return [
            path("tests/", view(self.start_tests), name="battles_test_models"),
            path("tests/<str:together>/", view(self.show_tests), name="battles_model_tests"),
            path("<int:model_id>/test/", view(self.start_test), name="battles_test_model"),
            path("<int:model_id>/test/<str:test_id>/", view(self.show_test), name="battles_model_test"),
            *super().get_urls(),
        ]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        test_url = reverse("admin:battles_test_model", args=[object_id]) if object_id.isdecimal() else ""
        return super().change_view(request, object_id, form_url, {**(extra_context or {}), "test_url": test_url})

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, object] | None = None) -> HttpResponse:
        tests_url = reverse("admin:battles_test_models") if self.has_change_permission(request) else ""
        return super().changelist_view(request, {**(extra_context or {}), "tests_url": tests_url})

    @admin.action(description=_("Test: send each a prompt …"), permissions=["change"])
    def test(self, request: HttpRequest, queryset: QuerySet[LanguageModel]) -> HttpResponse:
        ids = ",".join(str(model.pk) for model in queryset)
        return HttpResponseRedirect(f"{reverse('admin:battles_test_models')}?tick={ids}")

    def start_tests(self, request: HttpRequest) -> HttpResponse:
        """Show the models; `tick` names those to be ticked, by default all whose provider is set up."""
        if not self.has_change_permission(request):
            raise PermissionDenied
        models = LanguageModel.objects.exclude(status=LanguageModel.Status.RETIRED).select_related("provider")
        models, initial = models.order_by("name", "pk"), {"models": _ticked(request, models)}
        form = ModelTestsForm(request.POST or None, models=models, initial=initial)
        if not form.is_valid():
            return self._table(request, form, status=422 if form.errors else 200)
        tested = list(form.cleaned_data["models"])
        try:
            together, test_ids = model_tests.store_requests(tested, form.cleaned_data["prompt"])
            for test_id in test_ids:
                tasks.wake_model_test(test_id, expires_s=model_tests.RESULT_TTL_S)
        except (OperationalError, *UNREACHABLE):
            messages.error(request, gettext("The queue is temporarily unavailable. Try again."))
            return self._table(request, form, status=503)
        for model in tested:
            audit.record(request.user, TESTED, model)  # type: ignore[arg-type]
        return redirect("admin:battles_model_tests", together)

    def show_tests(self, request: HttpRequest, together: str) -> HttpResponse:
        if not self.has_change_permission(request):
            raise PermissionDenied
        try:
            tests = model_tests.read_all(together)
        except UNREACHABLE:
            messages.error(request, gettext("The queue is temporarily unavailable. Try again."))
            return redirect("admin:battles_test_models")
        models = LanguageModel.objects.in_bulk([test.model_id for test in tests.values()])
        rows: list[JsonObject] = [
            {"test": test, "test_id": test_id, "model": models[test.model_id], "failure": failure_message(test.error)}
            for test_id, test in tests.items()
            if test.model_id in models
        ]
        inactive = [LanguageModel.Status.DRAFT, LanguageModel.Status.PAUSED]
        ready = [
            row["model"] for row in rows if row["test"].text and not row["failure"] and row["model"].status in inactive
        ]
        over = sum(test.is_over for test in tests.values())
        return self._table(request, None, rows=rows, over=over, is_over=over == len(tests), ready=ready)

    def _table(
        self, request: HttpRequest, form: ModelTestsForm | None, *, status: int = 200, **more: object
    ) -> HttpResponse:
        context = {
            **self.admin_site.each_context(request), "opts": self.opts, "form": form,
            "title": gettext("Test several models"), **more,
        }  # fmt: skip
        return TemplateResponse(request, TABLE_TEMPLATE, context, status=status)

    def start_test(self, request: HttpRequest, model_id: int) -> HttpResponse:
        model = self._changeable(request, str(model_id))
        form = ModelTestForm(request.POST or None)
        if not form.is_valid():
            return self._page(request, model, form, status=422 if form.errors else 200)
        try:
            test_id = model_tests.store_request(model, form.cleaned_data["prompt"])
            tasks.wake_model_test(test_id)
        except (OperationalError, *UNREACHABLE):
            messages.error(request, gettext("The queue is temporarily unavailable. Try again."))
            return self._page(request, model, form, status=503)
        audit.record(request.user, TESTED, model)  # type: ignore[arg-type]
        return redirect("admin:battles_model_test", model.pk, test_id)

    def show_test(self, request: HttpRequest, model_id: int, test_id: str) -> HttpResponse:
        model = self._changeable(request, str(model_id))
        try:
            test = model_tests.read(test_id)
        except UNREACHABLE:
            messages.error(request, gettext("The queue is temporarily unavailable. Try again."))
            return self._page(request, model, ModelTestForm(), status=503)
        stream = ""
        if test is not None and not test.is_over:
            owner = Actor(user=request.user).key  # type: ignore[arg-type]
            token = TurnToken(test_id, 0, "test", sides=model_tests.SIDES, **reader_fields(owner))
            stream = reverse("battles:stream", args=[token.signed()])
        failure = failure_message(test.error) if test is not None else ""
        form = ModelTestForm(initial={"prompt": test.prompt} if test is not None else None)
        return self._page(request, model, form, test=test, is_lost=test is None, stream=stream, failure=failure)

    def _page(
        self, request: HttpRequest, model: LanguageModel, form: ModelTestForm, *, status: int = 200, **more: Any
    ) -> HttpResponse:
        context = {
            **self.admin_site.each_context(request), "opts": self.opts, "original": model, "form": form,
            "title": gettext("Test “%(model)s”") % {"model": model},
            "unavailable_reason": model.unavailable_reason, **more,
        }  # fmt: skip
        return TemplateResponse(request, TEMPLATE, context, status=status)


def _ticked(request: HttpRequest, models: QuerySet[LanguageModel]) -> list[int]:
    chosen = request.GET.get("tick")
    if chosen is None:
        return [model.pk for model in models if not model.provider.setup_problem]
    return [model.pk for model in models if chosen == "all" or str(model.pk) in chosen.split(",")]
