from dataclasses import replace
from decimal import Decimal

import pytest
from django.test import override_settings

from accounts.actor import Actor
from battles.auto.options import RoutingContext
from battles.auto.port import PreviousAnswer, RoutingRequest, Target, route
from battles.errors import NoModelAvailable, NoModelFits
from battles.labels import Labels
from common.errors import InvalidInput
from models_registry.models import Breaker, LanguageModel, Price, Provider
from routing.deciding.call_medians import CallMedians, call_medians
from routing.deciding.policy import decide
from routing.models import RoutingThresholds, Rule
from tests import make
from tests.routing import trained

pytestmark = pytest.mark.django_db

CHAT = RoutingRequest(("How are you today?",), allow_battle=False)
CODE = RoutingRequest(("Write a Python function that reverses a list.",), allow_battle=False)
ANYBODY = Actor()
OPEN = {"reason": "failed", "opened_at": "2026-01-01T00:00Z", "probe_at": "2099-01-01T00:00Z"}


@pytest.fixture
def models() -> tuple[LanguageModel, LanguageModel, LanguageModel]:
    """A cheap, a good and a dear model."""
    made = tuple(make.model(slug=name, name=name.title()) for name in ("cheap", "good", "dear"))
    for model, dollars in zip(made, (1, 4, 36), strict=True):
        Price.objects.create(model=model, input_per_million=dollars, output_per_million=dollars)
    return made


def chosen(request: RoutingRequest) -> tuple[str, str, str]:
    routed = route(request, ANYBODY)
    return routed.target, routed.models[0].slug, routed.reason


def test_without_votes_weight_and_price_decide(models):
    LanguageModel.objects.filter(slug="good").update(weight=3)
    assert chosen(replace(CHAT, dial=1.0)) == ("model", "good", "few_votes")
    assert chosen(replace(CHAT, dial=0.0)) == ("model", "cheap", "few_votes")


def test_router_chooses_the_best_for_the_question(models, monkeypatch):
    cheap, good, dear = models
    trained.hold(
        monkeypatch, {cheap: 0.0, good: 1.0, dear: 1.2}, ranking=[dear, good, cheap], price=200,
        by_label={"coding": {good.pk: 3.0}},
    )  # fmt: skip
    assert chosen(replace(CHAT, dial=1.0)) == ("model", "dear", "best")
    assert chosen(replace(CODE, dial=1.0)) == ("model", "good", "best")
    assert chosen(replace(CHAT, dial=0.0)) == ("model", "cheap", "best")
    routed = route(replace(CODE, dial=1.0), ANYBODY)
    assert (routed.query_type, routed.policy, routed.runner_up) == ("coding", "learned 7", dear)
    assert routed.details == {"win_chance": 0.9526, "price_share": pytest.approx(1 / 9, abs=0.001)}
    assert [alternative.model.slug for alternative in routed.alternatives] == ["good", "dear", "cheap"]


def test_limits_of_cost_and_time_are_hard(models, monkeypatch):
    cheap, good, dear = models
    trained.hold(monkeypatch, {cheap: 0.0, good: 1.0, dear: 2.0}, ranking=[dear, good, cheap])
    dear_cost = route(replace(CHAT, dial=1.0), ANYBODY).cost_expected
    assert chosen(replace(CHAT, dial=1.0, max_cost=dear_cost / 2)) == ("model", "good", "cap")
    with pytest.raises(NoModelFits) as refusal:
        route(replace(CHAT, max_cost=Decimal("1e-9")), ANYBODY)
    assert list(refusal.value.fields) == ["max_cost"]
    with pytest.raises(NoModelFits) as refusal:  # no call was ever timed
        route(replace(CHAT, max_first_token_ms=50), ANYBODY)
    assert list(refusal.value.fields) == ["max_first_token_ms"]


def test_fast_mode_names_the_rule_of_a_slow_model(models):
    call_medians._store(CallMedians({}, {model.pk: 100 * place for place, model in enumerate(models, start=1)}))
    Rule.objects.create(target="model", model=models[2], is_active=True)
    with pytest.raises(NoModelFits) as refusal:
        route(replace(CHAT, fast=True), ANYBODY)
    assert list(refusal.value.fields) == ["model"]


def test_unknown_price_is_over_a_limit_of_cost(models, monkeypatch):
    monkeypatch.setenv("HOSTED_KEY", "sk-1")
    hosted = Provider.objects.create(name="Hosted", base_url="http://127.0.0.1:8/v1", api_key_env="HOSTED_KEY")
    unpriced = make.model(slug="unpriced", weight=9)
    LanguageModel.objects.filter(pk=unpriced.pk).update(provider=hosted)
    make.model(slug="own", weight=8)
    assert chosen(replace(CHAT, dial=1.0))[1] == "unpriced"
    assert chosen(replace(CHAT, dial=1.0, max_cost=Decimal(1)))[1] == "own"
    Rule.objects.create(target="model", model=unpriced, max_cost=Decimal(1), is_active=True)
    with pytest.raises(NoModelFits):
        route(CHAT, ANYBODY)
    Price.objects.create(model=unpriced, input_per_million=1, output_per_million=1)
    assert chosen(CHAT) == ("model", "unpriced", "rule")


def test_only_models_with_the_abilities_are_chosen(models):
    cheap, good, _ = models
    LanguageModel.objects.filter(pk=good.pk).update(abilities=["tools", "images"])
    LanguageModel.objects.filter(pk=cheap.pk).update(context_length=3000)
    assert chosen(replace(CHAT, needs_tools=True)) == ("model", "good", "only_one")
    assert chosen(replace(CHAT, needs_images=True)) == ("model", "good", "only_one")
    assert chosen(replace(CHAT, context=RoutingContext(tools=True))) == ("model", "good", "only_one")
    assert chosen(replace(CHAT, dial=0.0, characters=9000)) == ("model", "good", "few_votes")
    good.delete()
    with pytest.raises(NoModelFits, match="calls tools"):
        route(replace(CHAT, needs_tools=True), ANYBODY)


def test_models_that_fail_are_chosen_alike(models):
    before = chosen(CHAT)
    for model in models:
        Breaker.objects.create(model=model, **OPEN)
    assert chosen(CHAT) == before
    assert chosen(replace(CHAT, models=("cheap",))) == ("model", "cheap", "only_one")
    with pytest.raises(InvalidInput, match="no model “unknown”"):
        route(replace(CHAT, models=("unknown",)), ANYBODY)


@pytest.mark.slow
def test_pair_of_a_rule_is_drawn_from_healthy_models(models):
    Rule.objects.create(target="arena", is_active=True)
    Breaker.objects.create(model=models[0], **OPEN)
    question = replace(CHAT, allow_battle=True)
    assert {frozenset(route(question, ANYBODY).models) for _ in range(20)} == {frozenset(models[1:])}
    Breaker.objects.create(model=models[1], **OPEN)
    assert len({frozenset(route(question, ANYBODY).models) for _ in range(40)}) == 3


def test_rule_sends_tools_and_own_data_to_one_model(models, monkeypatch):
    cheap, good, dear = models
    trained.hold(monkeypatch, {cheap: 0.0, good: 1.0, dear: 2.0})
    tools = Rule.objects.create(target="model", model=cheap, needs_tools="yes", is_active=True)
    data = Rule.objects.create(target="model", model=good, data_loaded="yes", is_active=True, order=200)
    with_tools = route(replace(CHAT, context=RoutingContext(tools=True)), ANYBODY)
    assert (with_tools.models, with_tools.reason, with_tools.policy) == ((cheap,), "rule", f"rule {tools.pk}")
    assert (with_tools.query_type, with_tools.confidence) == ("tool-use", 1.0)
    with_data = route(replace(CHAT, context=RoutingContext(data_loaded=True)), ANYBODY)
    assert (with_data.models, with_data.query_type, with_data.details) == ((good,), "data-analysis", {"rule": data.pk})
    assert chosen(CHAT) == ("model", "dear", "best")


def test_prompt_that_a_rule_keeps_on_a_model_goes_nowhere_else(models):
    Rule.objects.create(target="model", model=models[0], data_loaded="yes", is_active=True)
    with_data = replace(CHAT, context=RoutingContext(data_loaded=True))
    Breaker.objects.create(model=models[0], **OPEN)
    assert chosen(with_data) == ("model", "cheap", "rule")
    LanguageModel.objects.filter(pk=models[0].pk).update(status="paused")
    with pytest.raises(NoModelAvailable):
        route(with_data, ANYBODY)


def test_first_matching_rule_decides(models):
    _, good, dear = models
    Rule.objects.create(order=1, target="model", model=dear, is_active=False)
    Rule.objects.create(order=2, target="model", model=dear, category="coding", is_active=True)
    Rule.objects.create(order=3, target="model", model=good, workflow="mail", max_characters=50, is_active=True)
    Rule.objects.create(order=4, target="pool", pool=["cheap"], is_active=True)
    assert chosen(CODE) == ("model", "dear", "rule")
    assert chosen(replace(CHAT, context=RoutingContext(workflow="mail"))) == ("model", "good", "rule")
    assert chosen(replace(CHAT, characters=51, context=RoutingContext(workflow="mail")))[1] == "cheap"
    assert chosen(CHAT) == ("model", "cheap", "only_one")


def test_rule_for_a_battle_draws_a_pair(models):
    Rule.objects.create(target="arena", is_active=True)
    routed = route(replace(CHAT, allow_battle=True), ANYBODY)
    assert (routed.target, routed.reason, len(set(routed.models))) == (Target.ARENA, "rule_battle", 2)
    assert routed.propensity == pytest.approx(1 / 3)
    assert chosen(CHAT)[0] == "model"


@pytest.mark.slow
def test_equal_models_are_compared_up_to_the_cap(models, monkeypatch):
    trained.hold(monkeypatch, dict.fromkeys(models, 1.0))
    question = replace(CHAT, allow_battle=True)
    explored = [route(question, ANYBODY).explored for _ in range(40)]
    assert sum(explored) == 8
    assert not any(route(replace(question, records=False, allow_battle=False), ANYBODY).explored for _ in range(9))
    assert route(replace(question, records=False), ANYBODY).target == Target.ARENA
    RoutingThresholds.objects.create(max_explored_share=0)
    assert not route(question, ANYBODY).explored


def test_without_valkey_nothing_is_explored(models, monkeypatch):
    trained.hold(monkeypatch, dict.fromkeys(models, 1.0))
    monkeypatch.setattr("common.valkey.connections._away_until", float("inf"))
    assert not any(route(replace(CHAT, allow_battle=True), ANYBODY).explored for _ in range(10))


def test_pair_among_two_of_a_narrowed_pool_is_no_battle(models, monkeypatch):
    trained.hold(monkeypatch, dict.fromkeys(models, 1.0))
    question = replace(CHAT, allow_battle=True, models=("cheap", "good"))
    assert not any(route(question, ANYBODY).is_battle for _ in range(10))


def test_unsure_router_says_so(models, monkeypatch):
    trained.hold(monkeypatch, dict.fromkeys(models, 1.0))
    assert (chosen(CHAT)[2], route(CHAT, ANYBODY).confidence) == ("unsure", 0.55)


def test_follow_ups_stay_for_ten_turns(models, monkeypatch):
    cheap, good, dear = models
    router = trained.hold(monkeypatch, {cheap: 2.0, good: 1.0, dear: 0.0})
    first = route(CHAT, ANYBODY).models[0]
    router.strengths = {cheap.pk: 0.0, good.pk: 1.0, dear.pk: 5.0}
    prompts = CHAT.prompts
    for turn in range(10):
        prompts = (*prompts, f"And what about the number {turn}?")
        routed = route(replace(CHAT, prompts=prompts, previous=PreviousAnswer(first.pk), allow_battle=True), ANYBODY)
        assert (routed.target, routed.models, routed.reason) == (Target.STAY, (cheap,), "stay")
    rested = replace(CHAT, previous=PreviousAnswer(first.pk, idle_s=3601))
    assert chosen(rested) == ("model", "dear", "best")


def test_follow_up_moves_only_for_a_reason(models, monkeypatch):
    cheap, good, dear = models
    chat = Labels(language="en")
    trained.hold(
        monkeypatch, {cheap: 1.0, good: 1.2, dear: 0.0}, by_label={"coding": {good.pk: 1.5}, "maths": {good.pk: 4.0}}
    )
    stays = replace(CHAT, previous=PreviousAnswer(cheap.pk, labels=chat))
    code = replace(stays, prompts=CODE.prompts)
    assert chosen(code) == ("stay", "cheap", "stay")  # a new subject, but hardly a gain
    maths = replace(stays, labels=Labels(("maths",), "en"))
    assert chosen(maths) == ("model", "good", "better")
    LanguageModel.objects.filter(pk=dear.pk).update(abilities=["images"])
    assert chosen(replace(stays, needs_images=True)) == ("model", "dear", "moved")
    Breaker.objects.create(model=cheap, **OPEN)
    assert chosen(stays) == ("stay", "cheap", "stay")
    LanguageModel.objects.filter(pk=cheap.pk).update(status="paused")
    assert chosen(stays) == ("model", "good", "moved")


def test_tool_loop_never_changes_the_model(models, monkeypatch):
    cheap, good, dear = models
    trained.hold(monkeypatch, {cheap: 0.0, good: 1.0, dear: 5.0})
    Rule.objects.create(target="model", model=dear, is_active=True)
    Breaker.objects.create(model=cheap, **OPEN)
    loop = PreviousAnswer(cheap.pk, labels=Labels(("maths",), "fr"), idle_s=9999, in_tool_loop=True)
    question = replace(CODE, needs_tools=True, previous=loop, max_cost=Decimal("1e-9"))
    assert chosen(question) == ("stay", "cheap", "tools")
    LanguageModel.objects.filter(pk=cheap.pk).update(status="retired")
    with pytest.raises(NoModelAvailable):
        route(question, ANYBODY)


def test_decision_makes_no_query(models, monkeypatch, nothing_is_forgotten, django_assert_num_queries):
    trained.hold(monkeypatch, dict.fromkeys(models, 1.0))
    monkeypatch.setattr("battles.labels.custom_categories.rules.ttl_s", 3600)
    question = replace(CODE, allow_battle=True)
    route(question, ANYBODY)
    with django_assert_num_queries(0):
        route(question, ANYBODY)


@override_settings(ARENA_ROUTER="battles.auto.port.heaviest_weight")
def test_router_of_battles_takes_the_heaviest_weight(models):
    LanguageModel.objects.filter(slug="dear").update(weight=2)
    assert chosen(CHAT) == ("model", "dear", "weights")
    with pytest.raises(NoModelAvailable):
        route(replace(CHAT, needs_tools=True), ANYBODY)


def test_decide_measures_itself(models):
    assert 0 < decide(CHAT, ANYBODY).micros < 10_000_000
