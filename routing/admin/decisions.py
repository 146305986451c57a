"""Read-only pages of auto mode's decisions and their outcomes."""

from collections.abc import Iterable
from decimal import Decimal

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from battles.auto.reasons import SENTENCES, reason_sentence
from battles.models import Battle, RoutingDecision
from common.admin.estimated_count import EstimatedCountAdmin
from common.admin.read_only import ReadOnlyAdmin
from common.payload_types import JsonObject
from common.text.money import rounded_dollars
from models_registry.templatetags.energy import watt_hours
from routing.admin.tables import number, percent, table
from routing.deciding.query_types import type_names
from routing.models import DecisionOutcome

_HEAD = (
    _("model"), _("wins"), _("good enough"), _("cost"), _("first token"), _("energy"), _("strength"), _("uncertainty"),
    _("why not"),
)  # fmt: skip


class _KnownValuesFilter(admin.SimpleListFilter):
    """Filter by known values: to list those that occur, Django would read every row."""

    def queryset(self, request: HttpRequest, queryset: QuerySet[Model]) -> QuerySet[Model]:
        return queryset.filter(**{str(self.parameter_name): self.value()}) if self.value() else queryset


class QueryTypeFilter(_KnownValuesFilter):
    title = _("type of the question")
    parameter_name = "query_type"

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        return list(type_names().items())


class ReasonFilter(_KnownValuesFilter):
    title = _("reason")
    parameter_name = "reason"

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        return [(code, code) for code in SENTENCES]


@admin.register(RoutingDecision)
class RoutingDecisionAdmin(EstimatedCountAdmin, ReadOnlyAdmin):
    list_display = [
        "created_at", "target", "query_type", "model", "runner_up", "reason", "policy", "confidence", "cost_expected",
        "dial", "explored", "person",
    ]  # fmt: skip
    list_select_related = ["model", "runner_up"]
    list_filter = ["created_at", "target", QueryTypeFilter, ReasonFilter, "explored"]
    search_fields = ["public_id", "battle__public_id", "person"]
    search_help_text = _("The id of a decision, the address of its battle, or user:12 or visitor:34.")
    fields = [
        "public_id", "created_at", "person", "team", "token", "session", "battle", "query_type", "type_confidence",
        "categories", "language", "context", "policy", "target", "model", "runner_up", "reason", "sentence", "details",
        "confidence", "win_chance", "cost_expected", "cost_best", "dial", "propensity", "explored", "candidate_table",
        "micros",
    ]  # fmt: skip
    readonly_fields = ["sentence", "candidate_table"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[RoutingDecision]:
        # Staff votes blindly, too.
        return RoutingDecision.objects.exclude(battle__in=Battle.objects.unrevealed_to(int(request.user.pk or 0)))

    @admin.display(description=_("reason, as people read it"))
    def sentence(self, decision: RoutingDecision) -> str:
        return reason_sentence(decision.reason, decision.details)

    @admin.display(description=_("candidates"))
    def candidate_table(self, decision: RoutingDecision) -> SafeString | str:
        return candidate_table(decision.candidates)


def candidate_table(candidates: Iterable[JsonObject]) -> SafeString | str:
    rows = [_candidate_row(candidate) for candidate in candidates]
    return table(_("Candidates, the best first"), _HEAD, rows) if rows else "–"


def _candidate_row(candidate: JsonObject) -> list[str]:
    wait, energy = candidate.get("first_token_ms"), candidate.get("energy")
    return [
        candidate.get("name") or candidate.get("model") or "–",
        percent(candidate.get("win_chance")),
        percent(candidate.get("good_enough")),
        rounded_dollars(Decimal(candidate["cost"])) if candidate.get("cost") is not None else "–",
        f"{wait} ms" if wait is not None else "–",
        watt_hours(energy) if energy else "–",
        number(candidate.get("theta")),
        number(candidate.get("sd")),
        candidate.get("reason_out") or "–",
    ]


@admin.register(DecisionOutcome)
class DecisionOutcomeAdmin(ReadOnlyAdmin):
    list_display = ["created_at", "decision", "good", "better"]
    list_select_related = ["decision"]
    list_filter = ["good", "better"]
    search_fields = ["decision__public_id"]
    search_help_text = _("The id of a decision.")
    fields = ["decision", "good", "better", "created_at"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[DecisionOutcome]:
        hidden = Battle.objects.unrevealed_to(int(request.user.pk or 0))
        return DecisionOutcome.objects.exclude(decision__battle__in=hidden)
