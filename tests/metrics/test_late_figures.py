"""Figures about answers do not tell who answers: ADR 92."""

from datetime import UTC, timedelta
from unittest.mock import patch

import pytest
from django.utils import timezone

from battles.models import Battle, Call, Vote
from leaderboard.models import AggregationRun
from metrics.models import MetricDay
from metrics.rollup import families, job
from metrics.rollup.families import DAILY, Reveal
from metrics.rollup.writing import roll_up
from tests import make

pytestmark = pytest.mark.django_db
NOON = timezone.now().astimezone(UTC).replace(hour=12, minute=0, second=0, microsecond=0) - timedelta(days=2)


@pytest.fixture
def blind() -> Battle:
    """A blind battle that was answered at nine o'clock."""
    battle = make.answered_battle(make.model(), make.model())
    Battle.objects.filter(pk=battle.pk).update(created_at=NOON - timedelta(hours=3))
    for side in battle.sides.all():
        Call.objects.create(
            answer=side.answers.get(), model=side.model, attempt=1, fence=1, state="done", first_token_ms=70,
            total_ms=90, completion_tokens=5, cost=1, started_at=NOON - timedelta(hours=3),
        )  # fmt: skip
    return battle


def counted(reveal: Reveal) -> int:
    for family in DAILY:
        roll_up(family, NOON.date(), reveal)
    rows = MetricDay.objects.filter(metric__in=["first_token", "cost", "cost_per_battle", "win_rate"])
    return sum(rows.values_list("n", flat=True))


def test_open_blind_battle_is_in_no_figure_of_answers(blind: Battle):
    assert counted(Reveal(NOON, 1_000, NOON)) == 0
    Battle.objects.filter(pk=blind.pk).update(mode="side_by_side")
    assert counted(Reveal(NOON, 1_000, NOON)) > 0


def test_vote_reveals_from_its_snapshot_on(blind: Battle):
    left, right = (side.model for side in blind.sides.order_by("position"))
    vote = Vote.objects.create(
        battle=blind, choice="left", model_left=left, model_right=right, turn_count=1, voter="visitor:1",
        created_at=NOON - timedelta(hours=2),
    )  # fmt: skip
    vote.refresh_from_db()
    assert counted(Reveal(NOON, vote.order - 1, NOON)) == 0
    assert counted(Reveal(NOON, vote.order, NOON)) > 0


def test_runs_without_news_reveal_and_failed_ones_do_not(blind: Battle):
    """Votes in teams and of auto mode are on no board of the site, so that its runs find nothing new."""
    left, right = (side.model for side in blind.sides.order_by("position"))
    vote = Vote.objects.create(
        battle=blind, choice="left", model_left=left, model_right=right, turn_count=1, voter="visitor:1",
        created_at=NOON - timedelta(hours=2),
    )  # fmt: skip
    vote.refresh_from_db()
    run = {"method": "m", "parameters_hash": "h", "duration_ms": 1, "last_order": vote.order}
    at = NOON - timedelta(hours=1)
    AggregationRun.objects.create(slot="1", state="failed", started_at=at, finished_at=at, **run)
    assert counted(Reveal.before(NOON)) == 0
    AggregationRun.objects.create(slot="2", state="unchanged", started_at=NOON, finished_at=NOON, **run)
    assert counted(Reveal.before(NOON)) == 0
    assert counted(Reveal.before(NOON + timedelta(hours=1))) > 0


def test_night_counts_days_that_were_revealed_late(blind: Battle):
    left, right = (side.model for side in blind.sides.order_by("position"))
    vote = Vote.objects.create(
        battle=blind, choice="left", model_left=left, model_right=right, turn_count=1, voter="visitor:1",
        created_at=NOON - timedelta(hours=2),
    )  # fmt: skip
    vote.refresh_from_db()
    days = [NOON.date() + timedelta(days=n) for n in range(30)]
    MetricDay.objects.bulk_create(MetricDay(metric="funnel_back", day=day, n=0, total=0) for day in days)
    now = {"return_value": days[-1] + timedelta(days=1)}
    run = {"state": "done", "method": "m", "parameters_hash": "h", "duration_ms": 1, "last_order": vote.order}
    with patch.object(job, "today", **now):
        assert NOON.date() in job.days_to_count()[1], "no run has read the vote"
        for hours in (1, 2):
            at = NOON + timedelta(hours=hours)
            AggregationRun.objects.create(slot=str(hours), started_at=at, finished_at=at, **run)
        assert NOON.date() not in job.days_to_count()[1]


def test_void_battle_reveals_after_the_late_hour(blind: Battle):
    Battle.objects.filter(pk=blind.pk).update(voided_at=NOON)
    assert counted(Reveal(NOON, 0, NOON)) == 0
    assert counted(Reveal(NOON, 0, NOON + timedelta(minutes=1))) > 0


def test_calls_leave_in_whole_hours_an_hour_late(blind: Battle):
    Battle.objects.filter(pk=blind.pk).update(mode="side_by_side")
    for minutes, is_counted in ((119, False), (120, True), (179, True)):
        MetricDay.objects.all().delete()
        with patch.object(
            families.timezone, "now", return_value=NOON - timedelta(hours=3) + timedelta(minutes=minutes)
        ):
            reveal = Reveal.now()
        assert reveal.until.minute == 0
        assert bool(counted(reveal)) is is_counted, minutes


def test_refresh_counts_today(blind: Battle):
    Battle.objects.filter(pk=blind.pk).update(created_at=timezone.now())
    job.roll_up_today()
    assert MetricDay.objects.get(metric="battles", dim="", team=None, day=job.today()).n == 1
