from typing import ClassVar

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.functional import Promise

from common.errors import ArenaError
from common.payload_types import JsonObject


class TrialPageMixin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Page that shows what the rows do with the values of a form; nothing is stored."""

    change_list_template = "admin/trial_change_list.html"
    trial_form: ClassVar[type[forms.Form]]
    trial_template: ClassVar[str]
    trial_title: ClassVar[Promise]
    trial_link: ClassVar[Promise]

    def run_trial(self, data: JsonObject) -> object:
        """Return what the template shows as `trial`. Raises ArenaError."""
        raise NotImplementedError

    def get_urls(self) -> list[URLPattern]:
        name = f"{self.opts.app_label}_{self.opts.model_name}_try"
        return [path("try/", self.admin_site.admin_view(self.trial_view), name=name), *super().get_urls()]

    def trial_view(self, request: HttpRequest) -> HttpResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        form = self.trial_form(request.POST or None)
        trial = None
        if form.is_valid():
            try:
                trial = self.run_trial(form.cleaned_data)
            except ArenaError as refusal:
                form.add_error(None, refusal.detail)
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": self.trial_title,
            "form": form,
            "trial": trial,
        }
        return TemplateResponse(request, self.trial_template, context, status=422 if form.errors else 200)
