from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
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
from battles.streaming.protocol import TurnToken
from battles.worker import model_tests
from common.valkey.connections import UNREACHABLE
from models_registry.admin.health import HealthAdmin
from models_registry.health.failure_messages import failure_message
from models_registry.models import LanguageModel

TEMPLATE = "admin/battles/model_test.html"


class ModelTestForm(forms.Form):
    prompt = forms.CharField(
        label=_("Prompt"), max_length=20_000, initial=_("Introduce yourself in two sentences."),
        widget=forms.Textarea(attrs={"rows": 4, "cols": 90}),
    )  # fmt: skip


class ModelTestAdmin(HealthAdmin):
    """Test page of a model. Needs the right to change the model, because tests cost money."""

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        return [
            path("<int:model_id>/test/", view(self.start_test), name="battles_test_model"),
            path("<int:model_id>/test/<str:test_id>/", view(self.show_test), name="battles_model_test"),
            *super().get_urls(),
        ]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        test_url = reverse("admin:battles_test_model", args=[object_id]) if object_id.isdecimal() else ""
        return super().change_view(request, object_id, form_url, {**(extra_context or {}), "test_url": test_url})

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
        audit.record(request.user, "test model", model)  # type: ignore[arg-type]
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
