from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from accounts.admin.audited import AuditedAdmin
from leaderboard.boards.titles import board_title, board_titles
from leaderboard.models import AggregationRun, ListedBoard


def _boards() -> list[tuple[str, str]]:
    scopes = AggregationRun.objects.newest_of_each_board().values_list("scope", flat=True)
    return [(scope, f"{title} ({scope})") for scope, title in board_titles(scopes).items()]


class ListedBoardForm(forms.ModelForm):  # type: ignore[type-arg]
    scope = forms.ChoiceField(label=_("board"), choices=_boards)

    class Meta:
        model = ListedBoard
        fields = ["scope", "title", "position", "is_hidden"]


@admin.register(ListedBoard)
class ListedBoardAdmin(AuditedAdmin):
    form = ListedBoardForm
    list_display = ["scope", "title_now", "position", "is_hidden"]
    ordering = ["scope"]

    def get_readonly_fields(self, request: HttpRequest, obj: ListedBoard | None = None) -> list[str]:
        return ["scope"] if obj else []

    def state_of(self, row: ListedBoard) -> dict[str, object]:
        return {"title": row.title, "position": row.position, "is_hidden": row.is_hidden}

    @admin.display(description=_("title"))
    def title_now(self, row: ListedBoard) -> str:
        return row.title or board_title(row.scope)
