"""Figures of /metrics that read many rows, so that they are cached for minutes."""

from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

from django.db.models import Count, Max, Q
from prometheus_client.metrics_core import GaugeMetricFamily, Metric

from arena_site.operations import facts
from arena_site.operations.first_steps import BACKUP
from battles.models import Battle, Vote
from common.cache import TTLCached
from models_registry.models.ledger import today

CACHE_S = 300.0
# Days, the current one among them, within which a person is active.
PERIODS = (1, 7, 28)


@dataclass(frozen=True)
class SlowFigures:
    """active_people: by number of days. excluded_votes: of the site, by reason."""

    active_people: dict[int, int]
    excluded_votes: dict[str, int]
    backup_at: datetime | None


def read_slow_figures() -> SlowFigures:
    """Read in three queries."""
    excluded = Vote.objects.filter(on_site_boards=True).exclude(excluded_reason="").order_by()
    return SlowFigures(
        active_people=_active_people(),
        excluded_votes=dict(excluded.values_list("excluded_reason").annotate(Count("pk"))),
        backup_at=facts.last_times_of(BACKUP).get(BACKUP),
    )


def _active_people() -> dict[int, int]:
    """Return the owners of sessions with a battle, by days; a deleted session has none."""
    midnight = datetime.combine(today(), time(), UTC)
    starts = {days: midnight - timedelta(days=days - 1) for days in PERIODS}
    battles = Battle.objects.filter(created_at__gte=min(starts.values())).order_by()
    owned = battles.exclude(session__owner_user=None, session__owner_visitor=None)
    people = owned.values("session__owner_user", "session__owner_visitor").annotate(last=Max("created_at"))
    counts = {f"within_{days}": Count("last", filter=Q(last__gte=start)) for days, start in starts.items()}
    found = people.aggregate(**counts)
    return {days: found[f"within_{days}"] for days in PERIODS}


slow_figures = TTLCached(read_slow_figures, ttl_s=CACHE_S)


def slow_series() -> list[Metric]:
    figures = slow_figures()
    people = GaugeMetricFamily(
        "arena_active_people", "People with a battle today (UTC) and on the days before, by number of days.",
        labels=["days"],
    )  # fmt: skip
    for days, number in figures.active_people.items():
        people.add_metric([str(days)], number)
    excluded = GaugeMetricFamily("arena_votes_excluded", "Votes that do not count now, by reason.", labels=["reason"])
    for reason, number in sorted(figures.excluded_votes.items()):
        excluded.add_metric([reason], number)
    backup = GaugeMetricFamily(
        "arena_backup_timestamp_seconds", "When a backup was last made by the arena; 0 before.",
        figures.backup_at.timestamp() if figures.backup_at else 0,
    )  # fmt: skip
    return [people, excluded, backup]
