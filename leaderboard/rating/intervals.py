"""Sandwich covariances of strengths from pair counts."""

from dataclasses import dataclass

import numpy as np

from leaderboard.rating.bradley_terry import Floats, Tally, laplacian, symmetrized

Z = 1.959963984540054  # two-sided 95 %


@dataclass(frozen=True)
class Uncertainty:
    """Variances, shape (models,), and covariance with the same diagonal."""

    variance: Floats
    covariance: Floats
    phi: float


def uncertainty(tally: Tally, p: Floats, spread: Floats, *, deff: Floats) -> Uncertainty:
    """Return variances DEFF · max(HC3, φ · H⁻¹) and their covariance.

    spread: H⁻¹, the inverse information; deff: design effects, shape (models,). HC3 is the sandwich with v / (1 − h)²,
    h = p·q·xᵀH⁻¹x (MacKinnon, White 1985). The covariance is φ · H⁻¹ scaled to these variances: unlike an element-wise
    maximum, it is positive semidefinite.
    """
    residuals, information = tally.squared_residuals(p), tally.information(p)
    deviation = np.diag(spread)
    leverage = p * (1 - p) * (deviation[:, None] + deviation - 2 * spread)
    # A vote that alone determines a score has h = 1 and residual 0: 0 / tiny is 0.
    robust = laplacian(symmetrized(residuals / np.maximum(1 - leverage, 1e-6) ** 2))
    hc3 = np.sum((spread @ robust) * spread, axis=1)
    phi = dispersion(residuals.sum(), information.sum() / 2)
    variance = deff * np.maximum(hc3, phi * deviation)
    scale = np.sqrt(np.divide(variance, phi * deviation, out=np.zeros_like(variance), where=deviation > 0))
    return Uncertainty(variance, scale[:, None] * (phi * spread) * scale, phi)


def dispersion(squared_residuals: float, expected: float) -> float:
    """Return φ, the variance of the votes relative to votes without ties; in (0, 1].

    squared_residuals: Σ (y − p)²; expected: Σ p (1 − p). One virtual decisive vote keeps φ above 0.
    """
    return min(1.0, (squared_residuals + 0.25) / (expected + 0.25))
