"""Current figures, each from one query of at most a day's votes."""

import platform
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from math import isinf
from typing import Any, NamedTuple, cast

import django
from django.conf import settings
from django.db import connection
from django.db.models import Count, Exists, Max, Min, OuterRef, Q
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from accounts.models import AuditEntry, User
from battles.models import ModerationCase, Report, Turn
from common.db.replica import Problem, is_configured, watcher
from leaderboard.counting import schedule
from leaderboard.models import OVERALL, AggregationRun, AnomalyReview
from models_registry.models import Provider
from models_registry.models.budgets import budget_of
from models_registry.models.ledger import SITE, SpendingDay, provider_account, today
from uploads.models import Upload

# A turn is stuck after waiting this long for a worker, or this long after its lease expired.
STUCK_AFTER = timedelta(seconds=30)


@dataclass(frozen=True)
class Queue:
    """Turns that are not done; `age_s`: wait of the oldest."""

    waiting: int = 0
    answering: int = 0
    stuck: int = 0
    age_s: float = 0.0


def queue() -> Queue:
    late = Q(state=Turn.State.QUEUED, created_at__lt=Now() - STUCK_AFTER, queued_at__lt=Now() - STUCK_AFTER)
    lost = Q(state=Turn.State.ANSWERING, lease_until__lt=Now() - STUCK_AFTER)
    counts = Turn.objects.exclude(state=Turn.State.DONE).aggregate(
        waiting=Count("pk", filter=Q(state=Turn.State.QUEUED)),
        answering=Count("pk", filter=Q(state=Turn.State.ANSWERING)),
        stuck=Count("pk", filter=late | lost),
        since=Min("created_at", filter=Q(state=Turn.State.QUEUED)),
    )
    since = counts.pop("since")
    age_s = 0.0 if since is None else max(0.0, (timezone.now() - since).total_seconds())
    return Queue(**counts, age_s=age_s)


@dataclass(frozen=True)
class Spending:
    """US dollars since midnight UTC, of a provider or (name "") of the site; `cap` is None without one."""

    name: str
    spent: Decimal
    reserved: Decimal
    cap: Decimal | None

    @property
    def percent(self) -> int | None:
        """Percent of the cap, at most 100; None without one."""
        if self.cap is None:
            return None
        return min(100, round(100 * (self.spent + self.reserved) / self.cap)) if self.cap else 100


def spending_today() -> list[Spending]:
    """Return the site's spending, then that of providers with a cap or costs today. Two queries."""
    providers = {provider_account(pk): (name, cap) for pk, name, cap in _providers()}
    accounts: dict[str, tuple[str, Decimal | None]] = {SITE: ("", budget_of(SITE)), **providers}
    rows = SpendingDay.objects.filter(day=today(), account__in=list(accounts))
    used = {row.account: row for row in rows}
    nothing = SpendingDay(spent=Decimal(0), reserved=Decimal(0))
    return [
        Spending(name, used.get(account, nothing).spent, used.get(account, nothing).reserved, cap)
        for account, (name, cap) in accounts.items()
        if account in used or cap is not None or account == SITE
    ]


def _providers() -> list[tuple[int, str, Decimal | None]]:
    return list(Provider.objects.order_by("name", "pk").values_list("pk", "name", "daily_budget"))


@dataclass(frozen=True)
class Snapshots:
    """Times of Overall: last published, and last checked for new votes; None before the first."""

    published_at: datetime | None
    checked_at: datetime | None
    failed_boards: list[str]
    next_due: datetime

    @property
    def is_overdue(self) -> bool:
        if self.checked_at is None:
            return False
        return self.next_due - self.checked_at > 3 * timedelta(seconds=settings.ARENA_AGGREGATE_EVERY_S)


def snapshots() -> Snapshots:
    of_overall = AggregationRun.objects.filter(scope=OVERALL)
    published_at = of_overall.filter(state=AggregationRun.State.DONE).aggregate(at=Max("finished_at"))["at"]
    checked_at = of_overall.order_by("-pk").values_list("finished_at", flat=True).first()
    failed_boards = AggregationRun.objects.failed_boards()
    return Snapshots(published_at, checked_at, failed_boards, schedule.next_due_at(timezone.now()))


def sign_ups_today() -> int:
    return User.objects.filter(date_joined__gte=_midnight()).count()


@dataclass(frozen=True)
class Cases:
    """Waiting cases of the moderation queue; `reported`: by people."""

    waiting: int
    reported: int


def cases() -> Cases:
    waiting = ModerationCase.objects.filter(state=ModerationCase.State.WAITING)
    is_reported = Exists(Report.objects.filter(case=OuterRef("pk")))
    return Cases(**waiting.aggregate(waiting=Count("pk"), reported=Count("pk", filter=is_reported)))


def last_times_of(*actions: str) -> dict[str, datetime]:
    """Return the newest entry's time of each action that the audit log has."""
    entries = AuditEntry.objects.filter(action__in=actions).order_by()
    return dict(entries.values_list("action").annotate(Max("created_at")))


def reviews_open() -> int:
    return AnomalyReview.objects.filter(team=None, decided_at=None).count()


@dataclass(frozen=True)
class Machine:
    """Disk (bytes) and versions of this web process's machine."""

    free: int
    total: int
    uploads: int
    versions: dict[str, str]

    @property
    def is_nearly_full(self) -> bool:
        return self.free < 1_000_000_000 or self.free < self.total / 20


@dataclass(frozen=True)
class Replica:
    """problem: why it is not read now, else "". lag_s: seconds by which it is behind at most, None if unknown."""

    problem: str | Promise
    lag_s: float | None


_PROBLEMS = {
    Problem.UNKNOWN: gettext_lazy("it is being checked"),
    Problem.AWAY: gettext_lazy("it cannot be reached"),
    Problem.NO_STANDBY: gettext_lazy("it is not a standby"),
    Problem.LATE: gettext_lazy("it is too far behind"),
    Problem.FAILED: gettext_lazy("it failed a read"),
}


def replica() -> Replica | None:
    """Return what this process knows of the replica, None without one."""
    if not is_configured():
        return None
    is_usable, status = watcher.is_usable(), watcher.status
    lag_s = None if isinf(status.lag_s) else status.lag_s
    return Replica("" if is_usable else _PROBLEMS[status.problem or Problem.AWAY], lag_s)


class DiskUsage(NamedTuple):
    """Bytes."""

    total: int
    used: int
    free: int


def disk_usage() -> DiskUsage:
    data = settings.ARENA_DATA_DIR if settings.ARENA_DATA_DIR.exists() else settings.BASE_DIR
    return DiskUsage(*shutil.disk_usage(data))


def machine() -> Machine:
    disk = disk_usage()
    major, minor = divmod(cast(Any, connection).pg_version, 10_000)
    versions = {
        "Python": platform.python_version(),
        "Django": django.get_version(),
        "PostgreSQL": f"{major}.{minor}",
    }
    return Machine(disk.free, disk.total, Upload.objects.kept().bytes_kept(), versions)


def _midnight() -> datetime:
    """Return the last midnight UTC, when a budget's day begins."""
    return datetime.combine(today(), time(), UTC)
