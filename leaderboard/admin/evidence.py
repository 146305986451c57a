from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html_join
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from battles.admin.sides import ChoiceFilter, choice_column, model_column
from battles.side_words import choice_label
from common.admin.of_site import OfSiteForModerators
from common.admin.read_only import ReadOnlyAdmin
from leaderboard import actions
from leaderboard.boards.dropped_votes import dropped_votes
from leaderboard.models import AggregationRun, EloRating, ImportedBoard, PairTally, Standing


class BoardFilter(admin.SimpleListFilter):
    """Filter by board, with choices from the newest snapshots: Django's own reads every run."""

    title = gettext_lazy("board")
    parameter_name = "scope"

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        return [(run.scope, run.scope) for run in AggregationRun.objects.newest_of_each_board().only("scope")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[AggregationRun]) -> QuerySet[AggregationRun]:
        return queryset.filter(scope=self.value()) if self.value() else queryset


@admin.register(AggregationRun)
class AggregationRunAdmin(OfSiteForModerators, ReadOnlyAdmin):
    of_site = Q(team=None)
    list_display = (
        "started_at", "scope", "state", "slot", "votes_taken", "votes_counted", "duration_ms", "error",
    )  # fmt: skip
    list_filter = ("state", BoardFilter)
    search_fields = ("public_id", "slot", "tallies_checksum")
    change_list_template = "admin/leaderboard/aggregationrun/change_list.html"
    readonly_fields = ("votes_of_first_place",)

    @admin.display(description=gettext_lazy("votes without which another model would be first"))
    def votes_of_first_place(self, run: AggregationRun) -> str:
        votes = dropped_votes(run)
        lines = (
            (
                reverse("admin:battles_vote_change", args=[vote.pk]),
                vote.order,
                vote.left,
                vote.right,
                choice_label(vote.choice),
            )
            for vote in votes
        )
        return format_html_join("\n", '<div><a href="{}">{}</a> {} – {}: {}</div>', lines) or "–"

    def get_urls(self) -> list[URLPattern]:
        aggregate = self.admin_site.admin_view(require_POST(self.aggregate_now))
        return [path("aggregate/", aggregate, name="leaderboard_aggregate_now"), *super().get_urls()]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, object] | None = None) -> HttpResponse:
        may_aggregate = _may_aggregate(request)
        return super().changelist_view(request, {**(extra_context or {}), "may_aggregate": may_aggregate})

    def aggregate_now(self, request: HttpRequest) -> HttpResponse:
        if not _may_aggregate(request) or not request.user.is_authenticated:
            raise PermissionDenied
        actions.request_run(by=request.user)
        messages.success(request, _("The votes are being counted. Reload in a moment to see the run."))
        return redirect("admin:leaderboard_aggregationrun_changelist")


def _may_aggregate(request: HttpRequest) -> bool:
    return request.user.has_perm("leaderboard.add_aggregationrun")


@admin.register(Standing)
class StandingAdmin(OfSiteForModerators, ReadOnlyAdmin):
    of_site = Q(run__team=None)
    list_display = ("model", "contestant", "run", "rank", "score", "ci_low", "ci_high", "votes", "elo", "preliminary")
    list_filter = ("preliminary",)
    list_select_related = ("model", "contestant", "run")
    search_fields = ("model__slug", "model__name", "contestant__name", "run__public_id")
    ordering = ("-run", "-score")


@admin.register(PairTally)
class PairTallyAdmin(ReadOnlyAdmin):
    sides = (model_column("A", "left"), model_column("B", "right"), choice_column("outcome"))
    list_display = ("scope", *sides, "n")
    list_filter = (BoardFilter, ("outcome", ChoiceFilter))
    fields = readonly_fields = list_display  # type: ignore[assignment]
    list_select_related = ("left", "right")
    search_fields = ("left__slug", "right__slug")


@admin.register(EloRating)
class EloRatingAdmin(ReadOnlyAdmin):
    list_display = ("model", "rating", "votes", "last_order")
    list_select_related = ("model",)
    search_fields = ("model__slug", "model__name")
    ordering = ("-rating",)


@admin.register(ImportedBoard)
class ImportedBoardAdmin(ReadOnlyAdmin):
    list_display = ("title", "slug", "source", "licence", "edition", "created_at")
    search_fields = ("title", "slug", "source")
