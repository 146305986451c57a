from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission
from django.test import Client
from django.utils import timezone

from accounts.actions import delete_account
from accounts.actor import Actor
from accounts.claims import visitor_claimed
from accounts.personal_data import collect_personal_data
from arena_site.moderators import MODERATORS
from arena_site.operations import metrics
from arena_site.operations.auto_mode import Part, read_auto_mode
from arena_site.operations.dashboard import read_dashboard
from arena_site.tasks import purge
from battles.actions import cast_vote, delete_session
from battles.auto.port import RoutingRequest, heaviest_weight
from battles.auto.store import store_decision
from battles.models import Battle, Call, RoutingDecision, Vote
from common.valkey import counters
from gateway.models import Exchange
from routing.models import DecisionOutcome, RouterSnapshot, RoutingThresholds
from tests import make
from tests.routing.rows import decision

pytestmark = pytest.mark.django_db


@pytest.fixture
def decided() -> None:
    """Ten decisions of the last day and one that is older."""
    model = make.model(name="Ada")
    for number in range(6):
        decision(
            model, hours_ago=number / 10, query_type="coding", confidence=0.95, cost_expected="0.001",
            cost_best="0.003" if number % 2 else "0.005",
        )  # fmt: skip
    decision(None, hours_ago=0.5, explored=True, confidence=0.42, propensity=0.5)
    decision(model, hours_ago=0.5, policy="rule 1", reason="rule", confidence=1)
    decision(model, hours_ago=3, target="fallback", reason="fallback")
    decision(None, hours_ago=20, target="refused", reason="refused")
    decision(model, hours_ago=30)


def test_decisions_of_a_day_are_summed_up(decided: None):
    RoutingThresholds.objects.create(max_explored_share=0.3)
    auto = read_auto_mode()
    assert auto.decisions == 10
    assert auto.targets == [
        Part("one model", 7, 70), Part("battle", 1, 10), Part("another model after a failure", 1, 10),
        Part("refused", 1, 10),
    ]  # fmt: skip
    assert auto.types == [Part("Coding", 6, 60), Part("General chat", 4, 40)]
    assert (len(auto.by_hour), sum(auto.by_hour)) == (24, 10)
    assert [(part.label, part.decisions) for part in auto.confidences if part.decisions] == [
        ("0.9–1.0", 7),
        ("0.4–0.5", 1),
    ]
    assert (round(auto.exploration.share, 3), auto.exploration.cap) == (round(1 / 7, 3), 0.3)
    assert (auto.fallbacks, auto.refused) == (1, 1)


def test_saving_has_a_normal_interval(decided: None):
    saving = read_auto_mode().saving
    assert (saving.decisions, saving.percent) == (6, 75)
    assert saving.total == pytest.approx(0.018)
    # Savings of 0.004 and 0.002, three each: sd 0.001095, times the root of 6.
    assert saving.high - saving.total == saving.total - saving.low == pytest.approx(1.96 * 0.0010954 * 6**0.5, rel=1e-3)


def test_dashboard_shows_auto_mode_with_newest_training(decided: None, administrator: Any):
    heads = [{"name": "labels", "passed": True}, {"name": "words", "passed": False}]
    RouterSnapshot.objects.create(slot="1", state="published", votes=1234, heads=heads)
    RouterSnapshot.objects.create(slot="2", state="worse")
    client = Client()
    client.force_login(administrator)
    page = client.get("/admin/").text
    for words in ("Auto mode, last 24 hours", "14 % of at most 20 %", "not better than the one before", "1,234 votes"):
        assert words in page
    assert "$0.0180" in page


def test_chart_of_decisions_needs_no_right_on_battles(decided: None, client: Client):
    staff = make.user("staff@example.org", is_staff=True)
    staff.user_permissions.add(Permission.objects.get(codename="view_routingdecision"))
    client.force_login(staff)
    assert 'viewBox="0 0 240 48"' in client.get("/admin/").text


def test_arena_without_auto_mode_has_no_panel(administrator: Any):
    assert read_dashboard(administrator).auto_mode is None
    moderator = make.user("moderator@example.org", is_staff=True)
    moderator.groups.add(Group.objects.get(name=MODERATORS))
    decision(make.model())
    assert read_dashboard(moderator).auto_mode is None
    assert read_dashboard(administrator).auto_mode is not None


def test_auto_mode_query_count_is_fixed(decided: None, django_assert_num_queries: Callable[[int], Any]):
    for _ in range(2):
        with django_assert_num_queries(8):
            read_auto_mode()
        for number in range(5):
            decision(make.model(), hours_ago=number, query_type=f"type-{number}")


def test_stored_decisions_are_counted_by_target(settings: Any, django_capture_on_commit_callbacks: Any, client: Client):
    settings.ARENA_METRICS_NETWORKS = ["127.0.0.1/32"]
    make.model(), make.model()
    actor, request = make.member(), RoutingRequest(("Hello",))
    counters._pending.clear()
    routed = heaviest_weight(request, actor)
    before = counters.read().get("decisions", {}).get(("model", routed.query_type), 0)
    with django_capture_on_commit_callbacks(execute=True):
        store_decision(actor=actor, request=request, routed=routed)
    counters.flush()
    metrics._page.invalidate()
    series = f'arena_route_decisions_total{{target="model",type="{routed.query_type}"}}'
    assert f"{series} {before + 1}.0" in client.get("/metrics").text


def voted(model_pair: tuple[Any, Any]) -> Battle:
    actor = make.member()
    battle = make.answered_battle(*model_pair, actor=actor)
    cast_vote(actor=actor, battle=battle, choice=Vote.Choice.LEFT)
    return battle


@pytest.mark.parametrize(("keep_days", "decision_days"), [(0, 90), (365, 90), (30, 30)])
def test_old_decisions_are_deleted_but_those_of_votes(settings: Any, keep_days: int, decision_days: int):
    settings.ARENA_KEEP_DAYS = keep_days
    pair = make.model(), make.model()
    old = 24 * (decision_days + 1)
    kept = decision(pair[0], hours_ago=old, battle=voted(pair))
    gone = decision(pair[0], hours_ago=old)
    open_battle = decision(pair[0], hours_ago=old, battle=make.answered_battle(*pair))
    new = decision(pair[0], hours_ago=24 * (decision_days - 1))
    DecisionOutcome.objects.create(decision=gone, good=True)
    answer = make.answered_battle(*pair).turns.get().answers.first()
    call = Call.objects.create(answer=answer, model=pair[0], attempt=1, fence=9)
    exchange = Exchange.objects.create(asked_model="auto", decision=new, call=call)
    Exchange.objects.filter(pk=exchange.pk).update(created_at=timezone.now() - timedelta(hours=old))
    purge()
    assert set(RoutingDecision.objects.values_list("pk", flat=True)) == {kept.pk, new.pk}
    assert not RoutingDecision.objects.filter(pk=open_battle.pk).exists()
    assert (Exchange.objects.count(), DecisionOutcome.objects.count()) == (0, 0)
    assert Call.objects.filter(pk=call.pk).exists()


def test_members_data_has_decisions_and_exchanges():
    actor = make.member()
    ada, bob = make.model(slug="ada"), make.model(slug="bob")
    battle = make.answered_battle(ada, bob, actor=actor)
    decision(ada, person=actor.key, runner_up=bob)
    decision(ada, person=actor.key, target="arena", runner_up=bob, battle=battle)
    decision(ada, person=make.member().key)
    Exchange.objects.create(user=actor.user, asked_model="battle", battle=battle, cost=1, texts={"messages": ["hi"]})
    Exchange.objects.create(user=make.user(), asked_model="auto")

    def collected() -> tuple[list[Any], list[Any]]:
        data = collect_personal_data(actor.user)
        decisions = [(row["target"], row["model"], row["runner_up"]) for row in data["decisions_of_auto_mode"]]
        return decisions, [(row["asked_model"], row["cost"], row["texts"]) for row in data["gateway_exchanges"]]

    assert collected() == (
        [("model", "ada", "bob"), ("arena", None, None)], [("battle", None, {"messages": ["hi"]})]
    )  # fmt: skip
    cast_vote(actor=actor, battle=battle, choice=Vote.Choice.LEFT)
    assert collected()[0][1] == ("arena", "ada", "bob")
    assert collected()[1][0][1] == 1


def test_deleted_account_leaves_no_person_and_no_texts():
    actor = make.member()
    row = decision(make.model(), person=actor.key)
    exchange = Exchange.objects.create(user=actor.user, asked_model="auto", texts={"a": "b"}, session_digest="d")
    other = decision(make.model(), person="user:999999")
    delete_account(actor.user)
    row.refresh_from_db()
    other.refresh_from_db()
    exchange.refresh_from_db()
    assert (row.person, other.person) == ("", "user:999999")
    assert (exchange.user, exchange.texts, exchange.session_digest) == (None, None, "")


def test_deleted_session_leaves_decisions_without_person():
    actor = make.visitor()
    battle = make.answered_battle(make.model(), make.model(), actor=actor)
    row = decision(make.model(), person=actor.key, session=battle.session)
    delete_session(battle.session)
    row.refresh_from_db()
    assert row.person == ""


def test_claimed_visitor_keeps_decisions():
    visitor, member = make.visitor(), make.member()
    row = decision(make.model(), person=visitor.key)
    visitor_claimed.send(sender=None, visitor=visitor.visitor, user=member.user)
    row.refresh_from_db()
    assert row.person == Actor(user=member.user).key
