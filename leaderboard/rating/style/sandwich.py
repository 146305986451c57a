"""Errors of style-controlled scores and coefficients, with votes clustered by voter."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import csr_array

from leaderboard.rating.bradley_terry import Floats, Indices, inverse
from leaderboard.rating.clustering import gram_matrix, one_minus_leverage, variance_ratio
from leaderboard.rating.intervals import dispersion
from leaderboard.rating.style.design_matrix import MatrixSum, StyledVotes, VectorSum, sum_by_index


@dataclass(frozen=True)
class Estimate:
    """Maximum (θ, β) with variances and DEFFs, shape (models + k,), natural-log units."""

    solution: Floats
    variance: Floats
    covariance: Floats  # of θ, shape (models, models)
    design_effects: Floats


def estimate(votes: StyledVotes, solution: Floats, information: Floats, *, leverages: bool) -> Estimate:
    """Return the maximum, one Newton step from `solution`, with variances DEFF · max(HC3, φ · H⁻¹).

    information: H near it. Without `leverages`, variances are HC0.
    """
    # HC3 is the diagonal of H⁻¹ (Σ n (r / (1 − h))² z zᵀ) H⁻¹ where r = y − p and h = p q zᵀ H⁻¹ z. DEFF is the same
    # with the sum of n r z of each voter, divided by one minus the voter's share of Σ n p q z², over HC3.
    models, size = votes.models, len(solution)
    moments, unknown_voters = MatrixSum(models, size - models), MatrixSum(models, size - models)
    hessian, gradient = MatrixSum(models, size - models), VectorSum(models, size - models)
    form = _QuadraticForm(inverse_information(information, models), models)
    known = float(votes.times[np.searchsorted(votes.voter, 0) :].sum() / votes.times.sum())
    clusters = _Clusters(models, np.diag(information) * known)
    squares = expected = 0.0
    for block in votes.blocks():
        p = block.win_probabilities(solution)
        weight, residual = block.times * p * (1 - p), block.share - p
        hessian.add(block, weight)
        gradient.add(block, block.times * residual)
        squares += float(block.times @ residual**2)
        expected += float(weight.sum())
        if not leverages:
            moments.add(block, block.times * residual**2)
            continue
        is_known = block.voter[0] >= 0
        if is_known:
            clusters.add(block, block.times * residual, weight)
        residual = residual / np.maximum(1 - p * (1 - p) * form.at(block), 1e-6)
        (moments if is_known else unknown_voters).add(block, block.times * residual**2)
    spread = inverse_information(hessian.total, models)
    solution = solution + spread @ gradient.total
    sandwich = spread @ moments.total @ spread
    if not leverages:
        return Estimate(solution, np.diag(sandwich), sandwich[:models, :models], np.ones(size))
    clustered = spread @ clusters.meat @ spread
    design_effects = clusters.design_effects(np.diag(clustered), np.diag(sandwich))
    independent = _with_min_variances(
        sandwich + spread @ unknown_voters.total @ spread, dispersion(squares, expected) * spread
    )
    variance = design_effects * np.diag(independent)
    covariance = _at_least(clustered[:models, :models], independent[:models, :models])
    return Estimate(solution, variance, _with_variances(covariance, variance[:models]), design_effects)


def inverse_information(information: Floats, models: int) -> Floats:
    spread = inverse(with_fixed_mean(information, models))
    spread[:models, :models] -= 1 / (_mean_information(information, models) * models**2)
    return spread


def with_fixed_mean(information: Floats, models: int) -> Floats:
    """Return the information plus a term that makes it invertible."""
    result = information.copy()
    result[:models, :models] += _mean_information(information, models)
    return result


def _mean_information(information: Floats, models: int) -> float:
    return float(information[:models, :models].trace()) / models**2


class _QuadraticForm:
    """zᵀ H⁻¹ z of votes."""

    def __init__(self, spread: Floats, models: int) -> None:
        # A sum of three parts: pair with pair, pair with covariates, covariates with each other.
        variance = np.diag(spread)[:models]
        self._pairs = (variance[:, None] + variance - 2 * spread[:models, :models]).ravel()
        self._across = 2 * (spread[models:, :models, None] - spread[models:, None, :models]).reshape(-1, models**2)
        self._x = spread[models:, models:]

    def at(self, votes: StyledVotes) -> Floats:
        inner = self._x @ votes.x
        for sums, pairs in zip(inner, self._across, strict=True):
            sums += pairs[votes.pair]
        inner *= votes.x
        form: Floats = self._pairs[votes.pair] + inner.sum(axis=0)
        return form


class _Clusters:
    """Sums over voters; information: diagonal of H."""

    def __init__(self, models: int, information: Floats) -> None:
        self._models = models
        self._sides = np.stack(np.divmod(np.arange(models**2, dtype=np.int32), np.int32(models)), axis=1)
        self._information = np.where(information > 0, information, 1)
        self.meat = np.zeros((len(information), len(information)))
        self._concentration, self._vote_concentration = np.zeros((2, len(information)))

    def add(self, votes: StyledVotes, score: Floats, weight: Floats) -> None:
        """Add the votes of whole voters. score: n r; weight: n p q."""
        starts = np.flatnonzero(np.diff(votes.voter, prepend=-1))
        strengths, shares = self._sums_by_model(votes, score, weight, starts)
        own = np.add.reduceat(votes.x * score, starts, axis=1)
        squares = votes.x**2 * weight
        own_shares = np.add.reduceat(squares, starts, axis=1) / self._information[self._models :, None]
        own /= one_minus_leverage(own_shares)
        across = own @ strengths
        self.meat += np.block([[gram_matrix(strengths), across.T], [across, own @ own.T]])
        self._concentration += np.append(shares, (own_shares**2).sum(axis=1))
        by_pair = sum_by_index(votes.pair, weight**2 / votes.times, self._models**2).reshape(self._models, -1)
        of_covariates = (squares**2 / votes.times).sum(axis=1)
        alone = np.append(by_pair.sum(axis=0) + by_pair.sum(axis=1), of_covariates)
        self._vote_concentration += alone / self._information**2

    def _sums_by_model(
        self, votes: StyledVotes, score: Floats, weight: Floats, starts: Indices
    ) -> tuple[csr_array, Floats]:
        """Return corrected scores by voter and Σ share²."""
        # A voter's scores and information are summed together, as parts of complex numbers.
        values = np.empty((len(votes.pair), 2), dtype=np.complex128)
        values.real, values.imag = score[:, None] * (1, -1), weight[:, None]
        models = self._sides[votes.pair]
        rows = 2 * np.append(starts, len(votes.pair)).astype(np.int32)
        sums = csr_array((values.ravel(), models.ravel(), rows), shape=(len(starts), self._models))
        sums = sums.tocsc().tocsr()  # sorts the models of each voter in linear time
        sums.sum_duplicates()
        share = sums.data.imag / self._information[sums.indices]
        scores = csr_array((sums.data.real / one_minus_leverage(share), sums.indices, sums.indptr), shape=sums.shape)
        return scores, sum_by_index(sums.indices, share**2, self._models)

    def design_effects(self, clustered: Floats, independent: Floats) -> Floats:
        return variance_ratio(clustered, self._concentration, independent, self._vote_concentration)


def _at_least(covariance: Floats, least: Floats) -> Floats:
    """Return a covariance not below either in any direction."""
    excess, directions = eigh(covariance - least)
    return least + (directions * np.maximum(excess, 0)) @ directions.T


def _with_variances(covariance: Floats, variance: Floats) -> Floats:
    own = np.diag(covariance)
    scale = np.sqrt(np.divide(variance, own, out=np.zeros_like(own), where=own > 0))
    return scale[:, None] * covariance * scale


def _with_min_variances(sandwich: Floats, least: Floats) -> Floats:
    """Return the covariance `sandwich` with variances raised to at least those of the covariance `least`.

    Where every vote is a tie, the sandwich is 0 and the result is `least`.
    """
    floor = np.diag(least)
    missing = np.maximum(floor - np.diag(sandwich), 0)
    scale = np.sqrt(np.divide(missing, floor, out=np.zeros_like(floor), where=floor > 0))
    return sandwich + scale[:, None] * least * scale
