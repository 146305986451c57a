"""Choice of a model for one prompt: chance of winning less its price."""

from collections.abc import Sequence
from math import erf, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from routing.learning.grounded import Floats, win_chance
from routing.learning.router import DIALS, Scores

DRAWS = 64
# Another model than the board’s best needs a probability of .977 to be stronger, or to be cheaper where prices count.
# With .9, the luckiest of many models lost up to .02 in synthetic arenas.
_MIN_STRONGER_Z = 2.0
_GRID = 65
_GRID_SDS = 4.0
_BISECTIONS = 60


class Options(NamedTuple):
    """Models to choose from. weights: of sampling; costs: expected US dollars of this prompt; shape (options,)."""

    models: Sequence[int]
    weights: Floats
    costs: Floats


class Choice(NamedTuple):
    """model: of the highest utility (chance of winning − λ · cost).

    confidence: probability that its utility is above the runner-up's. win_chance: against the weighted others, ties
    half; good_enough: σ(θ). pair: the best of two posterior draws, where they differ; propensity: its frequency in
    DRAWS pairs. Arrays of shape (options,).
    """

    model: int
    runner_up: int | None
    confidence: float
    win_chance: float
    good_enough: float
    pair: tuple[int, int] | None
    propensity: float
    win_chances: Floats
    good_enoughs: Floats
    utilities: Floats


def choose(
    options: Options,
    scores: Scores,
    *,
    price: float,
    best: int | None,
    random: np.random.Generator,
    tie_factor: float,
) -> Choice:
    """Choose among options, with scores in their order.

    price: λ, chances per US dollar. best: the board's best model.
    """
    models = options.models
    chances = win_chances(scores.theta, options.weights, tie_factor)
    good_enoughs = 1 / (1 + np.exp(-scores.theta))
    utilities = chances - price * options.costs
    number = int(_allowed(utilities, options, scores, best, price).argmax())
    others = utilities.copy()
    others[number] = -np.inf
    second = int(others.argmax()) if len(models) > 1 else None
    confidence = 1.0
    pair, propensity = None, 1.0
    if second is not None:
        confidence = _confidence(options, scores, (number, second), price=price, tie_factor=tie_factor)
        drawn = _best_of_draws(options, scores, random, price=price, tie_factor=tie_factor)
        first, other = drawn[0]
        if first != other:
            pair = (models[first], models[other])
            propensity = max(float((np.sort(drawn, axis=1) == sorted((first, other))).all(axis=1).mean()), 1 / DRAWS)
    return Choice(
        model=models[number],
        runner_up=None if second is None else models[second],
        confidence=confidence,
        win_chance=float(chances[number]),
        good_enough=float(good_enoughs[number]),
        pair=pair,
        propensity=propensity,
        win_chances=chances,
        good_enoughs=good_enoughs,
        utilities=utilities,
    )


def win_chances(theta: Floats, weights: Floats, tie_factor: float) -> Floats:
    """Return each model's chance against the weighted others, ties half; theta: shape (…, models)."""
    chances = win_chance(theta[..., :, None], theta[..., None, :], tie_factor)
    others = weights.sum() - weights
    # A model's chance against itself is ½.
    total = chances @ weights - 0.5 * weights
    return np.where(others > 0, total / np.where(others > 0, others, 1), 0.5)


def _allowed(utilities: Floats, options: Options, scores: Scores, best: int | None, price: float) -> Floats:
    """Return utilities, −∞ for models that are not surely stronger than the best, nor cheaper where prices count."""
    if best not in options.models:
        return utilities
    place = options.models.index(best)
    difference = scores.theta - scores.theta[place]
    spread = np.sqrt(scores.sd**2 + scores.sd[place] ** 2)
    is_stronger = difference >= _MIN_STRONGER_Z * spread
    is_stronger[place] = True
    is_cheaper = (options.costs < options.costs[place]) & (price > 0)
    return np.where(is_stronger | is_cheaper, utilities, -np.inf)


def _confidence(options: Options, scores: Scores, two: tuple[int, int], *, price: float, tie_factor: float) -> float:
    """Return Φ((θ₁ − θ₂ − what the price is worth in θ) / s); with the slope of the chance between the two."""
    first, second = two
    slope = 0.0
    if price:
        middle = (scores.theta[first] + scores.theta[second]) / 2
        around = _curve(np.array([middle - 0.1, middle + 0.1]), scores.theta, options.weights, tie_factor)
        slope = float(around[1] - around[0]) / 0.2
    advantage = float(scores.theta[first] - scores.theta[second])
    if slope > 0:
        advantage -= price * float(options.costs[first] - options.costs[second]) / slope
    spread = sqrt(float(scores.sd[first] ** 2 + scores.sd[second] ** 2))
    return 0.5 * (1 + erf(advantage / (spread or 1e-9) / sqrt(2)))


def _best_of_draws(
    options: Options, scores: Scores, random: np.random.Generator, *, price: float, tie_factor: float
) -> NDArray[np.int64]:
    """Return the best of each draw from the posterior, shape (DRAWS, 2).

    The chance against all models is interpolated.
    """
    weights, costs = options.weights, options.costs
    theta = scores.theta + scores.sd * random.standard_normal((2 * DRAWS, len(costs)))
    if price:
        ends = scores.theta.min() - _GRID_SDS * scores.sd.max(), scores.theta.max() + _GRID_SDS * scores.sd.max()
        grid = np.linspace(*ends, _GRID)
        total = np.interp(theta, grid, _curve(grid, scores.theta, weights, tie_factor) * weights.sum())
        own = weights * win_chance(theta, scores.theta, tie_factor)
        others = weights.sum() - weights
        theta = np.where(others > 0, (total - own) / np.where(others > 0, others, 1), 0.5) - price * costs
    best: NDArray[np.int64] = theta.argmax(axis=1).reshape(DRAWS, 2)
    return best


def _curve(theta: Floats, opponents: Floats, weights: Floats, tie_factor: float) -> Floats:
    chances = win_chance(theta[:, None], opponents[None, :], tie_factor) @ weights / (weights.sum() or 1)
    return np.asarray(chances, dtype=np.float64)


def dial_table(chances: Floats, costs: Floats) -> tuple[float, ...]:
    """Return λ of DIALS, by bisection, so that the mean cost of the choices is C_min + dial · (C_best − C_min).

    chances, costs: shape (prompts, models); C_best is the cost at λ = 0. The dual of the linear program with a budget.
    """
    rows = np.arange(len(costs))

    def mean_cost(price: float) -> float:
        return float(costs[rows, (chances - price * costs).argmax(axis=1)].mean())

    lowest, highest = float(costs.min(axis=1).mean()), mean_cost(0.0)
    differences = np.diff(np.sort(costs, axis=1), axis=1)
    differences = differences[differences > 0]
    if highest <= lowest or not len(differences):
        return (0.0,) * len(DIALS)
    ceiling = 1.01 / float(differences.min())
    prices = []
    for dial in DIALS:
        budget = lowest + dial * (highest - lowest)
        low, high = 0.0, np.log1p(ceiling)
        for _ in range(_BISECTIONS if dial < 1 else 0):
            middle = (low + high) / 2
            low, high = (middle, high) if mean_cost(float(np.expm1(middle))) > budget else (low, middle)
        prices.append(float(np.expm1(high)) if dial < 1 else 0.0)
    return tuple(prices)
