from django import forms
from django.contrib import admin
from django.http import HttpRequest

from accounts.admin.audited import AuditedAdmin
from common.admin.single_row import SingleRowMixin
from leaderboard.counting.live_elo import choose_elo
from leaderboard.models import EloSettings


@admin.register(EloSettings)
class EloSettingsAdmin(SingleRowMixin, AuditedAdmin):
    fields = ["start", "k"]

    def save_model(
        self, request: HttpRequest, obj: EloSettings, form: "forms.ModelForm[EloSettings]", change: bool
    ) -> None:
        choose_elo(obj)

    def state_of(self, row: EloSettings) -> dict[str, object]:
        return {"start": row.start, "k": row.k}
