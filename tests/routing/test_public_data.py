"""Learning on public data: figures that the router must reach."""

import numpy as np
import pytest

from routing.learning.grounded import win_chance
from routing.learning.heads import choose_scales, fit_router, train
from routing.learning.router import Router
from routing.learning.votes import TrainingVotes
from tests.routing.public_data import crowd, mmlu, trained_on_half

pytestmark = pytest.mark.slow


def test_small_arena_passes_test_and_recovers_gap():
    trained, curve = trained_on_half(0, 300)
    assert trained.heads[1]["passed"]
    assert curve.area >= 0.59


@pytest.mark.parametrize(
    ("halves", "area", "half_gap", "most_of_gap"),
    [
        (1, 0.62, 0.35, 0.7),
        pytest.param(5, 0.64, 0.33, 0.65, marks=pytest.mark.long),
    ],
)
def test_half_of_questions_recovers_gap_at_fewer_strong_calls(halves, area, half_gap, most_of_gap):
    curves = [trained_on_half(seed)[1] for seed in range(halves)]
    assert np.mean([curve.area for curve in curves]) >= area
    assert np.mean([curve.least_share(0.5) for curve in curves]) <= half_gap
    assert np.mean([curve.least_share(0.8) for curve in curves]) <= most_of_gap


@pytest.mark.parametrize("times", [2, pytest.param(6, marks=pytest.mark.long)])
def test_shuffled_outcomes_switch_head_off(times):
    """A bound of 95 % lets one of twenty through."""
    passed = 0
    for seed in range(times):
        random = np.random.default_rng(seed)
        votes = mmlu().votes(random.permutation(7021)[:300], shuffled=random)
        passed += any(head["passed"] for head in choose_scales(votes))
    assert passed <= times // 6


def test_shuffled_outcomes_of_many_questions_switch_head_off():
    random = np.random.default_rng(0)
    trained = train(mmlu().votes(random.permutation(7021)[:3_500], shuffled=random))
    assert not any(head["passed"] for head in trained.heads)


def test_labels_of_crowd_pass_test_and_lower_log_loss():
    votes = crowd()
    losses = []
    for seed in range(6):
        rows = np.random.default_rng(seed).permutation(len(votes))
        training, held_out = (votes.subset(part) for part in np.split(rows, [len(votes) * 4 // 5]))
        if not seed:
            labels, features = choose_scales(training)
            assert (labels["passed"], features["passed"]) == (True, False)
        routers = (fit_router(training, label_scale=scale, feature_scale=0) for scale in (0, labels["scale"]))
        losses.append([_log_loss(router, held_out) for router in routers])
    without, with_labels = np.mean(losses, axis=0)
    assert without >= 0.64
    assert with_labels <= 0.615


def _log_loss(router: Router, votes: TrainingVotes) -> float:
    """Return the log loss of the left side's share, ½ for ties."""
    columns = [votes.label_names.index(name) for name in router.labels]
    theta = router.strengths[:, 0] + votes.labels[:, columns] @ router.strengths[:, 1:].T
    rows = np.arange(len(votes))
    chance = win_chance(theta[rows, votes.left], theta[rows, votes.right], router.tie_factor)
    share = np.array([1, 0, 0.5, 0.5])[votes.outcome]
    return -float((share * np.log(chance) + (1 - share) * np.log(1 - chance)).mean())
