from collections.abc import Iterator

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.db.models import Model, QuerySet
from django.db.models.functions import Left
from django.http import HttpRequest, HttpResponse
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from battles import interactions
from battles.models import Answer, Call
from battles.side_words import choice_label
from common.admin.estimated_count import EstimatedCountAdmin
from common.admin.read_only import ReadOnlyAdmin
from common.errors import InvalidInput
from common.payload_types import JsonObject
from models_registry.models import LanguageModel
from models_registry.providers import FailureCode

_PROMPT_CHARACTERS = 120


class _ChoiceFilter(admin.SimpleListFilter):
    def queryset(self, request: HttpRequest, queryset: QuerySet[Call]) -> QuerySet[Call]:
        value = self.value()
        try:
            return interactions.FILTERS[str(self.parameter_name)](queryset, value) if value else queryset
        except InvalidInput:
            return queryset.none()


class ModelFilter(_ChoiceFilter):
    title = gettext_lazy("model")
    parameter_name = "model"

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        models = LanguageModel.of_every_owner.select_related("team").order_by("name")
        return [(model.full_slug, model.name) for model in models.only("slug", "name", "team__slug")]


class ModeFilter(_ChoiceFilter):
    title = gettext_lazy("mode")
    parameter_name = "mode"

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        modes = [(mode.value, str(mode.label)) for mode in interactions.BATTLE_MODES]
        return [*modes, *((purpose, str(Call.Purpose(purpose).label)) for purpose in interactions.PURPOSES)]


class FailureFilter(admin.SimpleListFilter):
    """Filter by all codes: to list only those that occur, Django would read every row."""

    title = gettext_lazy("error")
    parameter_name = "error"

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        return [(interactions.ANY_ERROR, _("any error")), *((code.value, code.value) for code in FailureCode)]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Model]) -> QuerySet[Model]:
        if self.value() == interactions.ANY_ERROR:
            return queryset.exclude(error="")
        return queryset.filter(error=self.value()) if self.value() else queryset


class _TypedFilter(admin.ListFilter):
    """Filter with a form, which keeps a refused value."""

    template = "admin/battles/call/typed_filter.html"
    labels: dict[str, Promise]
    kind = "text"

    def __init__(
        self, request: HttpRequest, params: dict[str, list[str]], model: type[Call], window: "admin.ModelAdmin[Call]"
    ) -> None:
        super().__init__(request, params, model, window)
        self.others = [(name, value) for name, value in request.GET.items() if name not in (*self.labels, "p", "e")]
        self.problems: dict[str, str] = {}
        for name in self.labels:
            if name in params:
                self.used_parameters[name] = params.pop(name)[-1]

    def has_output(self) -> bool:
        return True

    def expected_parameters(self) -> list[str | None]:
        return list(self.labels)

    def queryset(self, request: HttpRequest, queryset: QuerySet[Call]) -> QuerySet[Call]:
        for name in self.used_parameters:
            try:
                queryset = interactions.select(queryset, {name: str(self.used_parameters[name])})
            except InvalidInput as error:
                self.problems[name] = error.detail
        return queryset.none() if self.problems else queryset

    def choices(self, changelist: ChangeList) -> Iterator[JsonObject]:
        for name, label in self.labels.items():
            value, problem = self.used_parameters.get(name, ""), self.problems.get(name, "")
            yield {"name": name, "label": label, "value": value, "problem": problem}


class PeriodFilter(_TypedFilter):
    title = gettext_lazy("date")
    labels = {"since": gettext_lazy("From"), "until": gettext_lazy("To")}
    kind = "date"


class PersonFilter(_TypedFilter):
    title = gettext_lazy("person")
    labels = {"person": gettext_lazy("E-mail address, or user:12 or visitor:34")}


@admin.register(Call)
class CallAdmin(EstimatedCountAdmin, ReadOnlyAdmin):
    list_display = [
        "started_at", "model", "mode", "person", "prompt", "state", "error", "finish_reason", "first_token_ms",
        "total_ms", "prompt_tokens", "completion_tokens", "reasoning_tokens", "cost", "stars", "vote", "attempt",
    ]  # fmt: skip
    list_filter = [PeriodFilter, ModelFilter, ModeFilter, PersonFilter, FailureFilter, "state"]
    search_fields = ["answer__public_id", "answer__turn__battle__public_id"]
    search_help_text = gettext_lazy("The address of an answer or its battle.")
    change_list_template = "admin/battles/call/change_list.html"
    fields = [
        "started_at", "model", "mode", "person", "answer", "whole_prompt", "answer_text", "reasoning", "state", "error",
        "finish_reason", "first_token_ms", "total_ms", "prompt_tokens", "completion_tokens", "reasoning_tokens",
        "tokens_estimated", "cost", "price", "charge", "stars", "vote", "attempt", "fence", "request",
        "provider_request_id",
    ]  # fmt: skip
    readonly_fields = ["mode", "person", "whole_prompt", "answer_text", "reasoning", "stars", "vote"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Call]:
        battle = "answer__turn__battle"
        related = ["model", "answer__side", f"{battle}__vote", f"{battle}__session__owner_user"]
        calls = interactions.readable_by(int(request.user.pk or 0))
        calls = calls.select_related(*related, f"{battle}__session__owner_visitor")
        texts = ["answer__text", "answer__html", "answer__reasoning", "answer__turn__prompt", "request"]
        return calls.defer(*texts).annotate(prompt_start=Left("answer__turn__prompt", _PROMPT_CHARACTERS))

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, object] | None = None) -> HttpResponse:
        query = request.GET.copy()
        for name in set(query) - set(interactions.FILTERS):
            del query[name]
        extra = {
            "title": _("Interaction log"),
            "export_query": query.urlencode(),
            # The export has no search and no filter by state: it would be another selection than the list.
            "is_exportable": set(request.GET) <= {*interactions.FILTERS, "p", "o"},
        }
        return super().changelist_view(request, {**(extra_context or {}), **extra})

    @admin.display(description=gettext_lazy("mode"))
    def mode(self, call: Call) -> str:
        return call.answer.turn.battle.get_mode_display() if call.answer else call.get_purpose_display()

    @admin.display(description=gettext_lazy("person"))
    def person(self, call: Call) -> str:
        return str(call.answer.turn.battle.session.owner or "–") if call.answer else "–"

    @admin.display(description=gettext_lazy("prompt"))
    def prompt(self, call: Call) -> str:
        if not _is_readable(call):
            return "–"
        beginning = call.prompt_start or ""  # type: ignore[attr-defined]
        return Truncator(" ".join(beginning.split())).chars(80) or "–"

    @admin.display(description=gettext_lazy("prompt"))
    def whole_prompt(self, call: Call) -> str:
        return _shown(call.answer.turn.prompt if call.answer and _is_readable(call) else "")

    @admin.display(description=gettext_lazy("text"))
    def answer_text(self, call: Call) -> str:
        shown = _answer_of(call)
        return _shown(shown.text if shown and _is_readable(call) else "")

    @admin.display(description=gettext_lazy("reasoning"))
    def reasoning(self, call: Call) -> str:
        shown = _answer_of(call)
        return _shown(shown.reasoning if shown and _is_readable(call) else "")

    @admin.display(description=gettext_lazy("stars"))
    def stars(self, call: Call) -> str:
        shown = _answer_of(call)
        return str(shown.stars) if shown and shown.stars else "–"

    @admin.display(description=gettext_lazy("vote"))
    def vote(self, call: Call) -> str:
        if call.answer is None or call.answer.turn.after_vote:
            return "–"
        vote = call.answer.turn.battle.vote_or_none
        return choice_label(vote.choice) if vote else "–"


def _is_readable(call: Call) -> bool:
    """Return False for texts of teams."""
    return call.answer is None or call.answer.turn.battle.session.is_readable_by_staff


def _answer_of(call: Call) -> Answer | None:
    """Return the answer whose text comes from this call."""
    return call.answer if call.answer and call.answer.call_id == call.pk else None


def _shown(text: str) -> str:
    return format_html('<div class="model-words" dir="auto">{}</div>', text) if text else "–"
