from collections import Counter
from itertools import combinations
from random import Random

import pytest

from battles.prompting.lineup import draw_models
from battles.prompting.pairing import Candidate, draw_pair, uniform_pair_weights
from models_registry.models import LanguageModel, Provider
from tests import make


def test_pair_frequency_matches_propensity():
    candidates = [Candidate(1, 1.0), Candidate(2, 1.0), Candidate(3, 2.0), Candidate(4, 0.5)]
    random, drawn, propensities = Random(7), Counter(), {}
    for _ in range(20_000):
        pair = draw_pair(candidates, uniform_pair_weights, random)
        key = tuple(sorted(pair[:2]))
        drawn[key] += 1
        propensities[key] = pair.propensity
    assert set(drawn) == set(combinations([1, 2, 3, 4], 2))
    assert sum(propensities.values()) == pytest.approx(1)
    for key, count in drawn.items():
        assert count / 20_000 == pytest.approx(propensities[key], abs=0.015)
    assert propensities[(1, 3)] == pytest.approx(2 * propensities[(1, 2)])


def test_redraw_keeps_staying_model_and_pair_propensity():
    candidates = [Candidate(1, 1.0), Candidate(2, 1.0), Candidate(3, 3.0)]
    pair = draw_pair(candidates, uniform_pair_weights, Random(1), staying=2)
    assert pair.left == 2
    weights = {frozenset(ids): weight for *ids, weight in uniform_pair_weights(candidates)}
    assert pair.propensity == pytest.approx(weights[frozenset(pair[:2])] / sum(weights.values()))


@pytest.mark.parametrize("candidates", [[], [Candidate(1, 1.0)]])
def test_fewer_than_two_candidates_return_no_pair(candidates: list[Candidate]):
    assert draw_pair(candidates, uniform_pair_weights, Random(1)) is None


@pytest.mark.django_db
def test_only_active_reachable_weighted_models_are_drawn():
    able = {make.model().pk, make.model().pk}
    make.model(status="paused")
    make.model(weight=0)
    make.model(at="http://127.0.0.1:7/v1")
    Provider.objects.filter(base_url="http://127.0.0.1:7/v1").update(is_answering=False)
    drawable = LanguageModel.objects.drawable()
    assert {frozenset(draw_models(drawable, Random(seed))[:2]) for seed in range(20)} == {frozenset(able)}


@pytest.mark.django_db
def test_no_pair_is_drawn_from_single_model():
    make.model()
    assert draw_models(LanguageModel.objects.drawable(), Random(1)) is None
