"""Estimate of the side bias: the advantage of the left answer."""

from dataclasses import dataclass, field, replace

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from leaderboard.rating.bradley_terry import (
    MAX_STEPS,
    POINTS,
    STEP_TOLERANCE,
    Flags,
    Floats,
    Tally,
    laplacian,
    strong_components,
    symmetrized,
)
from leaderboard.rating.clustering import VoterVotes, scalar_design_effect
from leaderboard.rating.intervals import Z

MIN_Z = 3.0
# Natural-log units: beyond this the estimate diverges.
_MAX_BIAS = 20.0


@dataclass(frozen=True)
class SideBias:
    """Side bias β and its standard error, which contains design_effect (DEFF), in points.

    strengths: θ fitted together with β, shape (models,), natural-log units: a start for the fit of the scores.
    """

    points: float
    se: float
    design_effect: float
    strengths: Floats = field(repr=False, compare=False)

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
        return abs(self.z) > MIN_Z

    @property
    def theta(self) -> float:
        return float(self.points / POINTS)

    @property
    def variance(self) -> float:
        return float((self.se / POINTS) ** 2)


def estimate_side_bias(tally: Tally, voters: VoterVotes | None = None, *, deff: float = 1.0) -> SideBias | None:
    """Fit β of logit P(left preferred) = θ[left] − θ[right] + β with all θ; None where it has no finite estimate.

    Uses the votes inside strongly connected components, where θ is finite. The variance is DEFF · max(HC3, φ·H⁻¹), as
    for scores. deff: the design effect used without `voters`.
    Source: Davidson, Beaver, “On extending the Bradley–Terry model to incorporate within-pair order effects”,
    Biometrics 33 (1977).
    """
    component = strong_components(tally.effective_wins)
    is_same = component[:, None] == component
    inside = Tally(tally.won * is_same, tally.lost * is_same, tally.tied * is_same) if component.any() else tally
    cells = inside.cells
    if not cells.any():
        return None
    fit = _joint_fit(inside, is_same)
    if fit is None:
        return None
    theta, bias, p, spread = fit
    among, towards, own = spread[:-1, :-1], spread[:-1, -1], spread[-1, -1]
    # The change of β per unit of a vote's residual.
    influence = towards[:, None] - towards + own
    leverage = np.add.outer(np.diag(among), np.diag(among)) - 2 * among + 2 * influence - own
    squares, weight = inside.squared_residuals(p), p * (1 - p)
    hc3 = (squares * influence**2 / np.maximum(1 - weight * leverage, 1e-6) ** 2).sum()
    phi = min(1.0, (squares.sum() + 0.25) / ((cells * weight).sum() + 0.25))
    if voters:
        deff = scalar_design_effect(voters.where(is_same[voters.left, voters.right]), p, influence)
    error = np.sqrt(deff * max(hc3, phi * own))
    return SideBias(float(POINTS * bias), float(POINTS * error), float(deff), theta)


def _joint_fit(tally: Tally, same: Flags) -> tuple[Floats, float, Floats, Floats] | None:
    """Return (θ, β, p, inverse information of all θ and, last, β), or None where β has no finite maximum."""
    theta, bias, cells = np.zeros(len(same)), 0.0, tally.cells
    for _ in range(MAX_STEPS):
        p = replace(tally, bias=bias).win_probabilities(theta)
        residuals = tally.won + tally.tied / 2 - cells * p
        gradient = np.append(residuals.sum(axis=1) - residuals.sum(axis=0), residuals.sum())
        try:
            factor = cho_factor(_information(cells * p * (1 - p), same), overwrite_a=True)
        except np.linalg.LinAlgError:  # for example when every winner was on the left
            return None
        step = cho_solve(factor, gradient)
        step /= max(1.0, np.ptp(step[:-1]) + abs(step[-1]))
        theta, bias = theta + step[:-1], bias + float(step[-1])
        if abs(bias) > _MAX_BIAS:
            return None
        if np.abs(step).max() <= STEP_TOLERANCE:
            return theta, bias, p, cho_solve(factor, np.eye(len(gradient)))
    raise ArithmeticError("no convergence of the side bias")


def _information(weight: Floats, same: Flags) -> Floats:
    """Return the information of all θ and, last, β; each component's mean θ is fixed at 0."""
    size = len(weight)
    information = np.empty((size + 1, size + 1))
    level = weight.sum() / size**2
    information[:-1, :-1] = laplacian(symmetrized(weight)) + level * same
    information[:-1, -1] = information[-1, :-1] = weight.sum(axis=1) - weight.sum(axis=0)
    information[-1, -1] = weight.sum()
    return information
