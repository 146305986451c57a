"""Whether the left side does better, whoever sits there."""

from dataclasses import dataclass, field, replace

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from leaderboard.rating.bradley_terry import (
    LAST_STEP,
    MOST_STEPS,
    POINTS,
    Flags,
    Floats,
    Tally,
    laplacian,
    mirrored,
    strong_pieces,
)
from leaderboard.rating.clustering import VoterVotes, inflation_of_one
from leaderboard.rating.intervals import Z

APPLIED_FROM = 3.0
# Natural-log units: whoever gets there is on the way to infinity.
_FARTHEST = 20.0


@dataclass(frozen=True)
class SideBias:
    """β and its standard error in points: what sitting left is worth. inflation: DEFF, which the error contains.

    strengths: θ that were fitted with β, shape (models,), natural-log units: from where a fit of the scores is near.
    """

    points: float
    se: float
    inflation: float
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
        """Large and certain enough that scores are to be corrected, which is a method version of its own."""
        return abs(self.z) > APPLIED_FROM

    @property
    def theta(self) -> float:
        """β in natural-log units."""
        return float(self.points / POINTS)

    @property
    def variance(self) -> float:
        """Of β, in natural-log units."""
        return float((self.se / POINTS) ** 2)


def estimate_side_bias(tally: Tally, voters: VoterVotes | None = None, *, inflation: float = 1.0) -> SideBias | None:
    """β of logit P(left preferred) = θ[left] − θ[right] + β, fitted with all θ; None where it has no finite estimate.

    It takes the votes inside strongly connected pieces, where θ is finite, of established models and others alike.
    The variance is DEFF · max(HC3, φ·H⁻¹), as for scores. Source: Davidson, Beaver, “On extending the
    Bradley–Terry model to incorporate within-pair order effects”, Biometrics 33 (1977). Without `voters`, DEFF is
    what an earlier estimate found as its `inflation`.
    """
    piece = strong_pieces(tally.taken)
    same = piece[:, None] == piece
    inside = Tally(tally.won * same, tally.lost * same, tally.tied * same) if piece.any() else tally
    seats = inside.cells
    if not seats.any():
        return None
    fit = _joint_fit(inside, same)
    if fit is None:
        return None
    theta, bias, p, spread = fit
    among, towards, own = spread[:-1, :-1], spread[:-1, -1], spread[-1, -1]
    # What one unit of a vote's residual adds to β.
    influence = towards[:, None] - towards + own
    leverage = np.add.outer(np.diag(among), np.diag(among)) - 2 * among + 2 * influence - own
    squares, weight = inside.squared_residuals(p), p * (1 - p)
    hc3 = (squares * influence**2 / np.maximum(1 - weight * leverage, 1e-6) ** 2).sum()
    phi = min(1.0, (squares.sum() + 0.25) / ((seats * weight).sum() + 0.25))
    deff = inflation_of_one(voters.where(same[voters.left, voters.right]), p, influence) if voters else inflation
    error = np.sqrt(deff * max(hc3, phi * own))
    return SideBias(float(POINTS * bias), float(POINTS * error), float(deff), theta)


def _joint_fit(tally: Tally, same: Flags) -> tuple[Floats, float, Floats, Floats] | None:
    """(θ, β, p, inverse information of every θ and, last, β), or None where β has no finite maximum."""
    theta, bias, seats = np.zeros(len(same)), 0.0, tally.cells
    for _ in range(MOST_STEPS):
        p = replace(tally, bias=bias).chances(theta)
        rest = tally.won + tally.tied / 2 - seats * p
        gradient = np.append(rest.sum(axis=1) - rest.sum(axis=0), rest.sum())
        try:
            factor = cho_factor(_information(seats * p * (1 - p), same), overwrite_a=True)
        except np.linalg.LinAlgError:  # whoever won sat left, say
            return None
        step = cho_solve(factor, gradient)
        step /= max(1.0, np.ptp(step[:-1]) + abs(step[-1]))
        theta, bias = theta + step[:-1], bias + float(step[-1])
        if abs(bias) > _FARTHEST:
            return None
        if np.abs(step).max() <= LAST_STEP:
            return theta, bias, p, cho_solve(factor, np.eye(len(gradient)))
    raise ArithmeticError("no convergence of the side bias")


def _information(weight: Floats, same: Flags) -> Floats:
    """Of every θ and, last, β; each piece's mean θ is fixed at 0."""
    size = len(weight)
    information = np.empty((size + 1, size + 1))
    level = weight.sum() / size**2
    information[:-1, :-1] = laplacian(mirrored(weight)) + level * same
    information[:-1, -1] = information[-1, :-1] = weight.sum(axis=1) - weight.sum(axis=0)
    information[-1, -1] = weight.sum()
    return information
