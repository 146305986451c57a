"""The administration's first page: the arena's state, limited to the reader's permissions."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from urllib.parse import urlencode

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.template.defaultfilters import filesizeformat
from django.urls import reverse
from django.utils import timezone
from django.utils.timesince import timesince
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from arena_site.operations import benchmarks, facts
from arena_site.operations.activity import ModeToday, read_activity
from arena_site.operations.auto_mode import AutoMode, read_auto_mode
from arena_site.operations.breakers import BreakerState, read_breakers
from arena_site.operations.first_steps import BACKUP, FirstSteps, read_first_steps
from battles.admin.call_statistics import CallStatistics, get_call_statistics
from battles.admin.model_tests import TESTED
from common.valkey import heartbeat
from common.valkey.connections import UNREACHABLE, fail_fast
from leaderboard.models import AggregationRun
from models_registry.models import LanguageModel, RequestRepair
from models_registry.models.availability import Availability
from models_registry.models.inquiries import inquiries_exist

MAX_MODELS = 12
CALLS_WITHIN = timedelta(hours=1)
# A model is an alarm from so many failed calls on, if they are half of its calls at least.
MIN_FAILED_CALLS = 3
MAX_MODEL_ALARMS = 5
MAX_BACKUP_AGE = timedelta(days=7)
# Units of a chart's view box.
BAR_WIDTH, CHART_HEIGHT = 10, 48


@dataclass(frozen=True)
class Bar:
    x: int
    y: float
    height: float
    number: int
    hours_ago: int


@dataclass(frozen=True)
class HourChart:
    bars: list[Bar]

    @property
    def width(self) -> int:
        return BAR_WIDTH * len(self.bars)

    @classmethod
    def of(cls, numbers: list[int]) -> "HourChart":
        """numbers: by hour, the newest last."""
        maximum = max(*numbers, 1)
        heights = [round(CHART_HEIGHT * number / maximum, 1) for number in numbers]
        return cls(
            [
                Bar(BAR_WIDTH * hour, CHART_HEIGHT - height, height, number, len(numbers) - 1 - hour)
                for hour, (number, height) in enumerate(zip(numbers, heights, strict=True))
            ]
        )


@dataclass(frozen=True)
class ModelHealth:
    model: LanguageModel
    unavailable_reason: str
    statistics: CallStatistics

    @property
    def is_failing(self) -> bool:
        return self.statistics.errors >= max(MIN_FAILED_CALLS, self.statistics.calls / 2)

    @property
    def failure_sentence(self) -> str:
        """Say whether it fails, or answers nothing."""
        is_silent = 2 * self.statistics.empty >= self.statistics.errors
        words = {
            "model": self.model, "calls": self.statistics.calls,
            "n": self.statistics.empty if is_silent else self.statistics.errors,
        }  # fmt: skip
        if is_silent:
            return _("%(model)s answered nothing in %(n)d of %(calls)d calls of the last hour.") % words
        return _("%(model)s failed in %(n)d of %(calls)d calls of the last hour.") % words


@dataclass
class Dashboard:
    """Content of the page; a part is None where the reader has no permission.

    `warnings` are sentences, each with a URL or "". `set_up` counts models whose providers can be called, `drawable`
    those of them that can be drawn.
    """

    battles: list[ModeToday] | None = None
    votes_chart: HourChart | None = None
    votes: int = 0
    queue: facts.Queue | None = None
    sign_ups: int | None = None
    cases: facts.Cases | None = None
    reviews: int | None = None
    spending: list[facts.Spending] | None = None
    models: list[ModelHealth] | None = None
    failing: list[ModelHealth] = field(default_factory=list)
    breakers: list[BreakerState] = field(default_factory=list)
    repairs: list[RequestRepair] = field(default_factory=list)
    has_paid_models: bool = False
    set_up: int = 0
    drawable: int = 0
    calls: CallStatistics = field(default_factory=CallStatistics)
    snapshots: facts.Snapshots | None = None
    runs: list[benchmarks.LiveRun] | None = None
    auto_mode: AutoMode | None = None
    decisions_chart: HourChart | None = None
    machine: facts.Machine | None = None
    replica: facts.Replica | None = None
    silent_processes: list[str] = field(default_factory=list)
    backup_at: datetime | None = None
    first_steps: FirstSteps | None = None
    warnings: list[tuple[str, str]] = field(default_factory=list)

    @property
    def battles_begun(self) -> int:
        return sum(mode.begun for mode in self.battles or [])

    @property
    def spends_without_limit(self) -> bool:
        return self.has_paid_models and not any(account.cap is not None for account in self.spending or [])


def read_dashboard(user: "AbstractBaseUser | AnonymousUser") -> Dashboard:
    """Read the dashboard in a fixed number of queries."""
    dashboard, has_perm = Dashboard(), user.has_perm  # type: ignore[union-attr]
    if has_perm("battles.view_battle"):
        activity = read_activity()
        dashboard.battles, dashboard.queue = activity.battles_today(), facts.queue()
        votes = activity.votes_by_hour()
        dashboard.votes_chart, dashboard.votes = HourChart.of(votes), sum(votes)
    if has_perm("accounts.view_user"):
        dashboard.sign_ups = facts.sign_ups_today()
    if has_perm("battles.view_moderationcase"):
        dashboard.cases = facts.cases()
    if has_perm("leaderboard.view_anomalyreview"):
        dashboard.reviews = facts.reviews_open()
    if has_perm("models_registry.view_charge"):
        dashboard.spending = facts.spending_today()
    if has_perm("models_registry.view_languagemodel"):
        _read_models(dashboard)
    if has_perm("leaderboard.view_aggregationrun"):
        dashboard.snapshots = facts.snapshots()
    if has_perm("benchmarks.view_run"):
        dashboard.runs = benchmarks.live_runs()
    if has_perm("battles.view_routingdecision"):
        auto_mode = read_auto_mode()
        dashboard.auto_mode = auto_mode if auto_mode.is_used else None
        dashboard.decisions_chart = HourChart.of(auto_mode.by_hour)
    if user.is_administrator:  # type: ignore[union-attr]
        dashboard.machine, dashboard.silent_processes = facts.machine(), _silent_processes()
        dashboard.replica = facts.replica()
        last_times = facts.last_times_of(TESTED, BACKUP)
        dashboard.backup_at = last_times.get(BACKUP)
        dashboard.first_steps = read_first_steps(
            set_up=dashboard.set_up, spends_without_limit=dashboard.spends_without_limit, last_times=last_times
        )
    dashboard.warnings = list(_warnings(dashboard))
    return dashboard


def _read_models(dashboard: Dashboard) -> None:
    """List models that cannot be drawn, then by errors, then by calls."""
    models = LanguageModel.objects.configured()
    availability = Availability(models)
    statistics = get_call_statistics([model.pk for model in models], within=CALLS_WITHIN)
    health = [
        ModelHealth(model, availability.unavailable_reason(model), statistics.get(model.pk, CallStatistics()))
        for model in models
    ]
    health.sort(
        key=lambda row: (not row.unavailable_reason, -row.statistics.errors, -row.statistics.calls, row.model.name)
    )
    dashboard.models, dashboard.set_up = health[:MAX_MODELS], len(health)
    dashboard.failing = [row for row in health if row.is_failing]
    dashboard.has_paid_models = any(model.is_paid for model in models)
    dashboard.breakers = read_breakers()
    if inquiries_exist():
        dashboard.repairs = list(RequestRepair.objects.undecided().select_related("model__provider"))
    dashboard.drawable = sum(not row.unavailable_reason for row in health)
    dashboard.calls = CallStatistics(
        calls=sum(row.statistics.calls for row in health), errors=sum(row.statistics.errors for row in health)
    )


def _silent_processes() -> list[str]:
    """Return the background processes without heartbeat, or Valkey when it is unreachable."""
    try:
        with fail_fast():
            return heartbeat.missing()
    except UNREACHABLE:
        return ["Valkey"]


def _warnings(dashboard: Dashboard) -> Iterable[tuple[str, str]]:
    for process in dashboard.silent_processes:
        yield _("%(process)s is not heard.") % {"process": process}, ""
    if dashboard.queue and dashboard.queue.stuck:
        sentence = ngettext("%(n)d turn is stuck.", "%(n)d turns are stuck.", dashboard.queue.stuck)
        yield sentence % {"n": dashboard.queue.stuck}, ""
    if dashboard.models is not None and dashboard.drawable < 2:
        yield _("Fewer than two models can be drawn."), _changelist("models_registry_languagemodel")
    yield from _model_warnings(dashboard)
    for repair in dashboard.repairs:
        if repair.changes_contestant:
            yield f"{repair.model}: {repair.sentence}", _changelist("models_registry_requestrepair")
    for spending in dashboard.spending or []:
        if spending.percent is not None and spending.percent >= 90:
            whose = spending.name or _("the site")
            sentence = _("%(percent)d %% of today's budget of %(whose)s is used.") % {
                "percent": spending.percent,
                "whose": whose,
            }
            yield sentence, _changelist("models_registry_charge")
    for board in dashboard.snapshots.failed_boards if dashboard.snapshots else []:
        yield _("The last aggregation of board %(board)s failed.") % {"board": board}, _failed_runs(board)
    if dashboard.snapshots and dashboard.snapshots.checked_at and dashboard.snapshots.is_overdue:
        age = timesince(dashboard.snapshots.checked_at)
        yield _("The boards were last computed %(age)s ago.") % {"age": age}, _changelist("leaderboard_aggregationrun")
    if dashboard.machine and dashboard.machine.is_nearly_full:
        yield _("The disk is nearly full: %(free)s are left.") % {"free": filesizeformat(dashboard.machine.free)}, ""
    if dashboard.replica and dashboard.replica.problem:
        yield (
            _("The database is read instead of its replica: %(problem)s.") % {"problem": dashboard.replica.problem},
            "",
        )
    if dashboard.backup_at and timezone.now() - dashboard.backup_at > MAX_BACKUP_AGE:
        yield _("The last backup was made %(age)s ago.") % {"age": timesince(dashboard.backup_at)}, ""
    cases = dashboard.cases or facts.Cases(0, 0)
    if reported := cases.reported:
        sentence = ngettext(
            "%(n)d reported battle waits for a moderator.", "%(n)d reported battles wait for a moderator.", reported
        )
        address = f"{_changelist('battles_moderationcase')}?by=people&state__exact=waiting"
        yield sentence % {"n": reported}, address
    if others := cases.waiting - cases.reported:
        sentence = ngettext(
            "%(n)d flagged prompt waits for a moderator.", "%(n)d flagged prompts wait for a moderator.", others
        )
        yield sentence % {"n": others}, _changelist("battles_moderationcase")
    if reviews := dashboard.reviews:
        sentence = ngettext("%(n)d voter waits for review.", "%(n)d voters wait for review.", reviews)
        yield sentence % {"n": reviews}, _changelist("leaderboard_anomalyreview")


def _model_warnings(dashboard: Dashboard) -> Iterable[tuple[str, str]]:
    """Name models and providers that are kept out of battles, then those that fail."""
    alarms = []
    for breaker in dashboard.breakers:
        if breaker.is_open:
            page, pk = ("languagemodel", breaker.model_id) if breaker.model_id else ("provider", breaker.provider_id)
            sentence = _("%(subject)s failed repeatedly: %(state)s.") % {
                "subject": breaker.subject, "state": breaker.state
            }  # fmt: skip
            alarms.append((sentence, reverse(f"admin:models_registry_{page}_change", args=[pk])))
    known = {breaker.model_id for breaker in dashboard.breakers if breaker.is_open}
    alarms += [
        (row.failure_sentence, reverse("admin:models_registry_languagemodel_change", args=[row.model.pk]))
        for row in dashboard.failing
        if row.model.pk not in known
    ]
    yield from alarms[:MAX_MODEL_ALARMS]
    if more := len(alarms[MAX_MODEL_ALARMS:]):
        sentence = ngettext("%(n)d more model fails.", "%(n)d more models fail.", more)
        yield sentence % {"n": more}, _changelist("models_registry_languagemodel")


def _failed_runs(board: str) -> str:
    query = urlencode({"state__exact": AggregationRun.State.FAILED, "scope": board})
    return f"{_changelist('leaderboard_aggregationrun')}?{query}"


def _changelist(model: str) -> str:
    return reverse(f"admin:{model}_changelist")
