from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product

import numpy as np
import pytest

from reviews.statistics.stop_rule import (
    MIN_PEOPLE,
    Decision,
    Person,
    Rule,
    _Side,
    _stakes,
    bounds,
    decide,
    decide_means,
)
from tests.worlds.reviews.stop_rule import CLEAR, EQUAL, campaigns

START = datetime(2026, 3, 1, tzinfo=UTC)
RULE = Rule(0.1)


def people(means, *, weight=1.0):
    return [
        Person(f"person {number}", START + timedelta(minutes=number), [mean], weight)
        for number, mean in enumerate(means)
    ]


def coin(share, number, seed=5):
    return (np.random.default_rng(seed).random(number) < share).astype(float)


@pytest.mark.parametrize(
    ("share", "decision"), [(0.75, Decision.BETTER), (0.25, Decision.WORSE), (0.5, Decision.EQUAL)]
)
def test_clear_campaigns_are_decided(share, decision):
    state = decide(RULE, people(coin(share, 600)))
    assert state.decision is decision
    assert state.decided_after < state.people == 600
    assert state.low < state.mean < state.high


def test_few_people_decide_nothing():
    ended = [Person("one", START, [1] * 500)]
    ended += [Person(f"{number}", START, [1.0] * 300) for number in range(MIN_PEOPLE - 2)]
    state = decide(RULE, ended)
    assert (state.decision, state.decided_after, state.people) == (Decision.NOT_DECIDED, None, MIN_PEOPLE - 1)
    assert state.opinions == 500 + 300 * (MIN_PEOPLE - 2)
    assert (state.low, state.high) == (0, 1)


def test_people_without_opinions_on_the_pair_do_not_count():
    ended = people(np.ones(20))
    assert decide(RULE, [*ended, Person("other pair", START, [])]) == decide(RULE, ended)


def test_first_decision_stands():
    means = np.concatenate([np.ones(15), np.zeros(500)])
    decision, after = decide_means(RULE, means, np.ones(len(means)))
    assert decision is Decision.BETTER
    for seen in (after, after + 1, 100, len(means)):
        assert decide_means(RULE, means[:seen], np.ones(seen)) == (decision, after)
    assert decide_means(RULE, means[: after - 1], np.ones(after - 1)) == (Decision.NOT_DECIDED, None)


def test_state_depends_on_the_order_of_ends_only():
    ended = people(coin(0.6, 300))
    shuffled = [ended[place] for place in np.random.default_rng(1).permutation(300)]
    assert decide(RULE, shuffled) == decide(RULE, ended)


def test_exchanging_the_models_exchanges_the_decision():
    means = coin(0.7, 200)
    first, second = (decide(RULE, people(each)) for each in (means, 1 - means))
    assert (first.decision, second.decision) == (Decision.BETTER, Decision.WORSE)
    assert first.decided_after == second.decided_after
    assert (first.low, first.high) == pytest.approx((1 - second.high, 1 - second.low), abs=1e-9)


def test_more_contrasts_need_more_people():
    means = coin(0.65, 2000)
    needed = [decide(replace(RULE, contrasts=number), people(means)).decided_after for number in (1, 10)]
    assert needed[0] < needed[1]


def test_halved_weights_need_more_people():
    needed = [decide(RULE, people(coin(0.7, 2000), weight=weight)).decided_after for weight in (1, 0.5)]
    assert needed[0] < needed[1]


def test_bounds_and_decision_agree():
    for seed in range(40):
        means = coin([0.35, 0.5, 0.6][seed % 3], 260, seed)
        low, high = bounds(RULE, means, np.ones(260))
        decision, _ = decide_means(RULE, means, np.ones(260))
        is_equal = low > 0.4 and high < 0.6
        assert (decision is Decision.NOT_DECIDED) == (not (low > 0.5 or high < 0.5 or is_equal))
        assert decision is not Decision.BETTER or low > 0.5
        assert decision is not Decision.WORSE or high < 0.5
        assert decision is not Decision.EQUAL or is_equal


@pytest.mark.parametrize("mu", [0.3, 0.5, 0.8])
@pytest.mark.parametrize("weight", [1.0, 0.4])
def test_wealth_does_not_grow_on_average(mu, weight):
    # Exact: all 3^7 courses of wins, ties and losses with mean μ.
    tie = 0.3
    chances = {1.0: mu - tie / 2, 0.5: tie, 0.0: 1 - mu - tie / 2}
    expected = 0.0
    for course in product(chances, repeat=7):
        means, weights = np.array(course), np.full(7, weight)
        wealth = _Side(means, weights).wealth(mu, _stakes(RULE, means))
        assert (wealth > 0).all()
        expected += wealth[-1] * np.prod([chances[mean] for mean in course])
    assert expected == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize(
    "values", [{"difference": 0}, {"difference": 0.5}, {"level": 0}, {"level": 1}, {"contrasts": 0}]
)
def test_impossible_rules_are_refused(values):
    with pytest.raises(ValueError, match="difference must be"):
        Rule(**{"difference": 0.1, **values})


@pytest.mark.parametrize(
    "person", [Person("a", START, [2.0]), Person("a", START, [1], 0), Person("a", START, [1], 1.5)]
)
def test_impossible_opinions_are_refused(person):
    with pytest.raises(ValueError, match="weights must be"):
        decide(RULE, [person])


def test_no_people_are_not_decided():
    state = decide(RULE, [])
    assert (state.decision, state.people, state.low, state.high) == (Decision.NOT_DECIDED, 0, 0, 1)
    assert np.isnan(state.mean)


@pytest.mark.slow
@pytest.mark.parametrize("design", EQUAL, ids=lambda design: design.name)
def test_equal_models_are_rarely_told_apart(design):
    found = [outcome.decision for outcome in campaigns(design, repetitions=200, seed=3)]
    assert sum(decision in (Decision.BETTER, Decision.WORSE) for decision in found) <= 19  # 5 %, and three deviations


@pytest.mark.slow
def test_clear_difference_needs_few_opinions():
    found = campaigns(CLEAR, repetitions=200, seed=3)
    assert np.mean([outcome.decision is Decision.BETTER for outcome in found]) >= 0.9
    assert np.median([outcome.opinions for outcome in found]) <= 285
