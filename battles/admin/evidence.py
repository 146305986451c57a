"""Read-only pages of sessions, battles, answers and votes."""

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.db.models import Exists, Model, OuterRef, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _

from battles.admin.call_statistics import CallStatistics, get_call_statistics
from battles.admin.interactions import FailureFilter
from battles.admin.model_tests import ModelTestAdmin
from battles.admin.servers import ServersAdmin
from battles.admin.sides import ChoiceFilter, choice_column, model_column, side_column
from battles.models import Answer, Attachment, Battle, Report, Session, Side, Turn, Vote
from common.admin.estimated_count import EstimatedCountAdmin
from common.admin.of_site import OfSiteForModerators
from common.admin.read_only import ReadOnlyAdmin
from models_registry.admin.models import LanguageModelAdmin
from models_registry.models import LanguageModel
from uploads.admin import UploadAdmin
from uploads.models import Upload


def _pk(request: HttpRequest) -> int:
    return request.user.pk or 0


class ReadOnlyInline(admin.TabularInline):  # type: ignore[type-arg]
    extra = 0
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class SideInline(ReadOnlyInline):
    model = Side
    fields = readonly_fields = [side_column("position"), "model", "redrawn"]  # type: ignore[assignment, list-item]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Side]:
        return Side.objects.exclude(battle__in=Battle.objects.unrevealed_to(_pk(request)))


class TurnInline(ReadOnlyInline):
    model = Turn
    fields = ["index", "prompt", "state", "attempt", "after_vote", "created_at", "finished_at"]
    ordering = ["index"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Turn]:
        """Leave out prompts of teams."""
        return Turn.objects.filter(battle__session__in=Session.objects.readable_by_staff())


@admin.register(Session)
class SessionAdmin(OfSiteForModerators, EstimatedCountAdmin, ReadOnlyAdmin):
    of_site = Q(team=None) | Q(Exists(Report.objects.filter(case__battle__session=OuterRef("pk"))))
    list_display = ["public_id", "shown_title", "owner_user", "archived", "created_at", "last_active_at"]
    list_select_related = ["owner_user"]
    readonly_fields = ["shown_title"]
    list_filter = ["last_active_at"]
    search_fields = ["public_id", "battles__public_id", "owner_user__email"]
    search_help_text = _("The address of a session or of one of its battles, or a member's e-mail address.")

    def get_fields(self, request: HttpRequest, obj: Session | None = None) -> Sequence[object]:  # type: ignore[override]
        names = [name for name in super().get_fields(request, obj) if name not in ("title", "shown_title")]
        return ["shown_title", *names]

    @admin.display(description=_("title"), ordering="title")
    def shown_title(self, session: Session) -> str:
        return session.title if session.is_readable_by_staff else "–"


@admin.register(Battle)
class BattleAdmin(OfSiteForModerators, EstimatedCountAdmin, ReadOnlyAdmin):
    of_site = Q(session__team=None) | Q(Exists(Report.objects.filter(case__battle=OuterRef("pk"))))
    list_display = ["public_id", "session", "mode", "created_at", "voided_at"]
    list_select_related = ["session"]
    list_filter = ["created_at", "mode", ("voided_at", admin.EmptyFieldListFilter)]
    search_fields = ["public_id", "session__public_id", "session__owner_user__email"]
    search_help_text = _("The address of a battle or its session, or a member's e-mail address.")
    inlines = [SideInline, TurnInline]


@admin.register(Answer)
class AnswerAdmin(EstimatedCountAdmin, ReadOnlyAdmin):
    list_display = ["public_id", "state", "error", "side", "turn"]
    list_select_related = ["side__battle", "turn__battle"]
    list_filter = ["state", FailureFilter]
    search_fields = ["public_id", "turn__battle__public_id"]
    search_help_text = _("The address of an answer or its battle.")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Answer]:
        readable = Answer.objects.filter(turn__battle__session__in=Session.objects.readable_by_staff())
        return readable.exclude(turn__battle__in=Battle.objects.unrevealed_to(_pk(request)))


@admin.register(Vote)
class VoteAdmin(EstimatedCountAdmin, ReadOnlyAdmin):
    sides = {
        "choice": choice_column("choice"),
        "model_left": model_column("A", "model_left"),
        "model_right": model_column("B", "model_right"),
    }
    list_display = ["order", *sides.values(), "voter", "excluded_reason", "created_at"]
    list_select_related = ["model_left", "model_right"]
    list_filter = ["created_at", ("choice", ChoiceFilter), "excluded_reason"]
    readonly_fields = [*sides.values(), "shown_comment"]  # type: ignore[list-item]
    search_fields = ["battle__public_id", "voter", "order"]
    search_help_text = _("The address of a battle, a voter or the number of a vote, as they are written in the list.")

    def get_fields(self, request: HttpRequest, obj: Vote | None = None) -> Sequence[object]:  # type: ignore[override]
        shown = {**self.sides, "comment": "shown_comment"}
        names = [name for name in super().get_fields(request, obj) if isinstance(name, str)]
        return [shown.get(name, name) for name in names if name != "shown_comment"]

    @admin.display(description=_("comment"))
    def shown_comment(self, vote: Vote) -> str:
        is_readable = vote.battle is None or vote.battle.session.is_readable_by_staff
        return vote.comment if is_readable and vote.comment else "–"


admin.site.unregister([LanguageModel, Upload])


@admin.register(Upload)
class UsedUploadAdmin(UploadAdmin):
    def get_queryset(self, request: HttpRequest) -> QuerySet[Upload]:
        """Leave out files of teams: their names are texts, too."""
        hidden = Turn.objects.exclude(battle__session__in=Session.objects.readable_by_staff())
        attached = Attachment.objects.filter(upload=OuterRef("pk"), turn__in=hidden)
        uploads: QuerySet[Upload] = super().get_queryset(request)
        return uploads if settings.ARENA_OPERATORS_READ_TEAMS else uploads.filter(team=None).exclude(Exists(attached))


@admin.register(LanguageModel)
class ObservedModelAdmin(ServersAdmin, ModelTestAdmin, LanguageModelAdmin):
    """The registry's page with call statistics and model tests."""

    list_display = [*LanguageModelAdmin.list_display, "calls_today", "error_rate", "first_token"]
    actions = ["test", *LanguageModelAdmin.actions]

    def get_changelist_instance(self, request: HttpRequest) -> ChangeList:
        listed = super().get_changelist_instance(request)
        statistics = get_call_statistics(model.pk for model in listed.result_list)
        for model in listed.result_list:
            model.statistics = statistics.get(model.pk, CallStatistics())
        return listed

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        model = self.get_object(request, object_id)
        statistics = get_call_statistics([model.pk]).get(model.pk, CallStatistics()) if model is not None else None
        return super().change_view(request, object_id, form_url, {**(extra_context or {}), "statistics": statistics})

    @admin.display(description=_("calls, 24 h"))
    def calls_today(self, model: Any) -> int:
        return int(model.statistics.calls)

    @admin.display(description=_("errors"))
    def error_rate(self, model: Any) -> str:
        return str(model.statistics.error_rate)

    @admin.display(description=_("first token, ms: median, 95 %"))
    def first_token(self, model: Any) -> str:
        if model.statistics.first_p50 is None:
            return "–"
        return f"{model.statistics.first_p50:.0f}, {model.statistics.first_p95:.0f}"
