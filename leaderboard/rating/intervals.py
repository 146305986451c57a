"""How uncertain strengths are: sandwich covariances from pair counts."""

from dataclasses import dataclass

import numpy as np

from leaderboard.rating.bradley_terry import Floats, Tally, laplacian, mirrored

Z = 1.959963984540054  # two-sided 95 %


@dataclass(frozen=True)
class Uncertainty:
    """variance: shape (models,), of each strength; covariance: shape (models, models), with that diagonal."""

    variance: Floats
    covariance: Floats
    phi: float


def uncertainty(tally: Tally, p: Floats, spread: Floats, *, inflation: Floats) -> Uncertainty:
    """variance = DEFF · max(HC3, φ · spread), where `spread` is the inverse information and `inflation` DEFF.

    HC3 is the sandwich with v / (1 − h)², h = p·q·xᵀH⁻¹x (MacKinnon, White 1985). The covariance is φ · spread
    with its rows and columns stretched to these variances: unlike an element-wise maximum it is one of something.
    """
    residuals, information = tally.squared_residuals(p), tally.information(p)
    deviation = np.diag(spread)
    leverage = p * (1 - p) * (deviation[:, None] + deviation - 2 * spread)
    # A vote that alone decides a score has h = 1 and no residual: 0 / tiny is 0.
    robust = laplacian(mirrored(residuals / np.maximum(1 - leverage, 1e-6) ** 2))
    hc3 = np.sum((spread @ robust) * spread, axis=1)
    phi = dispersion(residuals.sum(), information.sum() / 2)
    variance = inflation * np.maximum(hc3, phi * deviation)
    stretch = np.sqrt(np.divide(variance, phi * deviation, out=np.zeros_like(variance), where=deviation > 0))
    return Uncertainty(variance, stretch[:, None] * (phi * spread) * stretch, phi)


def dispersion(squared_residuals: float, expected: float) -> float:
    """Return φ, the votes' variance over the one that decisive votes have; above 0 and at most 1.

    squared_residuals: Σ (y − p)²; expected: Σ p (1 − p). Ties spread outcomes less than coins do, so φ is below 1 where
    there are ties. One imaginary decisive vote keeps it above 0.
    """
    return min(1.0, (squared_residuals + 0.25) / (expected + 0.25))
