"""A window onto what happens in the arena. Nothing here can be changed: votes are facts, calls are a log."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from accounts.admin import ReadOnlyAdmin
from battles.models import Answer, Battle, Call, Session, Side, Turn, Vote


class ReadOnlyInline(admin.TabularInline):  # type: ignore[type-arg]
    extra = 0
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class SideInline(ReadOnlyInline):
    model = Side
    fields = ["position", "model", "redrawn"]


class TurnInline(ReadOnlyInline):
    model = Turn
    fields = ["index", "prompt", "state", "attempt", "after_vote", "created_at", "finished_at"]
    ordering = ["index"]


@admin.register(Session)
class SessionAdmin(ReadOnlyAdmin):
    list_display = ["public_id", "title", "owner_user", "archived", "created_at", "last_active_at"]
    list_select_related = ["owner_user"]
    search_fields = ["public_id", "title", "owner_user__email"]
    date_hierarchy = "created_at"


@admin.register(Battle)
class BattleAdmin(ReadOnlyAdmin):
    list_display = ["public_id", "session", "mode", "created_at", "voided_at"]
    list_select_related = ["session"]
    list_filter = ["mode", ("voided_at", admin.EmptyFieldListFilter)]
    search_fields = ["public_id", "session__public_id", "session__title"]
    date_hierarchy = "created_at"
    inlines = [SideInline, TurnInline]


@admin.register(Answer)
class AnswerAdmin(ReadOnlyAdmin):
    list_display = ["public_id", "state", "error", "side", "turn"]
    list_select_related = ["side__battle", "turn__battle"]
    list_filter = ["state", "error"]
    search_fields = ["public_id", "turn__battle__public_id"]


@admin.register(Call)
class CallAdmin(ReadOnlyAdmin):
    list_display = [
        "started_at", "model", "state", "error", "finish_reason", "first_token_ms", "total_ms",
        "prompt_tokens", "completion_tokens", "reasoning_tokens", "cost", "attempt",
    ]  # fmt: skip
    list_select_related = ["model"]
    list_filter = ["state", "error", "finish_reason", "model"]
    search_fields = ["answer__public_id", "answer__turn__battle__public_id", "provider_request_id"]
    date_hierarchy = "started_at"


@admin.register(Vote)
class VoteAdmin(ReadOnlyAdmin):
    list_display = ["order", "choice", "model_left", "model_right", "processing", "excluded_reason", "created_at"]
    list_select_related = ["model_left", "model_right"]
    list_filter = ["choice", "processing", "excluded_reason"]
    search_fields = ["battle__public_id", "voter"]
    date_hierarchy = "created_at"
