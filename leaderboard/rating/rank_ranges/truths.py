from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, cholesky, eigh
from scipy.special import logsumexp, ndtri

from leaderboard.rating.bradley_terry import Floats

DRAWS = 1000
SEED = 20240601
MAX_LEVELS = 8
# Points²: keeps densities finite where a covariance is singular.
MIN_VARIANCE = 1e-6
_EM_STEPS = 30


def plausible_truths(score: Floats, covariance: Floats) -> Floats:
    """Return draws of true scores given score ~ N(truth, covariance), up to a constant, shape (models, DRAWS).

    Sources: Efron, Morris (1973), empirical Bayes; Kass, Raftery (1995), BIC.
    """
    # The prior is estimated from the scores: a normal distribution, or 1 to MAX_LEVELS levels of equal models. Draws
    # are shared among these in proportion to exp(−BIC / 2), their approximate probabilities.
    centred = score - score.mean()
    variance = np.maximum(np.diag(covariance), MIN_VARIANCE)
    most = max(1, min(MAX_LEVELS, len(score) // 2))
    levels = _LevelsPosterior.fit_numbers_of_levels(centred, variance, most=most)
    posteriors: list[_NormalPosterior | _LevelsPosterior] = [_NormalPosterior.fit(centred, covariance), *levels]
    log_weights = np.array([-posterior.bic / 2 for posterior in posteriors])
    ends = np.rint(DRAWS * np.exp(log_weights - logsumexp(log_weights)).cumsum()).astype(int)
    normals = standard_normals(len(score), stream=1)
    parts = [
        posterior.draws(normals[:, begin:end])
        for posterior, begin, end in zip(posteriors, [0, *ends[:-1]], ends, strict=True)
        if end > begin
    ]
    return np.concatenate(parts, axis=1)


def covariance_root(covariance: Floats) -> Floats:
    """Return R with R Rᵀ = covariance, also where that is singular, up to rounding."""
    try:
        return cholesky(covariance, lower=True)
    except LinAlgError:
        variances, directions = eigh(covariance)
        return directions * np.sqrt(np.maximum(variances, 0))


@lru_cache(maxsize=2)  # most boards of an arena have the same number of models
def standard_normals(models: int, *, stream: int = 0) -> Floats:
    """Return fixed standard normals, shape (models, DRAWS): NumPy guarantees the stream of RandomState."""
    return np.random.RandomState(SEED + stream).standard_normal((models, DRAWS))


@dataclass(frozen=True)
class _NormalPosterior:
    """Posterior under a normal prior; root: of the covariance, shape (models, models)."""

    bic: float
    mean: Floats
    root: Floats

    @classmethod
    def fit(cls, score: Floats, covariance: Floats) -> "_NormalPosterior":
        models = len(score)
        noise = covariance.trace() - covariance.sum() / models
        prior = max(0.0, (score @ score - noise) / max(models - 1, 1))
        total = np.maximum(np.diag(covariance), MIN_VARIANCE) + prior
        bic = float((score**2 / total + np.log(total)).sum() + 2 * np.log(models))
        if prior == 0:
            return cls(bic, np.zeros(models), np.zeros((models, models)))
        # A common variance of all scores changes no difference and makes the posterior covariance regular.
        regular = covariance + covariance.trace() / models**2
        factor = cho_factor(regular + prior * np.eye(models))
        posterior = prior * cho_solve(factor, regular)
        return cls(bic, prior * cho_solve(factor, score), covariance_root((posterior + posterior.T) / 2))

    def draws(self, normals: Floats) -> Floats:
        drawn: Floats = self.mean[:, None] + self.root @ normals
        return drawn


@dataclass(frozen=True)
class _LevelsPosterior:
    """Posterior under a few levels of equal models; probability: shape (models, levels)."""

    bic: float
    level: Floats
    probability: Floats

    @classmethod
    def fit_numbers_of_levels(cls, score: Floats, variance: Floats, *, most: int) -> "list[_LevelsPosterior]":
        """Fit 1 to `most` levels and their shares by the EM algorithm, with errors taken as independent."""
        # At once, in arrays of shape (most, models, most); unused levels have share 0.
        levels = np.arange(1, most + 1)[:, None]
        share = (np.arange(most) < levels) / levels
        level = np.quantile(score, np.minimum((np.arange(most) + 0.5) / levels, 1))
        score, precision = score[:, None], 1 / variance[:, None]
        for _ in range(_EM_STEPS):
            squares = (score - level[:, None]) ** 2 * precision
            nearest = squares.min(axis=2, where=share[:, None] > 0, initial=np.inf, keepdims=True)
            joint = share[:, None] * np.exp(np.minimum(nearest - squares, 0) / 2)
            likelihood = joint.sum(axis=2, keepdims=True)
            probability = joint / likelihood
            share = probability.mean(axis=1)
            information = probability * precision
            level = (information * score).sum(axis=1) / np.maximum(information.sum(axis=1), np.finfo(float).tiny)
        deviance = (nearest - 2 * np.log(likelihood)).sum(axis=(1, 2)) + np.log(variance).sum()
        bic = deviance + (2 * levels[:, 0] - 1) * np.log(len(score))
        return [cls(float(bic[k]), level[k, : k + 1], probability[k, :, : k + 1]) for k in range(most)]

    def draws(self, normals: Floats) -> Floats:
        bounds = ndtri(np.minimum(self.probability.cumsum(axis=1), 1))
        chosen = np.zeros(normals.shape, dtype=np.int64)
        for bound in bounds.T[:-1]:
            chosen += normals > bound[:, None]
        drawn: Floats = self.level[chosen]
        return drawn
