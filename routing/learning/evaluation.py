"""Figures of a router: shares of a gap, areas under curves, calibration, replay of logged votes."""

from collections.abc import Sequence
from typing import NamedTuple, TypedDict

import numpy as np
from numpy.typing import NDArray

from routing.learning.grounded import Floats

BINS = 10
_RESAMPLES = 1000


class GapCurve(NamedTuple):
    """share: of prompts sent to the strong model, 0 to 1; recovered: PGR at it. Shape (prompts + 1,)."""

    share: Floats
    recovered: Floats

    @property
    def area(self) -> float:
        """APGR: ½ for random choices."""
        return float(np.trapezoid(self.recovered, self.share))

    def least_share(self, recovered: float) -> float:
        """CPT: the least share of strong calls that recovers this part of the gap."""
        return float(self.share[np.argmax(self.recovered >= recovered)])


def gap_curve(strong: Floats, weak: Floats, gain: Floats) -> GapCurve:
    """Send prompts to the strong model in descending order of `gain`; strong, weak: quality of each answer.

    PGR is (V(π) − V(weak)) / (V(strong) − V(weak)).
    Source: Ong et al. (2024), "RouteLLM: learning to route LLMs with preference data".
    """
    order = np.argsort(-gain, kind="stable")
    gained = np.concatenate([[0.0], np.cumsum((strong - weak)[order])])
    return GapCurve(np.linspace(0, 1, len(gained)), gained / gained[-1])


def quality_area(cost: Sequence[float], quality: Sequence[float]) -> float | None:
    """Return AIQ: mean quality of the non-decreasing hull over the range of costs; None if all cost the same.

    Source: Hu et al. (2024), "RouterBench".
    """
    hull = quality_hull(cost, quality)
    (first, _), (last, _) = hull[0], hull[-1]
    if last <= first:
        return None
    costs, qualities = np.array(hull).T
    return float(np.trapezoid(qualities, costs) / (last - first))


def quality_hull(cost: Sequence[float], quality: Sequence[float]) -> list[tuple[float, float]]:
    """Return the corners (cost, quality) of the non-decreasing concave hull, up to the highest cost."""
    hull: list[tuple[float, float]] = []
    for point in sorted(zip(cost, quality, strict=True), key=lambda each: (each[0], -each[1])):
        if hull and point[1] <= hull[-1][1]:
            continue
        while len(hull) > 1 and _slope(hull[-2], point) >= _slope(hull[-2], hull[-1]):
            hull.pop()
        hull.append(point)
    if (highest := max(cost)) > hull[-1][0]:
        hull.append((highest, hull[-1][1]))
    return hull


def _slope(before: tuple[float, float], after: tuple[float, float]) -> float:
    return (after[1] - before[1]) / (after[0] - before[0])


class CalibrationBin(TypedDict):
    low: float
    high: float
    votes: int
    predicted: float
    observed: float


class Calibration(TypedDict):
    """brier: mean squared error; error: mean distance of predicted and observed shares, weighted by votes."""

    brier: float
    error: float
    bins: list[CalibrationBin]


def calibration(predicted: Floats, observed: Floats) -> Calibration:
    """Compare predicted chances with outcomes from 0 to 1; bins without votes are left out."""
    number = np.minimum((predicted * BINS).astype(np.int64), BINS - 1)
    bins = [
        CalibrationBin(
            low=place / BINS,
            high=(place + 1) / BINS,
            votes=int(inside.sum()),
            predicted=float(predicted[inside].mean()),
            observed=float(observed[inside].mean()),
        )
        for place in range(BINS)
        if (inside := number == place).any()
    ]
    votes = max(len(predicted), 1)
    return Calibration(
        brier=float(((predicted - observed) ** 2).sum() / votes),
        error=sum(each["votes"] * abs(each["predicted"] - each["observed"]) for each in bins) / votes,
        bins=bins,
    )


class Replay(NamedTuple):
    """Estimated win share of a policy, with its 95 % interval over voters; NaN where no vote holds its choices."""

    win_share: float
    low: float
    high: float
    votes: int
    cost: float


def replay(
    chosen_left: NDArray[np.bool_],
    chosen_right: NDArray[np.bool_],
    left_share: Floats,
    propensity: Floats,
    cost: Floats,
    voter: NDArray[np.int64],
    *,
    seed: int = 0,
) -> Replay:
    """Estimate how often a policy's choice beats another model, drawn uniformly; arrays of shape (votes,).

    chosen_left, chosen_right: whether that side is the policy's choice. left_share: 1, 0 or ½. propensity: of the pair.
    cost: of the choice. Self-normalised weights 1 / propensity; voters are resampled.
    Source: Swaminathan and Joachims (2015), "The self-normalized estimator for counterfactual learning".
    """
    seen = chosen_left | chosen_right
    mean_cost = float(cost.mean()) if len(cost) else float("nan")
    if not seen.any():
        return Replay(float("nan"), float("nan"), float("nan"), 0, mean_cost)
    share = np.where(chosen_left, left_share, 1 - left_share)[seen]
    weight = 1 / propensity[seen]
    _, number = np.unique(voter[seen], return_inverse=True)
    won, total = np.bincount(number, weight * share), np.bincount(number, weight)
    drawn = np.random.default_rng(seed).multinomial(len(won), np.full(len(won), 1 / len(won)), size=_RESAMPLES)
    low, high = np.quantile((drawn @ won) / (drawn @ total), [0.025, 0.975])
    return Replay(float(won.sum() / total.sum()), float(low), float(high), int(seen.sum()), mean_cost)
