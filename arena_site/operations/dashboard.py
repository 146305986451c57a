"""The first page of the administration: how the arena is doing, as far as its reader may see it."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from urllib.parse import urlencode

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from arena_site.operations import facts
from battles.admin.call_statistics import CallStatistics, get_call_statistics
from common.valkey import heartbeat
from common.valkey.connections import UNREACHABLE, fail_fast
from leaderboard.models import AggregationRun
from models_registry.models import LanguageModel
from models_registry.models.availability import Availability

# Models that are listed: those in trouble, then those that are called most.
MOST_MODELS = 12
CALLS_WITHIN = timedelta(hours=1)
# In the drawing's own units.
BAR_WIDTH, CHART_HEIGHT = 10, 48


@dataclass(frozen=True)
class Bar:
    """One hour of the chart of votes."""

    x: int
    y: float
    height: float
    votes: int
    hours_ago: int


@dataclass(frozen=True)
class ModelHealth:
    model: LanguageModel
    unavailable_reason: str
    statistics: CallStatistics


@dataclass
class Dashboard:
    """What is None is not for this reader. `troubles` are sentences, each with the address where to see to it.

    `set_up` counts the models whose providers can be called, and `drawable` those of them that nothing keeps out.
    """

    battles: list[facts.ModeToday] | None = None
    bars: list[Bar] = field(default_factory=list)
    votes: int = 0
    queue: facts.Queue | None = None
    sign_ups: int | None = None
    cases: int | None = None
    reviews: int | None = None
    spending: list[facts.Spending] | None = None
    models: list[ModelHealth] | None = None
    set_up: int = 0
    drawable: int = 0
    calls: CallStatistics = field(default_factory=CallStatistics)
    snapshots: facts.Snapshots | None = None
    machine: facts.Machine | None = None
    silent: list[str] = field(default_factory=list)
    troubles: list[tuple[str, str]] = field(default_factory=list)

    @property
    def battles_begun(self) -> int:
        return sum(mode.begun for mode in self.battles or [])

    @property
    def chart_width(self) -> int:
        return BAR_WIDTH * len(self.bars)


def read_dashboard(user: "AbstractBaseUser | AnonymousUser") -> Dashboard:
    """In a fixed number of queries, none of which reads more than a day's votes."""
    seen, may = Dashboard(), user.has_perm  # type: ignore[union-attr]
    if may("battles.view_battle"):
        seen.battles, seen.queue = facts.battles_today(), facts.queue()
        votes = facts.votes_by_hour()
        seen.bars, seen.votes = _bars(votes), sum(votes)
    if may("accounts.view_user"):
        seen.sign_ups = facts.sign_ups_today()
    if may("battles.view_moderationcase"):
        seen.cases = facts.cases_waiting()
    if may("leaderboard.view_anomalyreview"):
        seen.reviews = facts.reviews_open()
    if may("models_registry.view_charge"):
        seen.spending = facts.spending_today()
    if may("models_registry.view_languagemodel"):
        _read_models(seen)
    if may("leaderboard.view_aggregationrun"):
        seen.snapshots = facts.snapshots()
    if user.is_superuser:  # type: ignore[union-attr]
        seen.machine, seen.silent = facts.machine(), _silent()
    seen.troubles = list(_troubles(seen))
    return seen


def _bars(votes: list[int]) -> list[Bar]:
    most = max(*votes, 1)
    heights = [round(CHART_HEIGHT * number / most, 1) for number in votes]
    return [
        Bar(BAR_WIDTH * hour, CHART_HEIGHT - height, height, number, len(votes) - 1 - hour)
        for hour, (number, height) in enumerate(zip(votes, heights, strict=True))
    ]


def _read_models(seen: Dashboard) -> None:
    models = LanguageModel.objects.configured()
    availability = Availability(models)
    statistics = get_call_statistics([model.pk for model in models], within=CALLS_WITHIN)
    health = [
        ModelHealth(model, availability.unavailable_reason(model), statistics.get(model.pk, CallStatistics()))
        for model in models
    ]
    health.sort(key=lambda of: (not of.unavailable_reason, -of.statistics.errors, -of.statistics.calls, of.model.name))
    seen.models, seen.set_up = health[:MOST_MODELS], len(health)
    seen.drawable = sum(not of.unavailable_reason for of in health)
    seen.calls = CallStatistics(
        calls=sum(of.statistics.calls for of in health), errors=sum(of.statistics.errors for of in health)
    )


def _silent() -> list[str]:
    """Background processes that are not heard; Valkey itself when it is away."""
    try:
        with fail_fast():
            return heartbeat.missing()
    except UNREACHABLE:
        return ["Valkey"]


def _troubles(seen: Dashboard) -> Iterable[tuple[str, str]]:
    """What somebody should look at."""
    for process in seen.silent:
        yield _("%(process)s is not heard.") % {"process": process}, ""
    if seen.queue and seen.queue.stuck:
        sentence = ngettext("%(n)d turn is stuck.", "%(n)d turns are stuck.", seen.queue.stuck)
        yield sentence % {"n": seen.queue.stuck}, ""
    if seen.models is not None and seen.drawable < 2:
        yield _("Fewer than two models can be drawn."), _list("models_registry_languagemodel")
    for of in seen.spending or []:
        if of.percent is not None and of.percent >= 90:
            whose = of.name or _("the site")
            sentence = _("%(percent)d %% of today's budget of %(whose)s is used.") % {
                "percent": of.percent,
                "whose": whose,
            }
            yield sentence, _list("models_registry_charge")
    for board in seen.snapshots.failed_boards if seen.snapshots else []:
        yield _("The last aggregation of board %(board)s failed.") % {"board": board}, _failed_runs(board)
    if seen.machine and seen.machine.is_nearly_full:
        yield _("The disk is nearly full."), ""
    if seen.cases:
        sentence = ngettext("%(n)d case waits for moderation.", "%(n)d cases wait for moderation.", seen.cases)
        yield sentence % {"n": seen.cases}, _list("battles_moderationcase")
    if seen.reviews:
        sentence = ngettext("%(n)d voter waits for review.", "%(n)d voters wait for review.", seen.reviews)
        yield sentence % {"n": seen.reviews}, _list("leaderboard_anomalyreview")


def _failed_runs(board: str) -> str:
    query = urlencode({"state__exact": AggregationRun.State.FAILED, "scope": board})
    return f"{_list('leaderboard_aggregationrun')}?{query}"


def _list(model: str) -> str:
    return reverse(f"admin:{model}_changelist")
