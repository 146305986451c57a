from collections import Counter
from random import Random

import pytest

from battles.prompting.lineup import draw_models
from battles.prompting.pairing import Candidate, uniform_pair_weights
from leaderboard.aggregation import job, pair_weights
from leaderboard.models import OVERALL, SamplingPlan
from models_registry.models import LanguageModel
from tests import make
from tests.leaderboard.vote_factory import cast_many, contestants

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _active(settings):
    settings.ARENA_PAIR_WEIGHTS = "leaderboard.aggregation.pair_weights.pair_weights"
    clear_caches()
    yield
    clear_caches()


def clear_caches():
    pair_weights._current_plan.cache_clear()
    pair_weights._current_weights.cache_clear()


def publish(slot):
    run = job.aggregate(slot=slot)
    clear_caches()
    return run


def all_models():
    return list(LanguageModel.objects.order_by("pk"))


def drawn_share(model, draws=400):
    random = Random(1)
    drawn = Counter(side for _ in range(draws) for side in draw_models(all_models(), random)[:2])
    return drawn[model.pk] / draws


def test_pair_weights_before_first_snapshot_are_admin_weights():
    contestants("ant", "bee", "cat")
    candidates = [Candidate(model.pk, weight) for model, weight in zip(all_models(), (1.0, 2.0, 3.0), strict=True)]
    even = uniform_pair_weights(candidates)
    assert pair_weights.pair_weights(candidates) == [(a, b, pytest.approx(weight / 3)) for a, b, weight in even]


@pytest.mark.slow
def test_models_with_fewer_votes_are_drawn_more_often():
    ant, bee, cat, dog = contestants("ant", "bee", "cat", "dog")
    for first, second in ((ant, bee), (bee, cat), (cat, ant)):
        cast_many(first, second, left=12, right=10, tie=6)
    cast_many(dog, ant, left=3, right=3)
    shares = publish("first").facts["sampling_shares"]
    assert drawn_share(dog) > 0.7
    assert sum(shares.values()) == pytest.approx(2)
    assert shares["dog"] == max(shares.values())
    assert drawn_share(dog) == pytest.approx(shares["dog"], abs=0.06)


@pytest.mark.slow
def test_models_without_votes_and_newer_ones_are_drawn():
    cast_many(*contestants("ant", "bee"), left=20, right=20)
    make.model(slug="new")
    publish("first")
    newer = make.model(slug="newer")
    assert set(SamplingPlan.objects.get().contestants) == {model.pk for model in all_models()} - {newer.pk}
    assert drawn_share(newer) >= 0.5


@pytest.mark.slow
def test_every_active_pair_can_be_drawn_with_known_propensity():
    models = contestants("ant", "bee", "cat", "dog")
    cast_many(models[0], models[1], left=40, right=40)
    cast_many(models[2], models[0], left=1)
    publish("first")
    random, drawn = Random(2), {}
    for _ in range(600):
        left, right, propensity = draw_models(all_models(), random)
        drawn[frozenset((left, right))] = propensity
    assert len(drawn) == 6
    assert sum(drawn.values()) == pytest.approx(1)
    assert min(drawn.values()) >= 0.1 / 6


def test_retired_models_are_left_out_of_plan():
    ant, bee, cat = contestants("ant", "bee", "cat")
    cast_many(ant, bee, left=6, right=6)
    cast_many(bee, cat, left=6, right=6)
    LanguageModel.objects.filter(pk=bee.pk).update(status=LanguageModel.Status.RETIRED)
    publish("first")
    plan = SamplingPlan.objects.get(scope=OVERALL)
    assert (plan.contestants, len(plan.gains)) == ([ant.pk, cat.pk], 1)


@pytest.mark.slow
def test_new_snapshot_replaces_plan():
    ant, bee, cat = contestants("ant", "bee", "cat")
    cast_many(ant, bee, left=6, right=6)
    publish("first")
    before = drawn_share(cat)
    cast_many(bee, cat, left=20, right=20)
    cast_many(ant, cat, left=20, right=20)
    run = publish("second")
    assert SamplingPlan.objects.get().run == run
    assert drawn_share(cat) < before


def test_uniform_weights_publish_shares_without_plan(settings):
    settings.ARENA_PAIR_WEIGHTS = "battles.prompting.pairing.uniform_pair_weights"
    cast_many(*contestants("ant", "bee", "cat")[:2], left=6, right=6)
    LanguageModel.objects.filter(slug="ant").update(weight=2)
    assert publish("first").facts["sampling_shares"] == pytest.approx({"ant": 0.8, "bee": 0.6, "cat": 0.6})
    assert not SamplingPlan.objects.exists()


def test_drawing_reads_plan_once_a_minute(monkeypatch, django_assert_num_queries):
    cast_many(*contestants("ant", "bee", "cat")[:2], left=6, right=6)
    publish("first")
    models = all_models()
    for minute in (1, 2):
        monkeypatch.setattr(pair_weights, "_ttl_period", lambda minute=minute: minute)
        with django_assert_num_queries(1):
            for _ in range(5):
                draw_models(models, Random(3))
                draw_models(models[:2], Random(3))
