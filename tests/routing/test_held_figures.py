"""Routers and figures that a process holds: read in the background, replaced when a training is published."""

import threading
from decimal import Decimal

import pytest
from django.utils import timezone

from accounts.actor import Actor
from battles.auto.port import RoutingRequest, route
from battles.models import Battle, Call, Side
from common.cache import RefreshedCached
from leaderboard.models import AggregationRun, Standing
from models_registry.models import LanguageModel, Price
from routing.deciding import router_cache
from routing.deciding.call_medians import call_medians, read_call_medians
from routing.models import RouterSnapshot
from tests import make
from tests.routing.trained import publish
from tests.waiting import wait_for

pytestmark = pytest.mark.django_db

CHAT = RoutingRequest(("How are you today?",), dial=1.0, allow_battle=False)
CODE = RoutingRequest(("Write a Python function that reverses a list.",), dial=1.0, allow_battle=False)


def chosen(request: RoutingRequest) -> tuple[str, str]:
    routed = route(request, Actor())
    return routed.models[0].slug, routed.policy.partition(" ")[0]


def test_published_router_decides_until_the_next():
    ada, bob = (make.model(slug=slug) for slug in ("ada", "bob"))
    assert chosen(CHAT) == ("ada", "weights")
    publish("1", [ada, bob], [[0.0, 0.0], [1.0, -2.0]])
    router_cache.forget()
    assert (chosen(CHAT), chosen(CODE)) == (("bob", "learned"), ("ada", "learned"))
    publish("2", [ada, bob], [[3.0, 0.0], [1.0, 0.0]])
    publish("3", [ada, bob], [[0.0, 0.0], [9.0, 0.0]], state="worse")
    router_cache.forget()
    assert chosen(CHAT) == ("ada", "learned")
    assert route(CHAT, Actor()).policy == f"learned {RouterSnapshot.objects.get(slot='2').pk}"


def test_model_unknown_to_the_router_can_be_chosen():
    ada, bob = (make.model(slug=slug) for slug in ("ada", "bob"))
    publish("1", [ada], [[-2.0, 0.0]])
    routed = route(CHAT, Actor())
    assert (routed.models, routed.reason) == ((bob,), "best")


def test_damaged_router_leaves_weight_and_price(caplog):
    make.model(slug="ada"), make.model(slug="bob")
    RouterSnapshot.objects.create(slot="1", state="published", parameters=b"damaged", votes=900)
    assert chosen(CHAT) == ("ada", "weights")
    assert "is not used" in caplog.text


def test_best_of_the_board_is_left_for_a_surely_better_one():
    ada, bob = (make.model(slug=slug) for slug in ("ada", "bob"))
    now = timezone.now()
    board = AggregationRun.objects.create(slot="1", state="done", started_at=now, finished_at=now, duration_ms=1)
    counts = {"votes": 9, "wins": 5, "losses": 4, "ties": 0, "both_bad": 0, "preliminary": False}
    for model, score in ((ada, 1600), (bob, 1400)):
        Standing.objects.create(run=board, model=model, score=score, **counts)
    publish("1", [ada, bob], [[1.0, 0.0], [1.005, 2.0]])
    assert (chosen(CHAT), chosen(CODE)) == (("ada", "learned"), ("bob", "learned"))


def call(model: LanguageModel, battle: Battle | None, tokens: int, **fields: object) -> None:
    answer = None
    if battle is not None:
        side = Side.objects.filter(battle=battle, model=model).get()
        answer = battle.turns.get().answers.get(side=side)
    Call.objects.create(
        model=model, answer=answer, attempt=1, fence=1, state="done", completion_tokens=tokens,
        first_token_ms=tokens * 2, **fields,
    )  # fmt: skip


def test_medians_have_no_call_of_an_undecided_battle():
    ada, bob = (make.model(slug=slug) for slug in ("ada", "bob"))
    open_battle, void, chat = (make.battle(ada, bob) for _ in range(3))
    Battle.objects.filter(pk=chat.pk).update(mode="direct", categories=["coding"])
    Battle.objects.filter(pk=void.pk).update(voided_at="2020-01-01T00:00Z")
    now = timezone.now()
    AggregationRun.objects.create(slot="1", state="done", started_at=now, finished_at=now, duration_ms=1)
    call(ada, open_battle, 1_000)
    call(ada, void, 100)
    call(ada, chat, 300)
    call(bob, None, 50, purpose="gateway", lease_until=now)
    call(bob, None, 7_000, purpose="item", lease_until=now)
    medians = read_call_medians()
    assert medians.tokens == {"": {ada.pk: 200, bob.pk: 50}, "coding": {ada.pk: 300}}
    assert medians.first_token_ms == {ada.pk: 400, bob.pk: 100}


def test_expected_cost_uses_the_answers_to_such_questions():
    ada = make.model(slug="ada", parameters={"max_tokens": 1_000})
    Price.objects.create(model=ada, input_per_million=4, output_per_million=1_000)
    chat = make.battle(ada, make.model(slug="bob"))
    Battle.objects.filter(pk=chat.pk).update(mode="direct", categories=["coding"])
    only = {"models": ("ada",)}
    code, talk = RoutingRequest(CODE.prompts, **only), RoutingRequest(CHAT.prompts, **only)
    half_the_cap = route(talk, Actor()).cost_expected
    assert round(half_the_cap, 3) == Decimal("0.5")
    call(ada, chat, 30)
    call_medians.invalidate()
    assert round(route(code, Actor()).cost_expected, 3) == Decimal("0.03")


def test_expired_value_is_used_while_the_next_one_loads():
    values, loads = iter(["old", "new"]), threading.Event()

    def load() -> str:
        value = next(values)
        if value == "new":
            loads.wait(10)
        return value

    cached = RefreshedCached(load, ttl_s=0.0)
    assert (cached(), cached(), cached()) == ("old", "old", "old")
    loads.set()
    cached.ttl_s = 3600
    wait_for(lambda: cached() == "new")


def test_failed_load_keeps_the_value(caplog):
    values = iter(["old"])
    cached = RefreshedCached(lambda: next(values), ttl_s=0.0)
    assert cached() == "old"
    cached()
    wait_for(lambda: "could not be loaded" in caplog.text)
    assert cached() == "old"
