from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from io import StringIO
from unittest.mock import patch

import pytest
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from accounts.models import Team
from battles.actions import delete_session
from battles.models import Battle, RoutingDecision, Session, Turn, Vote
from leaderboard.models import AggregationRun
from metrics.catalogue import BY_NAME, Bucket
from metrics.models import MetricDay
from metrics.rollup import job
from metrics.rollup.families import ALL, DAILY, Reveal
from metrics.rollup.writing import roll_up
from metrics.series import SeriesQuery, definition_of, read_series
from models_registry.models import SpendingDay
from tests import make
from tests.leaderboard import vote_factory
from tests.metrics import seeded
from tests.metrics.recount import Recount

pytestmark = pytest.mark.django_db
DAYS = [(seeded.FIRST + timedelta(days=n)).date() for n in range(seeded.DAYS + 2)]


@pytest.fixture
def team() -> Team:
    return seeded.seed()


def reveal(last_order: int = 30) -> Reveal:
    later = datetime(2026, 4, 1, tzinfo=UTC)
    return Reveal(later, last_order, later)


def roll_up_everything() -> None:
    for day in DAYS:
        for family in ALL:
            roll_up(family, day, reveal())


def stored() -> dict[tuple[object, ...], tuple[object, ...]]:
    rows = MetricDay.objects.values_list("day", "metric", "team_id", "span", "dim", "key", "n", "total", "buckets")
    return {row[:6]: row[6:] for row in rows}


def test_every_figure_of_a_day_equals_a_recount(team: Team):
    roll_up_everything()
    expect_recounted(DAYS, reveal())


def expect_recounted(days: Iterable[date], moment: Reveal) -> None:
    recount = Recount(moment.until, moment.last_order)
    kept = {metric for family in DAILY for metric, _span in family.metrics}
    figures_by_day = stored()
    for day in days:
        counted = recount.of_day(day)
        rows = {key[1:]: figure for key, figure in figures_by_day.items() if key[0] == day and key[3] == "day"}
        figures = {key: figure for key, figure in rows.items() if key[0] in kept}
        assert figures.keys() == counted.keys()
        for key, figure in figures.items():
            assert (figure[0], figure[2]) == (counted[key][0], counted[key][2]), key
            assert float(figure[1]) == pytest.approx(float(counted[key][1]), abs=1e-6), key
        assert rows.get(("funnel_back", None, "day", "", ""), (0, 0))[:2] == recount.back(day)


def test_figures_of_a_leap_year_equal_a_recount():
    first = datetime(2027, 12, 1, tzinfo=UTC)
    seeded.seed(60, first=first, days=400)
    unvoted = Battle.objects.filter(vote=None)[0]
    Battle.objects.filter(pk=unvoted.pk).update(created_at=datetime(2028, 2, 29, 23, 59, 59, tzinfo=UTC))
    end = first + timedelta(days=420)
    moment = Reveal(end, 30, end)
    moments = {*Battle.objects.values_list("created_at", flat=True), *Vote.objects.values_list("created_at", flat=True)}
    days = sorted({at.date() for at in moments})
    assert date(2028, 2, 29) in days
    for day in days:
        for family in ALL:
            roll_up(family, day, moment)
    expect_recounted(days, moment)
    rows, recount = stored(), Recount(moment.until, 30)
    for month in {day.replace(day=1) for day in days}:
        last = (month + timedelta(days=31)).replace(day=1) - timedelta(days=1)
        for key, (n, total, _buckets) in recount.people(month, last, "month").items():
            assert rows[(month, *key)][:2] == (n, total), (month, key)


def test_people_of_weeks_and_months_equal_a_recount(team: Team):
    roll_up_everything()
    rows, recount = stored(), Recount(reveal().until, 30)
    spans = {
        "7d": (DAYS[2], DAYS[0], DAYS[2]), "28d": (DAYS[3], DAYS[0], DAYS[3]),
        "week": (DAYS[0], DAYS[0], DAYS[6]), "month": (DAYS[0].replace(day=1), DAYS[0], DAYS[6]),
    }  # fmt: skip
    for span, (day, first, last) in spans.items():
        for key, (n, total, _buckets) in recount.people(first, last, span).items():
            assert rows[(day, *key)][:2] == (n, total), (span, key)


def test_repeated_rollup_changes_nothing(team: Team):
    roll_up_everything()
    before = list(MetricDay.objects.order_by("pk").values())
    assert not any(roll_up(family, day, reveal()) for day in DAYS for family in ALL)
    assert list(MetricDay.objects.order_by("pk").values()) == before


def test_rollup_stopped_at_any_statement_is_repeated(team: Team):
    """The stop is an exception in front of each statement of a family's transaction."""
    roll_up_everything()
    expected, day = stored(), DAYS[3]
    MetricDay.objects.filter(day=day).delete()
    MetricDay.objects.create(day=day, metric="battles", dim="mode", key="gone", n=1, total=1)
    for family in DAILY:
        for statement in range(1, 9):
            left = iter(range(statement))

            def stop(execute, sql, params, many, context, left=left):
                if not sql.startswith(("SAVEPOINT", "ROLLBACK", "RELEASE")) and next(left, None) is None:
                    raise KeyboardInterrupt
                return execute(sql, params, many, context)

            try:
                with connection.execute_wrapper(stop):
                    roll_up(family, day, reveal())
                    break
            except KeyboardInterrupt:
                assert not MetricDay.objects.filter(
                    day=day, metric__in=[name for name, _span in family.metrics]
                ).exclude(key="gone")
    for family in ALL:
        roll_up(family, day, reveal())
    assert stored() == expected


def test_deleted_sessions_change_no_figure(team: Team):
    roll_up_everything()
    before = stored()
    for session in Session.objects.order_by("pk")[:12]:
        delete_session(session)
    roll_up_everything()
    assert stored() == before


def test_deleted_first_battle_leaves_the_return_as_it_was():
    person, [retention] = make.member(), [family for family in ALL if family.name == "retention"]
    first, second = (make.battle(make.model(), make.model(), actor=person) for _ in range(2))
    Battle.objects.filter(pk=first.pk).update(created_at=seeded.FIRST - timedelta(days=7))
    Battle.objects.filter(pk=second.pk).update(created_at=seeded.FIRST)
    roll_up(retention, DAYS[0], reveal())
    before = stored()
    assert [(key[5], figure[0]) for key, figure in before.items()] == [("1", 1)]
    delete_session(first.session)
    roll_up(retention, DAYS[0], reveal())
    assert stored() == before


def test_vote_of_a_later_day_is_counted_that_night(team: Team):
    roll_up_everything()
    late = next(vote for vote in Vote.objects.all() if vote.created_at.date() > vote.battle.created_at.date())
    after = late.created_at.date() + timedelta(days=1)
    MetricDay.objects.filter(day__gte=after).delete()
    with patch.object(job, "today", return_value=after + timedelta(days=30)):
        missing, changed = job.days_to_count()
    assert min(missing) == after
    assert late.battle.created_at.date() in changed


def test_last_snapshot_of_a_day_gives_the_scores():
    model = make.model()
    for hour, score in ((9, 1010.5), (17, 1020.25)):
        at = datetime.combine(DAYS[0], time(hour), UTC)
        run = AggregationRun.objects.create(
            slot=str(hour), state="done", started_at=at, finished_at=at, duration_ms=1, method="m", parameters_hash="h"
        )
        run.standings.create(model=model, score=score, votes=3, wins=1, losses=1, ties=1, both_bad=0, preliminary=False)
    for family in DAILY:
        roll_up(family, DAYS[0], reveal())
    [score] = MetricDay.objects.filter(metric="score")
    assert (score.key, score.n, float(score.total)) == (str(model.pk), 1, 1020.25)


def rebuild(*options: str) -> list[str]:
    out = StringIO()
    with patch.object(Reveal, "now", return_value=reveal()):
        call_command("rebuild_metrics", f"--from={DAYS[0]}", f"--to={DAYS[-1]}", *options, stdout=out)
    return out.getvalue().splitlines()


def test_rebuild_names_days_that_differ_and_lowers_nothing(team: Team):
    roll_up_everything()
    assert rebuild() == ["Nothing differed."]
    MetricDay.objects.filter(day=DAYS[1], metric="battles", dim="", team=None).update(n=999)
    changed = [f"{DAYS[1]} use: 1 figures differ.", "1 parts of days differed."]
    assert rebuild("--dry-run") == rebuild() == changed
    assert rebuild() == ["Nothing differed."]
    before = stored()
    for session in Session.objects.exclude(battles=None):
        delete_session(session)
    lines = rebuild("--losses")
    assert lines[-1] == "Nothing differed."
    assert any(line.startswith(f"{DAYS[0]} people day: ") and line.endswith("are left alone.") for line in lines)
    assert any("active_people" in line and line.endswith("would become 0") for line in lines)
    assert stored() == before


def test_savings_may_become_smaller():
    model, at = make.model(), datetime.combine(DAYS[0], time(9), UTC)
    family, moment = next(family for family in ALL if family.name == "router"), reveal()
    for expected in ("0.010", "0.045"):
        RoutingDecision.objects.create(
            created_at=at, query_type="code", type_confidence=1, policy="learned 1", target="model", dial=0.5,
            propensity=1, model=model, cost_expected=Decimal(expected), cost_best=Decimal("0.030"), reason="best",
        )  # fmt: skip
        roll_up(family, DAYS[0], moment)
    saved = MetricDay.objects.get(metric="saved", dim="", team=None)
    assert (saved.n, saved.total) == (2, Decimal("0.005"))
    RoutingDecision.objects.all().delete()
    assert roll_up(family, DAYS[0], moment).kept, "decisions are deleted by their age"
    saved.refresh_from_db()
    assert saved.n == 2


def test_return_elsewhere_is_not_told_to_a_team():
    left, right, person = make.model(), make.model(), make.member()
    team = make.team(person.user)
    for days, place in ((0, team), (2, None)):
        battle = make.battle(left, right, actor=person, place=place)
        at = datetime.combine(DAYS[0] + timedelta(days=days), time(9), UTC)
        Battle.objects.filter(pk=battle.pk).update(created_at=at)
    roll_up(next(family for family in ALL if family.name == "returning"), DAYS[0], reveal())
    back = {row.team_id: (row.n, row.total) for row in MetricDay.objects.filter(metric="funnel_back", dim="")}
    assert back == {None: (1, 1), team.pk: (1, 0)}


def test_vote_that_the_site_holds_is_counted_in_its_team():
    team, left, right = make.team(), make.model(), make.model()
    at = datetime.combine(DAYS[0], time(9), UTC)
    for reason, on_site in (("", True), ("anomaly", True), ("anomaly", False), ("duplicate_prompt", True)):
        vote_factory.cast(left, right, "left", excluded=reason, team=team, on_site_boards=on_site, created_at=at)
    for family in DAILY:
        roll_up(family, DAYS[0], reveal())
    rows = MetricDay.objects.filter(dim__in=["", "reason"]).values_list("metric", "team", "key", "n", "total")
    figures = {tuple(row[:3]): row[3:] for row in rows if row[0] in ("counted_share", "excluded_votes")}
    assert figures["counted_share", None, ""] == (4, 1)
    assert figures["counted_share", team.pk, ""] == (4, 2)
    assert figures["excluded_votes", None, "anomaly"] == (2, 2)
    assert figures["excluded_votes", team.pk, "anomaly"] == (1, 1)
    assert figures["excluded_votes", team.pk, ""] == (2, 2)


def test_next_battle_of_a_late_day_is_counted_that_night():
    person, left, right = make.member(), make.model(), make.model()
    first = make.battle(left, right, actor=person)
    later = make.battle(left, right, actor=person)
    Battle.objects.filter(pk=later.pk).update(session=first.session, created_at=datetime.combine(DAYS[0], time(9), UTC))
    begun = DAYS[0] - timedelta(days=20)
    Battle.objects.filter(pk=first.pk).update(created_at=datetime.combine(begun, time(9), UTC))
    Turn.objects.update(created_at=datetime.combine(begun, time(9), UTC), finished_at=None)
    MetricDay.objects.bulk_create(
        MetricDay(metric="funnel_back", day=begun + timedelta(days=n), n=0, total=0) for n in range(20)
    )
    with patch.object(job, "today", return_value=DAYS[1]):
        missing, changed = job.days_to_count()
    assert missing == {DAYS[0]}
    assert begun in changed


def test_figures_of_people_need_sessions_that_are_kept(settings):
    person = make.member()
    battle = make.battle(make.model(), make.model(), actor=person)
    Battle.objects.filter(pk=battle.pk).update(created_at=datetime.combine(DAYS[0], time(9), UTC))
    settings.ARENA_KEEP_DAYS = 14
    for family in ALL:
        roll_up(family, DAYS[0], reveal())
    people = MetricDay.objects.filter(metric__in=["active_people", "stickiness", "retention"], dim__in=["", "week"])
    assert {*people.values_list("metric", "span")} == {("active_people", span) for span in ("day", "7d", "week")}
    queries = {bucket: SeriesQuery(BY_NAME["active_people"], DAYS[0], DAYS[0], bucket) for bucket in Bucket}
    values = {bucket: read_series(query)["series"][0]["points"][0]["value"] for bucket, query in queries.items()}
    assert values == {Bucket.DAY: 1, Bucket.WEEK: 1, Bucket.MONTH: None}
    for name in ("active_people", "active_people_28d", "stickiness", "retention"):
        assert "Not counted for longer than 14 days" in definition_of(BY_NAME[name])
    for name in ("active_people_7d", "battles", "funnel_back"):
        assert "Not counted" not in definition_of(BY_NAME[name])
    settings.ARENA_KEEP_DAYS = 0
    roll_up(next(family for family in ALL if family.name == "people month"), DAYS[0], reveal())
    assert read_series(queries[Bucket.MONTH])["series"][0]["points"][0]["value"] == 1


def test_day_without_its_night_is_counted_later(monkeypatch):
    person = make.member()
    battle = make.battle(make.model(), make.model(), actor=person)
    Battle.objects.filter(pk=battle.pk).update(created_at=datetime(2026, 3, 6, 9, tzinfo=UTC))
    monkeypatch.setattr(timezone, "now", lambda: datetime(2026, 3, 6, 12, tzinfo=UTC))
    job.roll_up_today()
    monkeypatch.setattr(timezone, "now", lambda: datetime(2026, 3, 23, 2, 20, tzinfo=UTC))  # the machine was off
    job.roll_up_night()
    of_day = MetricDay.objects.filter(day=date(2026, 3, 6), dim="", team=None)
    assert {"7d", "28d"} <= {*of_day.filter(metric="active_people").values_list("span", flat=True)}
    assert job.days_to_count()[0] == set()


def test_first_hour_of_a_day_completes_yesterday(monkeypatch):
    monkeypatch.setattr(timezone, "now", lambda: datetime(2026, 3, 7, 1, 5, tzinfo=UTC))
    counted = []
    monkeypatch.setattr(job, "roll_up", lambda family, day, moment: counted.append(day))
    job.roll_up_today()
    assert {*counted} == {date(2026, 3, 6), date(2026, 3, 7)}
    counted.clear()
    monkeypatch.setattr(timezone, "now", lambda: datetime(2026, 3, 7, 2, 5, tzinfo=UTC))
    job.roll_up_today()
    assert {*counted} == {date(2026, 3, 7)}


def test_money_without_a_battle_is_counted(monkeypatch):
    SpendingDay.objects.create(day=date(2026, 3, 4), account="site", spent=3, reserved=0)
    monkeypatch.setattr(timezone, "now", lambda: datetime(2026, 3, 20, 2, 20, tzinfo=UTC))
    job.roll_up_night()
    assert MetricDay.objects.get(metric="spent", day=date(2026, 3, 4)).total == 3
