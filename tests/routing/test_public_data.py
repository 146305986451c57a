"""Learning on public data: figures that the router must reach."""

import numpy as np
import pytest

from routing.learning.grounded import win_chance
from routing.learning.heads import fit_router, train
from routing.learning.router import Router
from routing.learning.votes import TrainingVotes
from tests.routing.public_data import crowd, mmlu, trained_on_half


def test_small_arena_passes_gate_and_recovers_gap():
    trained, curve = trained_on_half(0, 300)
    assert trained.heads[1]["passed"]
    assert curve.area >= 0.59


@pytest.mark.slow
def test_half_of_questions_recovers_gap_at_fewer_strong_calls():
    curves = [trained_on_half(seed)[1] for seed in range(4)]
    assert np.mean([curve.area for curve in curves]) >= 0.64
    assert np.mean([curve.least_share(0.5) for curve in curves]) <= 0.33
    assert np.mean([curve.least_share(0.8) for curve in curves]) <= 0.65


@pytest.mark.parametrize("size", [300, pytest.param(3500, marks=pytest.mark.slow)])
def test_shuffled_outcomes_switch_head_off(size):
    random = np.random.default_rng(size)
    rows = random.permutation(7021)[:size]
    labels, features = train(mmlu().votes(rows, shuffled=random)).heads
    assert (labels["passed"], features["passed"]) == (False, False)


def test_labels_of_crowd_pass_gate_and_lower_log_loss():
    votes = crowd()
    training, held_out = (votes.subset(rows) for rows in np.split(np.arange(len(votes)), [len(votes) * 4 // 5]))
    trained = train(training)
    labels, features = trained.heads
    assert labels["passed"]
    assert not features["passed"]
    assert _log_loss(fit_router(training, label_scale=0, feature_scale=0), held_out) >= 0.64
    assert _log_loss(trained.router, held_out) <= 0.615


def _log_loss(router: Router, votes: TrainingVotes) -> float:
    """Return the log loss of the left side's share, ½ for ties."""
    columns = [votes.label_names.index(name) for name in router.labels]
    theta = router.strengths[:, 0] + votes.labels[:, columns] @ router.strengths[:, 1:].T
    rows = np.arange(len(votes))
    chance = win_chance(theta[rows, votes.left], theta[rows, votes.right], router.tie_factor)
    share = np.array([1, 0, 0.5, 0.5])[votes.outcome]
    return -float((share * np.log(chance) + (1 - share) * np.log(1 - chance)).mean())
