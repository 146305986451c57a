from datetime import datetime, timedelta

from django import forms
from django.contrib import admin
from django.contrib.admin.widgets import AdminSplitDateTime
from django.db import models
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts import audit
from common.admin.read_only import ReadOnlyAdmin
from common.admin.single_row import SingleRowMixin
from common.errors import ArenaError
from leaderboard.models import DataPolicy, DataRelease
from leaderboard.releases.planning import plan_release
from models_registry.admin.base import RegistryAdmin


@admin.register(DataPolicy)
class DataPolicyAdmin(SingleRowMixin, RegistryAdmin):
    list_display = ("__str__", "licence_url", "release_every_days", "embargo_days")
    fields = ("licence", "licence_url", "release_every_days", "embargo_days")
    formfield_overrides = {models.URLField: {"assume_scheme": "https"}}


def _end_of_embargo() -> datetime | None:
    days = DataPolicy.current().embargo_days
    return timezone.now() + timedelta(days=days) if days else None


class ReleaseForm(forms.ModelForm):  # type: ignore[type-arg]
    """Plans a release of today."""

    embargo_until = forms.SplitDateTimeField(
        label=_("Embargo until"),
        required=False,
        initial=_end_of_embargo,
        widget=AdminSplitDateTime,
        help_text=_("Empty: publish at once."),
    )

    class Meta:
        model = DataRelease
        fields = ("embargo_until",)

    def clean(self) -> None:
        if self.errors:
            return
        try:
            self.instance = plan_release(embargo_until=self.cleaned_data.get("embargo_until"))
        except ArenaError as error:
            raise forms.ValidationError(error.detail, code=error.code) from error

    def _post_clean(self) -> None:
        """Skip the model's validation: the action has stored the row."""


@admin.register(DataRelease)
class DataReleaseAdmin(ReadOnlyAdmin):
    list_display = ("day", "state", "run", "embargo_until", "published_at", "licence")
    list_select_related = ("run",)
    form = ReleaseForm

    def has_add_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("leaderboard.add_datarelease")

    def save_model(
        self, request: HttpRequest, obj: DataRelease, form: "forms.ModelForm[DataRelease]", change: bool
    ) -> None:
        audit.record(request.user, "plan data release", obj, embargo_until=str(obj.embargo_until))  # type: ignore[arg-type]
