"""Sandwich covariances of strengths from pair counts."""

from dataclasses import dataclass

import numpy as np

from leaderboard.rating.bradley_terry import Floats, Tally
from leaderboard.rating.pairs import Pairs

Z = 1.959963984540054  # two-sided 95 %


@dataclass(frozen=True)
class Uncertainty:
    """Variances, shape (models,), and covariance with the same diagonal."""

    variance: Floats
    covariance: Floats
    phi: float


def uncertainty(tally: Tally, p: Floats, spread: Floats, *, deff: Floats, forms: Floats | None = None) -> Uncertainty:
    """Return variances DEFF · max(HC3, φ · H⁻¹) and their covariance.

    spread: H⁻¹, the inverse information; deff: design effects, shape (models,); forms: quadratic forms of H⁻¹ if known,
    overwritten. HC3 is the sandwich with v / (1 − h)²,
    h = p·q·xᵀH⁻¹x (MacKinnon, White 1985). The covariance is φ · H⁻¹ scaled to these variances.
    """
    # An element-wise maximum of covariances would not be positive semidefinite. The function works in place: each
    # matrix of thousands of models takes some 100 MB.
    pairs, deviation, residuals, weight = tally.pairs, np.diag(spread), tally.squared_residuals(p), p * (1 - p)
    phi = dispersion(residuals.sum(), float(np.vdot(tally.cells, weight)))
    rest = pairs.quadratic_forms(spread) if forms is None else forms
    rest *= weight
    del weight
    rest = one_minus_leverage(rest)
    residuals /= np.square(rest, out=rest)
    del rest
    hc3 = sandwich_diagonal(spread, pairs, residuals)
    variance = deff * np.maximum(hc3, phi * deviation)
    scale = np.sqrt(np.divide(variance, phi * deviation, out=np.zeros_like(variance), where=deviation > 0))
    covariance = scale[:, None] * spread
    covariance *= phi * scale
    return Uncertainty(variance, covariance, phi)


def one_minus_leverage(leverage: Floats) -> Floats:
    """Return 1 − leverage, overwriting it; at least 1e-6."""
    # A vote that alone determines a score has the leverage 1 and the residual 0: 0 / tiny is 0.
    rest = np.subtract(1, leverage, out=leverage)
    if rest.min(initial=1) < 1e-6:  # nearly always false, and much quicker than a maximum
        np.maximum(rest, 1e-6, out=rest)
    return rest


def sandwich_diagonal(spread: Floats, pairs: Pairs, residuals: Floats) -> Floats:
    """Return the diagonal of spread · Laplacian · spread."""
    diagonal = np.zeros(len(spread))
    own = np.flatnonzero(np.diag(spread))  # the spread is 0 where a strength is fixed
    part = spread if len(own) == len(spread) else spread[own]
    for columns, meat in pairs.laplacian_blocks(residuals):
        diagonal[own] += np.vecdot(part @ meat, part[:, columns])
    return diagonal


def dispersion(squared_residuals: float, expected: float) -> float:
    """Return φ, the variance of the votes relative to votes without ties; in (0, 1].

    squared_residuals: Σ (y − p)²; expected: Σ p (1 − p). One virtual decisive vote keeps φ above 0.
    """
    return min(1.0, (squared_residuals + 0.25) / (expected + 0.25))
