"""Estimate of the side bias: the advantage of the left answer."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from leaderboard.rating.bradley_terry import (
    CONVERGED,
    MAX_STEPS,
    POINTS,
    STEP_TOLERANCE,
    Flags,
    Floats,
    Start,
    Tally,
    fit_strengths,
    inverse_on_contrasts,
)
from leaderboard.rating.clustering import VoterVotes, scalar_design_effect
from leaderboard.rating.intervals import Z, dispersion, one_minus_leverage
from leaderboard.rating.pairs import Pairs

MIN_Z = 3.0
# Natural-log units: beyond this the estimate diverges.
_MAX_BIAS = 20.0
# The information about θ is that without bias, up to a small bias. Beyond a large one, or with few models, all of
# Newton's steps use their own information.
_SMALL_BIAS, _LARGE_BIAS, _FEW_MODELS = 0.1, 0.5, 25
# Factor by which θ may inflate the variance of β; without bound where the models tell the sides.
_MAX_VARIANCE_INFLATION = 1e9
_TINY = float(np.finfo(float).tiny)


@dataclass(frozen=True)
class SideBias:
    """Side bias β and its standard error, which contains design_effect (DEFF), in points.

    start: for the fit of the scores.
    """

    points: float
    se: float
    design_effect: float
    start: Start = field(repr=False, compare=False)

    @property
    def low(self) -> float:
        return self.points - Z * self.se

    @property
    def high(self) -> float:
        return self.points + Z * self.se

    @property
    def z(self) -> float:
        return self.points / self.se

    @property
    def applies(self) -> bool:
        """Return whether scores are to be corrected."""
        return _applies(self.z)

    @property
    def theta(self) -> float:
        return float(self.points / POINTS)

    @property
    def variance(self) -> float:
        return float((self.se / POINTS) ** 2)


def _applies(z: float) -> bool:
    return abs(z) > MIN_Z


def estimate_side_bias(tally: Tally, voters: VoterVotes | None = None, *, deff: float = 1.0) -> SideBias | None:
    """Fit β of logit P(left preferred) = θ[left] − θ[right] + β with all θ; None where it has no finite estimate.

    Uses the votes inside strongly connected components, where θ is finite. The variance is DEFF · max(HC3, φ·H⁻¹), as
    for scores. deff: the design effect used without `voters`.
    Source: Davidson, Beaver, “On extending the Bradley–Terry model to incorporate within-pair order effects”,
    Biometrics 33 (1977).
    """
    component = tally.components
    inside = tally.among(component) if component.any() else tally
    pairs = inside.pairs
    if not inside.votes_per_model.any():
        return None
    # Newton's method for all θ and β takes as long as a fit: where it can, a few cheap steps follow a fit of θ alone.
    fit = (None if component.any() else _fit_after_strengths(inside)) or _joint_fit(
        inside, component[:, None] == component
    )
    if fit is None:
        return None
    if fit.variance * fit.information > _MAX_VARIANCE_INFLATION:
        return None
    # The change of β per unit of a vote's residual, in standard deviations of β.
    deviation = np.sqrt(fit.variance)
    influence = pairs.of_rows(fit.towards / deviation + deviation) - pairs.of_columns(fit.towards / deviation)
    rest, forms = np.square(influence), pairs.quadratic_forms(fit.spread)
    rest += forms
    rest *= fit.weight
    squares = inside.squared_residuals(fit.p)
    phi = dispersion(squares.sum(), fit.information)
    corrected = np.divide(influence, one_minus_leverage(rest), out=rest)
    hc3 = fit.variance * float(np.vdot(squares, np.square(corrected, out=corrected)))
    if voters:
        is_inside = component[voters.left] == component[voters.right]
        of_votes = pairs.matrix(deviation * influence)
        deff = scalar_design_effect(voters.where(is_inside), pairs.matrix(fit.p), of_votes)
    error = np.sqrt(deff * max(hc3, phi * fit.variance))
    if fit.without_bias and not _applies(fit.bias / error):
        start = fit.without_bias if fit.is_exact else fit.without_bias._replace(forms=forms)
    else:
        start = Start(fit.theta, fit.p, fit.spread, fit.bias) if fit.is_exact else Start(fit.theta)
    return SideBias(float(POINTS * fit.bias), float(POINTS * error), float(deff), start)


class _JointFit(NamedTuple):
    """Maximum (θ, β) and parts of its inverse information."""

    theta: Floats
    bias: float
    p: Floats
    weight: Floats  # p·q
    spread: Floats  # of θ alone
    towards: Floats  # of θ with β
    variance: float  # of β
    information: float  # Σ n·p·q
    without_bias: Start | None = None
    is_exact: bool = False  # spread: at (θ, β)


def _fit_after_strengths(tally: Tally) -> _JointFit | None:
    """Fit θ, then β and θ with its information; None where steps shrink slowly.

    The information is computed anew after a first step beyond _SMALL_BIAS.
    """
    # An advantage of one side hardly changes the information about θ, because sides are drawn.
    theta, bias, cells, pairs = fit_strengths(tally), 0.0, tally.cells, tally.pairs
    p = tally.win_probabilities(theta)
    weight, won = tally.expected_squares(p), _SideSums(*tally.row_wins)
    spread = inverse_on_contrasts(pairs.laplacian(weight), overwrite=True)
    without_bias = Start(theta, p, spread)
    sums = _SideSums.of(pairs, weight)
    response = spread @ sums.difference
    own = sums.total - float(sums.difference @ response)
    # The gradient of θ is 0 at its maximum.
    change = (won.total - float(np.vdot(cells, p))) / own if own > 0 else 0.0
    step, size, is_small = -response * change, np.inf, True
    largest = _SMALL_BIAS if tally.models < _FEW_MODELS else _LARGE_BIAS
    while own * _MAX_VARIANCE_INFLATION > sums.total:
        theta, bias = theta + step, bias + change
        before, size, is_first = min(size, 1.0), max(abs(change), float(np.abs(step).max())), size == np.inf
        is_small &= not is_first or size <= _SMALL_BIAS
        # The next step would be shorter by the same factor.
        if size <= (STEP_TOLERANCE if is_small else CONVERGED) or (is_small and size**2 <= CONVERGED * before):
            even = p * (1 - p)
            weight = np.multiply(even, cells, out=weight)
            sums = _SideSums.of(pairs, weight)
            if not is_small:
                spread = inverse_on_contrasts(pairs.laplacian(weight), overwrite=True)
            response = _solve_information(pairs, weight, sums, spread)
            own = max(sums.total - float(sums.difference @ response), _TINY)
            return _JointFit(
                theta, bias, p, even, spread, -response / own, 1 / own, sums.total, without_bias, is_exact=not is_small
            )
        if size > (largest if is_first else min(0.5, before / 10)):
            break
        p = tally.win_probabilities(theta, bias=bias)
        expected = _SideSums.of(pairs, np.multiply(cells, p, out=weight))
        gradient = won.difference - expected.difference
        change = (won.total - expected.total - float(response @ gradient)) / own
        step = spread @ gradient - response * change
    return None


class _SideSums(NamedTuple):
    """Sums of values by the left model and by the right, shape (models,)."""

    left: Floats
    right: Floats

    @classmethod
    def of(cls, pairs: Pairs, values: Floats) -> "_SideSums":
        return cls(pairs.row_sums(values), pairs.column_sums(values))

    @property
    def difference(self) -> Floats:
        return self.left - self.right

    @property
    def total(self) -> float:
        return float(self.left.sum())


def _solve_information(pairs: Pairs, weight: Floats, sums: _SideSums, spread: Floats) -> Floats:
    """Return H⁻¹ · sums.difference. spread: the inverse of a similar H."""
    degrees, right_side = sums.left + sums.right, sums.difference
    solution: Floats = spread @ right_side
    before = float(np.abs(solution).max())
    for _ in range(MAX_STEPS):
        across = pairs.row_products(weight, solution) + pairs.column_products(weight, solution)
        product = degrees * solution - across
        step = spread @ (right_side - product)
        solution = solution + step
        size = float(np.abs(step).max())
        # The next step would be shorter by the same factor.
        if size**2 <= STEP_TOLERANCE * before * float(np.abs(solution).max()):
            break
        before = size
    return solution


def _joint_fit(tally: Tally, same: Flags) -> _JointFit | None:
    """Return None where β has no finite maximum."""
    theta, bias, cells, pairs = np.zeros(tally.models), 0.0, tally.cells, tally.pairs
    for _ in range(MAX_STEPS):
        p = tally.win_probabilities(theta, bias=bias)
        residuals = tally.won + tally.tied / 2 - cells * p
        gradient = np.append(_SideSums.of(pairs, residuals).difference, residuals.sum())
        try:
            factor = cho_factor(_information(pairs, cells * p * (1 - p), same), overwrite_a=True)
        except np.linalg.LinAlgError:  # for example when every winner was on the left
            return None
        step = cho_solve(factor, gradient)
        step /= max(1.0, np.ptp(step[:-1]) + abs(step[-1]))
        theta, bias = theta + step[:-1], bias + float(step[-1])
        if abs(bias) > _MAX_BIAS:
            return None
        if np.abs(step).max() <= STEP_TOLERANCE:
            inverse = cho_solve(factor, np.eye(len(gradient)))
            towards, variance = inverse[:-1, -1], float(inverse[-1, -1])
            spread = inverse[:-1, :-1] - np.outer(towards, towards) / variance
            even = p * (1 - p)
            return _JointFit(theta, bias, p, even, spread, towards, variance, float(np.vdot(cells, even)))
    raise ArithmeticError("no convergence of the side bias")


def _information(pairs: Pairs, weight: Floats, same: Flags) -> Floats:
    """Return the information of all θ and, last, β; each component's mean θ is fixed at 0."""
    size = pairs.models
    information = np.empty((size + 1, size + 1))
    level = weight.sum() / size**2
    information[:-1, :-1] = pairs.laplacian(weight) + level * same
    information[:-1, -1] = information[-1, :-1] = _SideSums.of(pairs, weight).difference
    information[-1, -1] = weight.sum()
    return information
