from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.db import connection
from django.test import Client
from django.utils import timezone

from accounts import audit
from accounts.models import AuditEntry
from arena_site.moderators import MODERATORS
from arena_site.operations import facts
from arena_site.operations.activity import read_activity
from arena_site.operations.dashboard import CHART_HEIGHT, Dashboard, read_dashboard
from arena_site.operations.first_steps import BACKUP
from battles.actions import cast_vote
from battles.models import Battle, Call, ModerationCase, Report, Turn, Vote
from common.valkey import heartbeat
from common.valkey.connections import connection as valkey
from leaderboard.models import OVERALL, AggregationRun
from models_registry.models import Breaker, Budget, LanguageModel, SpendingDay, budgets
from models_registry.models.inquiries import inquiries_exist
from models_registry.models.ledger import provider_account
from models_registry.versions import set_price
from site_content.actions import publish_page
from site_content.models import PageVersion, SiteIdentity
from tests import make
from tests.pages import compact

AGGREGATIONS = "/admin/leaderboard/aggregationrun/"

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
    make.stored_battle(one, two)
    assert [(mode.mode, mode.begun, mode.voted, mode.void, mode.open) for mode in read_activity().battles_today()] == [
        ("blind", 3, 1, 1, 1), ("side_by_side", 0, 0, 0, 0), ("compare", 0, 0, 0, 0), ("direct", 1, 0, 0, 1),
        ("review", 1, 0, 0, 1),
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
    ten = timezone.now().replace(hour=10, minute=0)
    Breaker.objects.create(model=one, opened_at=ten, probe_at=ten, reason="cut")
    valkey().delete("heartbeat:beat")
    warnings = [sentence for sentence, _address in read_dashboard(administrator).warnings]
    assert warnings == [
        "beat is not heard.", "Fewer than two models can be drawn.",
        f"{one} failed repeatedly: not drawn; probed from 10 a.m. on.",
        "95 % of today's budget of the site is used.",
    ]  # fmt: skip
    assert "beat is not heard." in page(administrator)


def test_waiting_cases_and_reports_are_linked_warnings(administrator: Any):
    one, two = make.model(), make.model()
    for state in ("waiting", "waiting", "dismissed"):
        ModerationCase.objects.create(battle=make.battle(one, two), state=state)
    reported = ModerationCase.objects.create(battle=make.battle(one, two))
    for _ in range(2):
        Report.objects.create(case=reported, user=make.user(), reason="insults")
    assert read_dashboard(administrator).warnings == [
        (
            "1 reported battle waits for a moderator.",
            "/admin/battles/moderationcase/?by=people&state__exact=waiting",
        ),
        ("2 flagged prompts wait for a moderator.", "/admin/battles/moderationcase/"),
    ]


def calls_of(model: LanguageModel, *errors: str) -> None:
    """Store a call per error; "" is an answer."""
    answer = make.answered_battle(model, make.model()).turns.get().answers.first()
    for fence, error in enumerate(errors):
        state = Call.State.FAILED if error else Call.State.DONE
        Call.objects.create(answer=answer, model=model, attempt=1, fence=fence, state=state, error=error)


def test_models_that_fail_or_are_silent_are_warnings(administrator: Any):
    failing, silent, lucky = make.model(), make.model(), make.model()
    calls_of(failing, "cut", "cut", "empty", "")
    calls_of(silent, "empty", "empty", "empty", "cut")
    calls_of(lucky, "cut", "cut", "cut", "", "", "", "")
    assert set(read_dashboard(administrator).warnings) == {
        (f"{model} {words}", f"/admin/models_registry/languagemodel/{model.pk}/change/")
        for model, words in (
            (failing, "failed in 3 of 4 calls of the last hour."),
            (silent, "answered nothing in 3 of 4 calls of the last hour."),
        )
    }


def test_old_backup_and_old_boards_are_warnings(administrator: Any):
    for _ in range(2):
        make.model()
    long_ago = timezone.now() - timedelta(days=8, minutes=1)
    AuditEntry.objects.create(action=BACKUP, created_at=long_ago)
    AggregationRun.objects.create(
        slot="long ago", scope=OVERALL, state=AggregationRun.State.UNCHANGED, duration_ms=1, started_at=long_ago,
        finished_at=long_ago,
    )  # fmt: skip
    assert read_dashboard(administrator).warnings == [
        ("The boards were last computed 1 week, 1 day ago.", AGGREGATIONS),
        ("The last backup was made 1 week, 1 day ago.", ""),
    ]
    audit.record(None, BACKUP, "database and uploads")
    assert [address for _sentence, address in read_dashboard(administrator).warnings] == [AGGREGATIONS]


@pytest.mark.slow
def test_first_steps_are_listed_until_done(administrator: Any):
    assert [step.is_done for step in read_dashboard(administrator).first_steps.steps] == [
        False, False, True, False, False, False, False,
    ]  # fmt: skip
    shown = page(administrator)
    assert "1 of 7 done" in compact(shown)
    one, two = make.model(), make.model()
    set_price(one, Decimal(1), Decimal(1))
    assert not read_dashboard(administrator).first_steps.steps[2].is_done
    Budget.objects.create(whose="site", dollars=5)
    voted_battle(one, two)
    SiteIdentity.objects.create(name="Acme arena")
    publish_page(page=PageVersion.Page.LEGAL, texts={"en": "Acme"}, must_be_accepted=False, by=None)
    for action in ("test model", BACKUP):
        audit.record(None, action, "it")
    assert read_dashboard(administrator).first_steps.are_done
    assert "First steps" not in page(administrator)


def test_moderators_have_no_first_steps():
    moderator = make.user("moderator@example.org", is_staff=True)
    moderator.groups.add(Group.objects.get(name=MODERATORS))
    assert "First steps" not in page(moderator)
    assert "Nothing needs attention." not in page(moderator)


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


@pytest.mark.slow
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
        with django_assert_num_queries(32):
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
