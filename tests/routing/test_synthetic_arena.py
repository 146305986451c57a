"""Decisions in arenas whose true strengths are known."""

import numpy as np
import pytest

from tests.routing.synthetic import KINDS, SyntheticArena


def _figures(seed: int) -> dict[str, float]:
    arena = SyntheticArena(seed=seed)
    router = arena.priced(arena.trained(3_000).router)
    truth = np.array([arena.true_chances(kind) for kind in range(len(KINDS))])
    best = int(router.strengths[:-1, 0].argmax())
    figures = {"always_best": 0.0, "oracle": 0.0}
    for dial in (1.0, 0.2):
        kinds, choices = arena.choices(router, dial=dial, prompts=400, best=best)
        models = np.array([choice.model for choice in choices])
        figures[f"quality {dial}"] = float(truth[kinds, models].mean())
        figures[f"cost {dial}"] = float(arena.prices[models].mean())
        figures |= {"always_best": float(truth[kinds, best].mean()), "oracle": float(truth[kinds].max(axis=1).mean())}
        figures["cost best"] = float(arena.prices[best])
    return figures


@pytest.mark.parametrize("arenas", [1, pytest.param(6, marks=pytest.mark.slow)])
def test_best_dial_gains_and_low_dial_saves(arenas):
    """A single arena of six may lose two points of a hundred: a probability of .8 is no certainty."""
    found = [_figures(seed) for seed in range(arenas)]
    gains = np.array([each["quality 1.0"] - each["always_best"] for each in found])
    possible = np.array([each["oracle"] - each["always_best"] for each in found])
    assert gains.min() >= -0.02
    assert gains.mean() >= 0.6 * possible.mean()
    assert all(each["cost 0.2"] <= 0.3 * each["cost best"] for each in found)
    assert all(each["quality 0.2"] >= 0.9 * each["always_best"] for each in found)


def test_equal_models_are_explored_and_none_is_favoured():
    arena = SyntheticArena(seed=7, spread=0.0)
    trained = arena.trained(3_000)
    assert not any(head["passed"] for head in trained.heads)
    _, choices = arena.choices(trained.router, dial=1, prompts=300, best=None)
    pairs = [choice.pair for choice in choices if choice.pair is not None]
    assert len(pairs) > 0.5 * len(choices)
    shares = np.bincount(np.ravel(pairs), minlength=12) / len(pairs)
    assert shares.max() < 0.4
    assert all(abs(choice.win_chance - 0.5) < 0.1 for choice in choices)


@pytest.mark.parametrize("arenas", [2, pytest.param(12, marks=pytest.mark.slow)])
def test_confidence_is_how_often_the_choice_is_right(arenas):
    confidence, is_right = [], []
    for seed in range(arenas):
        arena = SyntheticArena(seed=100 + seed)
        router = arena.trained(1_500).router
        kinds, choices = arena.choices(router, dial=1, prompts=60, best=None)
        for kind, choice in zip(kinds, choices, strict=True):
            confidence.append(choice.confidence)
            is_right.append(arena.strengths[choice.model, kind] > arena.strengths[choice.runner_up, kind])
    sure = np.array(confidence) > 0.8
    assert sure.sum() > 20
    assert abs(np.mean(np.array(is_right)[sure]) - np.mean(np.array(confidence)[sure])) < 0.12
