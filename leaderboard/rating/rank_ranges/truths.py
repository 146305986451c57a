from dataclasses import dataclass
from functools import lru_cache
from typing import Self

import numpy as np
from scipy.linalg import eigh
from scipy.linalg.blas import dtrmm
from scipy.linalg.lapack import dpotrf
from scipy.special import logsumexp, ndtri

from leaderboard.rating.bradley_terry import Floats, inverse
from leaderboard.rating.pairs import row_blocks

DRAWS = 1000
SEED = 20240601
MAX_LEVELS = 8
# Points²: keeps densities finite where a covariance is singular.
MIN_VARIANCE = 1e-6
_EM_STEPS = 30
_MAX_MODELS_KEPT = 1000


def plausible_truths(score: Floats, covariance: Floats, *, overwrite: bool = False) -> Floats:
    """Return draws of true scores given score ~ N(truth, covariance), up to a constant, shape (models, DRAWS).

    overwrite: whether the covariance may be destroyed.
    Sources: Efron, Morris (1973), empirical Bayes; Kass, Raftery (1995), BIC.
    """
    # The prior is estimated from the scores: a normal distribution, or 1 to MAX_LEVELS levels of equal models. Draws
    # are shared among these in proportion to exp(−BIC / 2), their approximate probabilities.
    centred = score - score.mean()
    variance = np.maximum(np.diag(covariance), MIN_VARIANCE)
    max_levels = max(1, min(MAX_LEVELS, len(score) // 2))
    levels = _LevelsPosterior.fit_numbers_of_levels(centred, variance, max_levels=max_levels)
    posteriors: list[_NormalPosterior | _LevelsPosterior] = [
        _NormalPosterior.fit(centred, covariance if overwrite else covariance.copy()),
        *levels,
    ]
    log_weights = np.array([-posterior.bic / 2 for posterior in posteriors])
    ends = np.rint(DRAWS * np.exp(log_weights - logsumexp(log_weights)).cumsum()).astype(int)
    normals = standard_normals(len(score), stream=1)
    parts = [
        posterior.draws(normals[:, begin:end])
        for posterior, begin, end in zip(posteriors, [0, *ends[:-1]], ends, strict=True)
        if end > begin
    ]
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)


def correlated(covariance: Floats, normals: Floats, *, overwrite: bool = False) -> Floats:
    """Return draws from N(0, covariance), up to rounding, given standard normals of shape (models, draws).

    overwrite: whether the covariance may be destroyed.
    """
    variance = covariance.diagonal().copy()
    # Transposed, the matrix is not copied; without `clean`, its other triangle stays as it is, which `eigh` reads.
    factor, info = dpotrf(covariance.T, lower=1, clean=0, overwrite_a=overwrite)
    if info == 0:
        drawn: Floats = dtrmm(1.0, factor, normals, lower=1, overwrite_b=len(variance) > _MAX_MODELS_KEPT)
        return drawn
    covariance[np.diag_indices(len(variance))] = variance
    variances, directions = eigh(covariance)  # singular
    return (directions * np.sqrt(np.maximum(variances, 0))) @ normals


def standard_normals(models: int, *, stream: int = 0) -> Floats:
    """Return fixed standard normals, shape (models, DRAWS): NumPy guarantees the stream of RandomState."""
    if models > _MAX_MODELS_KEPT:
        return _drawn_normals(models, stream)
    return _kept_normals(models, stream)


def _drawn_normals(models: int, stream: int) -> Floats:
    random, normals = np.random.RandomState(SEED + stream), np.empty((models, DRAWS), order="F")
    for rows in row_blocks(models, DRAWS):  # the same numbers as all at once, without another array of them
        normals[rows] = random.standard_normal(normals[rows].shape)
    return normals


_kept_normals = lru_cache(maxsize=2)(_drawn_normals)  # most boards of an arena have the same number of models


@dataclass(frozen=True)
class _NormalPosterior:
    """Posterior under a normal prior with mean 0; prior: its variance, points². Draws destroy the covariance."""

    bic: float
    score: Floats
    covariance: Floats
    prior: float

    @classmethod
    def fit(cls, score: Floats, covariance: Floats) -> Self:
        models = len(score)
        noise = covariance.trace() - covariance.sum() / models
        prior = max(0.0, float(score @ score - noise) / max(models - 1, 1))
        total = np.maximum(np.diag(covariance), MIN_VARIANCE) + prior
        bic = float((score**2 / total + np.log(total)).sum() + 2 * np.log(models))
        return cls(bic, score, covariance, prior)

    def draws(self, normals: Floats) -> Floats:
        if not self.prior:
            return np.zeros(normals.shape)
        # The mean is prior · K score and the covariance prior · K C = prior − prior² K, where K = (C + prior)⁻¹. A
        # common variance of all scores changes no difference and makes it regular.
        models = len(self.score)
        gain = self.covariance
        gain += gain.trace() / models**2
        gain[np.diag_indices(models)] += self.prior
        gain = inverse(gain, overwrite=True)
        gain *= self.prior
        mean = gain @ self.score
        gain *= -self.prior
        gain[np.diag_indices(models)] += self.prior
        drawn = correlated(gain, normals, overwrite=True)
        drawn += mean[:, None]
        return drawn


@dataclass(frozen=True)
class _LevelsPosterior:
    """Posterior under a few levels of equal models; probability: shape (models, levels)."""

    bic: float
    level: Floats
    probability: Floats

    @classmethod
    def fit_numbers_of_levels(cls, score: Floats, variance: Floats, *, max_levels: int) -> list[Self]:
        """Fit 1 to `max_levels` levels and their shares by the EM algorithm, with errors taken as independent."""
        # All numbers of levels are fitted at once: each row is a level of one of them. Unused levels have share 0.
        levels = np.arange(1, max_levels + 1)
        begins, number = levels.cumsum() - levels, np.repeat(levels - 1, levels)
        share = 1 / levels[number]
        level = np.quantile(score, (np.arange(len(number)) - begins[number] + 0.5) * share)
        precision = 1 / variance
        sums = np.column_stack([np.ones_like(score), precision, precision * score])
        for _ in range(_EM_STEPS):
            squares = (score - level[:, None]) ** 2
            squares *= precision
            squares[share == 0] = np.inf
            nearest = np.minimum.reduceat(squares, begins)
            probability = np.exp(np.subtract(nearest[number], squares, out=squares) / 2)
            probability *= share[:, None]
            likelihood = np.add.reduceat(probability, begins)
            probability /= likelihood[number]
            total, information, weighted = (probability @ sums).T
            share = total / len(score)
            level = weighted / np.maximum(information, np.finfo(float).tiny)
        deviance = (nearest - 2 * np.log(likelihood)).sum(axis=1) + np.log(variance).sum()
        bic = deviance + (2 * levels - 1) * np.log(len(score))
        rows = [slice(end - number, end) for number, end in zip(levels, levels.cumsum(), strict=True)]
        return [cls(float(bic[k]), level[own], probability[own].T) for k, own in enumerate(rows)]

    def draws(self, normals: Floats) -> Floats:
        bounds = ndtri(np.minimum(self.probability.cumsum(axis=1), 1))
        chosen = np.zeros(normals.shape, dtype=np.int8)
        for bound in bounds.T[:-1]:
            chosen += normals > bound[:, None]
        drawn: Floats = self.level.take(chosen)
        return drawn
