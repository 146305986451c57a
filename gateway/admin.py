from django.conf import settings
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from battles.models import Battle
from common.admin.estimated_count import EstimatedCountAdmin
from common.admin.read_only import ReadOnlyAdmin
from gateway.models import Exchange

_Field = str | list[str] | tuple[str, ...] | tuple[()]


@admin.register(Exchange)
class ExchangeAdmin(EstimatedCountAdmin, ReadOnlyAdmin):
    """Exchanges; only administrators see the texts that an application's owner keeps."""

    list_display = [
        "created_at", "user", "asked_model", "answered_by", "fallbacks", "is_stream", "is_cached", "prompt_tokens",
        "completion_tokens", "cost", "finish_reason", "error",
    ]  # fmt: skip
    list_select_related = ["user", "call__model"]
    list_filter = ["created_at", "is_stream", "is_cached", ("error", admin.EmptyFieldListFilter)]
    search_fields = ["public_id", "user__email", "decision__public_id", "asked_model"]
    search_help_text = _("The id of an exchange or its decision, a member's e-mail address, or the model asked for.")
    fields = [
        "public_id", "created_at", "user", "token", "team", "asked_model", "answered_by", "decision", "call", "battle",
        "fallbacks", "is_stream", "is_cached", "prompt_tokens", "completion_tokens", "cost", "finish_reason", "error",
    ]  # fmt: skip
    readonly_fields = ["answered_by"]

    def get_fields(self, request: HttpRequest, obj: Exchange | None = None) -> list[_Field]:
        is_administrator = getattr(request.user, "is_administrator", False)
        is_readable = is_administrator and (obj is None or _is_readable(obj))
        return [*super().get_fields(request, obj), *(["texts"] if is_readable else [])]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Exchange]:
        # Staff votes blindly, too.
        hidden = Battle.objects.unrevealed_to(int(request.user.pk or 0))
        return Exchange.objects.exclude(battle__in=hidden).defer("texts")

    @admin.display(description=_("answered by"))
    def answered_by(self, exchange: Exchange) -> str:
        return str(exchange.call.model) if exchange.call else "–"


def _is_readable(exchange: Exchange) -> bool:
    """Return False for texts of teams."""
    return settings.ARENA_OPERATORS_READ_TEAMS or exchange.team_id is None
