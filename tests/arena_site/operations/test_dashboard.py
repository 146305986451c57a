from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.db import connection
from django.test import Client
from django.utils import timezone

from arena_site.moderators import MODERATORS
from arena_site.operations import facts
from arena_site.operations.activity import read_activity
from arena_site.operations.dashboard import CHART_HEIGHT, Dashboard, read_dashboard
from battles.actions import cast_vote
from battles.models import Battle, Call, ModerationCase, Turn, Vote
from common.valkey import heartbeat
from common.valkey.connections import connection as valkey
from models_registry.models import Breaker, LanguageModel, SpendingDay, budgets
from models_registry.models.inquiries import inquiries_exist
from models_registry.models.ledger import provider_account
from tests import make

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _all_processes_are_alive() -> None:
    for name in heartbeat.EXPECTED:
        valkey().set(f"heartbeat:{name}", "alive")


def page(user: Any, path: str = "/admin/") -> str:
    client = Client()
    client.force_login(user)
    response = client.get(path)
    assert response.status_code == 200
    return response.text


def voted_battle(left: LanguageModel, right: LanguageModel, **made: Any) -> Vote:
    actor = make.visitor()
    battle = make.answered_battle(left, right, actor=actor)
    Battle.objects.filter(pk=battle.pk).update(**made)
    return cast_vote(battle=battle, choice=Vote.Choice.LEFT, actor=actor)


def test_todays_battles_are_counted_by_mode_and_state():
    one, two = make.model(), make.model()
    voted_battle(one, two)
    make.battle(one, two)
    void = make.battle(one, two)
    Battle.objects.filter(pk=void.pk).update(voided_at=timezone.now())
    yesterday = make.battle(one, two)
    Battle.objects.filter(pk=yesterday.pk).update(created_at=timezone.now() - timedelta(days=1, minutes=1))
    direct = make.battle(one, two)
    Battle.objects.filter(pk=direct.pk).update(mode=Battle.Mode.DIRECT)
    assert [(mode.mode, mode.begun, mode.voted, mode.void, mode.open) for mode in read_activity().battles_today()] == [
        ("blind", 3, 1, 1, 1), ("side_by_side", 0, 0, 0, 0), ("compare", 0, 0, 0, 0), ("direct", 1, 0, 0, 1),
    ]  # fmt: skip


def test_votes_are_charted_by_hour(administrator: Any):
    one, two = make.model(), make.model()
    for _ in range(2):
        voted_battle(one, two)
    votes = read_activity().votes_by_hour()
    assert (len(votes), sum(votes)) == (24, 2)
    bars = read_dashboard(administrator).votes_chart.bars
    assert [bar.number for bar in bars] == votes
    assert max(bar.height for bar in bars) == CHART_HEIGHT
    assert [bar.hours_ago for bar in bars] == list(range(23, -1, -1))


def test_turns_are_stuck_after_30_seconds_only():
    one, two, now = make.model(), make.model(), timezone.now()
    for age, changes in (
        (1, {}),
        (90, {"queued_at": now - timedelta(seconds=90)}),
        (90, {}),  # woken again a moment ago
        (90, {"state": Turn.State.ANSWERING, "lease_until": now + timedelta(seconds=60)}),
        (90, {"state": Turn.State.ANSWERING, "lease_until": now - timedelta(seconds=60)}),
        (90, {"state": Turn.State.DONE}),
    ):
        turns = Turn.objects.filter(battle=make.battle(one, two))
        turns.update(created_at=now - timedelta(seconds=age), **changes)
    queue = facts.queue()
    assert (queue.waiting, queue.answering, queue.stuck) == (3, 2, 2)
    assert 90 <= queue.age_s < 150


def test_warnings_are_shown_first(administrator: Any, settings: Any):
    one = make.model()
    settings.ARENA_BUDGETS = {**settings.ARENA_BUDGETS, "site": 10}
    SpendingDay.objects.create(day=timezone.now().date(), account="site", spent=9, reserved="0.5")
    Breaker.objects.create(model=one, opened_at=timezone.now(), probe_at=timezone.now(), reason="cut")
    valkey().delete("heartbeat:beat")
    warnings = [sentence for sentence, _address in read_dashboard(administrator).warnings]
    assert warnings == [
        "beat is not heard.", "Fewer than two models can be drawn.", "95 % of today's budget of the site is used.",
    ]  # fmt: skip
    assert "beat is not heard." in page(administrator)


def test_waiting_cases_are_a_linked_warning(administrator: Any):
    one, two = make.model(), make.model()
    for state in ("waiting", "waiting", "dismissed"):
        ModerationCase.objects.create(battle=make.battle(one, two), state=state)
    assert read_dashboard(administrator).warnings == [
        ("2 cases wait for moderation.", "/admin/battles/moderationcase/")
    ]


def test_healthy_arena_has_no_warnings(administrator: Any):
    for _ in range(2):
        make.model()
    assert read_dashboard(administrator).warnings == []
    assert "operations-warnings" not in page(administrator)


def test_app_page_has_no_dashboard(administrator: Any):
    shown = page(administrator, "/admin/battles/")
    assert "/admin/battles/vote/" in shown
    assert "operations-panel" not in shown
    assert "operations-panel" in page(administrator)


def test_unavailable_models_are_listed_first(administrator: Any):
    well, broken = make.model(), make.model()
    Breaker.objects.create(model=broken, opened_at=timezone.now(), probe_at=timezone.now(), reason="cut")
    answer = make.answered_battle(well, broken).turns.get().answers.first()
    for fence, (state, ms) in enumerate([("done", 100), ("done", 300), ("failed", None)]):
        Call.objects.create(
            answer=answer, model=well, attempt=1, fence=fence, state=state, first_token_ms=ms, total_ms=ms and ms * 10
        )
    seen = read_dashboard(administrator)
    assert [row.model for row in seen.models] == [broken, well]
    assert (seen.calls.calls, seen.calls.error_rate) == (3, "33 %")
    shown = page(administrator)
    assert "200, 290 ms" in shown
    assert "3 calls, 33 % failed." in shown


def test_cost_is_shown_per_provider_with_budget(administrator: Any):
    provider = make.model().provider
    type(provider).objects.update(name="Paid GmbH", daily_budget=4)
    SpendingDay.objects.create(day=timezone.now().date(), account="site", spent="1.25")
    SpendingDay.objects.create(day=timezone.now().date(), account=provider_account(provider.pk), spent=1)
    spending = [(row.name, str(row.spent), row.percent) for row in read_dashboard(administrator).spending]
    assert spending == [("", "1.25000000", None), ("Paid GmbH", "1.00000000", 25)]
    assert "Paid GmbH" in page(administrator)


def test_moderators_see_no_money_models_or_machine():
    moderator = make.user("moderator@example.org", is_staff=True)
    moderator.groups.add(Group.objects.get(name=MODERATORS))
    seen = read_dashboard(moderator)
    assert seen.battles is not None
    assert seen.sign_ups == 1
    assert (seen.spending, seen.models, seen.machine, seen.silent_processes) == (None, None, None, [])
    shown = page(moderator)
    assert "Battles today" in shown
    assert "Cost today" not in shown


def test_staff_without_permissions_sees_nothing():
    assert read_dashboard(make.user("new@example.org", is_staff=True)) == Dashboard()


def test_dashboard_query_count_is_fixed(administrator: Any, django_assert_num_queries: Callable[[int], Any]):
    one, two = make.model(), make.model()
    SpendingDay.objects.create(day=timezone.now().date(), account="site", spent=1)
    client = Client()
    client.force_login(administrator)
    budgets.chosen()  # cached for seconds
    inquiries_exist()  # cached for good
    for number in (1, 6):
        for _ in range(number):
            voted_battle(one, two)
            make.battle(make.model(), make.model())
        with django_assert_num_queries(31):
            client.get("/admin/")


@pytest.mark.parametrize(
    ("ask", "indexes"),
    [
        (
            lambda: read_activity().battles_today(),
            [
                "",
                "battles_by_time",
                "votes_by_time",
                "votes_by_time",
                "void_battles_by_time",
            ],  # first the time
        ),
        (facts.queue, ["turns_in_work"]),
    ],
)
def test_dashboard_queries_of_large_tables_use_indexes(ask: Callable[[], object], indexes: list[str]):
    queries: list[tuple[str, Any]] = []

    def record(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        queries.append((sql, params))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(record):
        ask()
    with connection.cursor() as cursor:
        # A skip scan of this index costs the same on an empty table. The test's rollback restores it.
        cursor.execute("DROP INDEX votes_of_a_voter_by_time")
        # PostgreSQL prefers sequential scans or unrelated indexes for small tables.
        for way in ("seqscan", "indexscan", "indexonlyscan", "mergejoin", "nestloop"):
            cursor.execute(f"SET LOCAL enable_{way} = off")
        for (sql, parameters), index in zip(queries, indexes, strict=True):
            cursor.execute(f"EXPLAIN {sql}", parameters)
            assert index in str(cursor.fetchall())


def test_dashboard_warns_when_valkey_is_away(administrator: Any, monkeypatch: pytest.MonkeyPatch):
    def away() -> None:
        raise OSError

    monkeypatch.setattr(heartbeat, "missing", away)
    assert "Valkey is not heard." in page(administrator)
