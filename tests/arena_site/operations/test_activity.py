from datetime import UTC, datetime, time, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from arena_site.operations import activity
from arena_site.operations.activity import HOURS, ModeToday, forget_activity, read_activity
from arena_site.tasks import count_activity
from battles.actions import cast_vote
from battles.models import Battle, Vote
from leaderboard.counting.schedule import database_now
from tests import make

pytestmark = pytest.mark.django_db


@pytest.fixture
def noon(monkeypatch: pytest.MonkeyPatch) -> datetime:
    """Noon of a day that is the present of readings."""
    noon = datetime.combine(database_now().astimezone(UTC), time(12), UTC)
    monkeypatch.setattr(activity, "database_now", lambda: noon)
    return noon


def battle(at: datetime, *, voted_at: datetime | None = None) -> None:
    actor = make.visitor()
    made = make.answered_battle(make.model(), make.model(), actor=actor)
    if voted_at is not None:
        vote = cast_vote(battle=made, choice=Vote.Choice.TIE, actor=actor)
        _move(Vote, vote.pk, voted_at)
    _move(Battle, made.pk, at)


def _move(model: type[Battle | Vote], pk: int, at: datetime) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")  # votes keep their time
        cursor.execute(f"UPDATE {model._meta.db_table} SET created_at = %s WHERE id = %s", [at, pk])
        cursor.execute("SET LOCAL session_replication_role = DEFAULT")


def blind(reading: activity.Activity) -> ModeToday:
    return reading.battles_today()[0]


def test_later_reading_adds_new_rows_only(noon: datetime, monkeypatch: pytest.MonkeyPatch):
    day, minute = timedelta(days=1), timedelta(minutes=1)
    battle(noon - day, voted_at=noon - 61 * minute)  # yesterday's battle, today's vote
    battle(noon - 90 * minute, voted_at=noon - 70 * minute)
    battle(noon - minute / 2, voted_at=noon - minute / 3)
    for _ in range(2):
        reading = read_activity()
        assert reading.votes_by_hour()[-3:] == [2, 1, 0]
        assert (blind(reading).begun, blind(reading).voted) == (2, 2)
    with CaptureQueriesContext(connection) as queries:
        read_activity()
    assert str(noon - day) not in str(queries.captured_queries)

    monkeypatch.setattr(activity, "database_now", lambda: noon + 30 * minute)
    battle(noon - minute / 4, voted_at=noon + 20 * minute)  # committed after the last reading
    battle(noon - 100 * minute)  # older than what is settled: not counted before the counts are forgotten
    count_activity()
    assert (blind(read_activity()).begun, blind(read_activity()).voted) == (3, 3)
    assert read_activity().votes_by_hour()[-3:] == [2, 1, 1]
    forget_activity()
    assert blind(read_activity()).begun == 4


def test_counts_of_yesterday_leave_the_reading(noon: datetime, monkeypatch: pytest.MonkeyPatch):
    battle(noon - timedelta(hours=2), voted_at=noon - timedelta(hours=2))
    assert (blind(read_activity()).voted, sum(read_activity().votes_by_hour())) == (1, 1)
    for hours, votes in ((HOURS - 3, 1), (HOURS - 2, 0), (5 * HOURS, 0)):
        monkeypatch.setattr(activity, "database_now", lambda hours=hours: noon + timedelta(hours=hours))
        reading = read_activity()
        assert (blind(reading).begun, blind(reading).voted, sum(reading.votes_by_hour())) == (0, 0, votes)


@pytest.mark.usefixtures("no_valkey")
def test_activity_without_valkey_is_read_from_rows(noon: datetime):
    battle(noon - timedelta(hours=2), voted_at=noon - timedelta(hours=1))
    assert (blind(read_activity()).voted, sum(read_activity().votes_by_hour())) == (1, 1)


def test_void_battles_are_counted_apart(noon: Any):
    battle(noon - timedelta(hours=2))
    Battle.objects.update(voided_at=noon)
    assert (blind(read_activity()).begun, blind(read_activity()).void, blind(read_activity()).open) == (1, 1, 0)
