"""Style-controlled Bradley–Terry: length and formatting as covariates.

For a vote on models i (left) and j (right) with features f, shape (k,):

    logit P(left preferred) = θ[i] − θ[j] + β · x,    x = (f − mean) / sd,    f = (a − b) / (a + b), 0 where a = b = 0

a and b are the two answers' tokens, headings, bold runs and list items. Ties of both kinds count ½. There is no
penalty: a ridge on β would shrink the effect to be controlled for. A feature that, with the models and the features
before it, separates the winners of its votes has no finite β: it is dropped, and the others are fitted.
Sources: Li, Angelopoulos, Chiang, "Does style matter? Disentangling style and substance in Chatbot Arena" (2024);
the sandwich with leverages: MacKinnon, White, Journal of Econometrics 29 (1985).
"""

from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from leaderboard.rating.bradley_terry import (
    CONVERGED,
    POINTS,
    Flags,
    Floats,
    NotConnected,
    maximum_likelihood,
)
from leaderboard.rating.intervals import Z, dispersion
from leaderboard.rating.style_design_matrix import Ints, StyledVotes, sum_by_index

FEATURES = ("tokens", "headings", "bold", "lists")
MAX_STEPS = 40
# Share of a feature's variation that must not be explained by the models and the features before it.
MIN_OWN_VARIATION = 1e-6


class _NoFiniteFit(ValueError):
    """Raised when features and models separate the winners: a coefficient has no finite maximum."""


@dataclass(frozen=True)
class Scaling:
    """Mean and standard deviation of features, shape (k,); frozen per board and method version."""

    mean: Floats
    sd: Floats


@dataclass(frozen=True)
class StyleFit:
    """Scores and 95 % bounds in points, shape (models,), NaN for a model that is not established.

    coefficients, errors: shape (k,), β and its standard error, in logit per standard deviation of the feature.
    dropped: shape (k,), features that are constant, collinear or separating; their β and error are 0.
    separating: shape (k,), dropped features that predict the winner of all their votes.
    covariance: of the scores, shape (models, models), points²; 0 where a model is not established.
    """

    score: Floats
    low: Floats
    high: Floats
    coefficients: Floats
    errors: Floats
    dropped: Flags
    separating: Flags
    covariance: Floats


def style_features(left: Ints, right: Ints) -> Floats:
    """Return f of the two sides' counts, shapes (votes, k), from −1 (all on the right) to 1."""
    total = left + right
    features: Floats = np.divide(left - right, total, out=np.zeros(total.shape), where=total > 0)
    return features


def scaling_of(features: Floats, *, times: Floats | None = None, mirrored: bool = True) -> Scaling:
    """Return the scaling of features of shape (votes, k).

    mirrored: add each vote's mirror image, so that the mean is 0 and swapping sides changes nothing, unlike other
    libraries.
    """
    weights = np.ones(len(features)) if times is None else times
    total = max(float(weights.sum()), 1.0)
    mean = np.zeros(features.shape[1]) if mirrored else weights @ features / total
    return Scaling(mean, np.sqrt(weights @ (features - mean) ** 2 / total))


def fit_style(
    left: Ints,
    right: Ints,
    share: Floats,
    features: Floats,
    *,
    established: Flags,
    scaling: Scaling,
    times: Floats | None = None,
    deff: Floats | None = None,
    leverages: bool = True,
    offset: float = 1500,
) -> StyleFit:
    """Fit the votes among established models by maximum likelihood, mean θ 0, with sandwich errors.

    left, right, share (of the left: 1, 0 or ½), times (how often a vote counts): shape (votes,); features: shape
    (votes, k); deff: design effects, shape (models,). Raises NotConnected.

    With z = (e_i − e_j, x) and H = Σ n p q z zᵀ: se² = deff · max((H⁻¹ (Σ n r² z zᵀ) H⁻¹)_ii, φ · (H⁻¹)_ii), where
    r = (y − p) / (1 − h) and h = p q zᵀ H⁻¹ z (HC3), and φ is the dispersion as in rating.intervals. Without
    `leverages`, h = 0 and φ = 0, as in other libraries.
    """
    votes, varies = _established_votes(established, left, right, share, features, scaling, times)
    fit = _fit_finite_features(votes)
    kept, separating = np.zeros((2, len(varies)), dtype=bool)
    kept[varies], separating[varies] = fit.kept, fit.separating
    votes, solution, information = votes.with_features(fit.kept), fit.solution, fit.information
    sandwich = _sandwich(votes, solution, information, leverages=leverages)
    theta, beta = np.split(solution, [votes.models])
    inflation = np.sqrt(np.ones(votes.models) if deff is None else deff[established])
    strength_covariance = sandwich[: votes.models, : votes.models] * np.outer(inflation, inflation)
    half = Z * np.sqrt(np.diag(strength_covariance))
    score, low, high = np.full((3, len(established)), np.nan)
    score[established] = offset + POINTS * theta
    low[established], high[established] = offset + POINTS * (theta - half), offset + POINTS * (theta + half)
    coefficients, errors = np.zeros((2, len(kept)))
    coefficients[kept], errors[kept] = beta, np.sqrt(np.diag(sandwich)[votes.models :])
    covariance = np.zeros((len(established), len(established)))
    covariance[np.ix_(established, established)] = POINTS**2 * strength_covariance
    return StyleFit(score, low, high, coefficients, errors, ~kept, separating, covariance)


def _established_votes(
    established: Flags,
    left: Ints,
    right: Ints,
    share: Floats,
    features: Floats,
    scaling: Scaling,
    times: Floats | None,
) -> tuple[StyledVotes, Flags]:
    """Return the votes among established models, renumbered, and a mask of the features that vary."""
    rows = np.flatnonzero(established[left] & established[right])
    number = np.cumsum(established) - 1
    varies = scaling.sd > MIN_OWN_VARIATION
    x = np.empty((int(varies.sum()), len(rows)))
    for row, feature in zip(x, np.flatnonzero(varies), strict=True):
        row[:] = features[rows, feature]
        row -= scaling.mean[feature]
        row /= scaling.sd[feature]
    votes = StyledVotes(
        models=int(established.sum()),
        left=number[left[rows]],
        right=number[right[rows]],
        share=share[rows],
        times=np.ones(len(rows)) if times is None else times[rows],
        x=x,
    )
    return votes, varies


def _strengths_without_style(votes: StyledVotes) -> Floats:
    if votes.models < 2:
        raise NotConnected
    shape = (votes.models, votes.models)
    left_wins = sum_by_index(votes.pairs, votes.times * votes.share, votes.models**2).reshape(shape)
    right_wins = sum_by_index(votes.pairs, votes.times * (1 - votes.share), votes.models**2).reshape(shape)
    return maximum_likelihood(left_wins + right_wins.T, np.zeros(shape))


class _FiniteFit(NamedTuple):
    """Maximum with the `kept` features, shape (k,); with a `separating` one, there is none."""

    kept: Flags
    separating: Flags
    solution: Floats
    information: Floats


def _fit_finite_features(votes: StyledVotes) -> _FiniteFit:
    """Fit with all linearly independent features, or if that has no maximum, with those that can be added in order.

    A separating set stays separating with more features, so no dropped feature could be added later.
    """
    models = votes.models
    start = np.append(_strengths_without_style(votes), np.zeros(len(votes.x)))
    information, gradient = _derivatives(votes, start)

    def fit(features: Flags) -> tuple[Floats, Floats]:
        selected = np.append(np.ones(models, dtype=bool), features)
        return _newton(
            votes.with_features(features), start[selected], information[np.ix_(selected, selected)], gradient[selected]
        )

    kept, separating = _independent_features(information, models), np.zeros(len(votes.x), dtype=bool)
    with suppress(_NoFiniteFit):
        return _FiniteFit(kept, separating, *fit(kept))
    kept = np.zeros(len(votes.x), dtype=bool)
    maximum = fit(kept)
    for feature in range(len(votes.x)):
        kept[feature] = True
        selected = np.append(np.ones(models, dtype=bool), kept)
        if not _independent_features(information[np.ix_(selected, selected)], models).all():
            kept[feature] = False
            continue
        try:
            maximum = fit(kept)
        except _NoFiniteFit:
            kept[feature], separating[feature] = False, True
    return _FiniteFit(kept, separating, *maximum)


def _independent_features(information: Floats, models: int) -> Flags:
    """Return the features with variation left after the models and earlier features (Schur complement)."""
    among, across = _with_fixed_mean(information, models)[:models, :models], information[:models, models:]
    features = information[models:, models:]
    rest = features - across.T @ cho_solve(cho_factor(among), across)
    kept = np.zeros(len(rest), dtype=bool)
    for feature in range(len(rest)):
        unexplained = rest[feature, feature]
        if kept.any():
            unexplained -= rest[feature, kept] @ np.linalg.solve(rest[np.ix_(kept, kept)], rest[kept, feature])
        kept[feature] = unexplained > MIN_OWN_VARIATION * features[feature, feature]
    return kept


def _newton(votes: StyledVotes, solution: Floats, information: Floats, gradient: Floats) -> tuple[Floats, Floats]:
    """Return ((θ, β), H) at the maximum, from a start and its derivatives. Raises _NoFiniteFit."""
    largest = np.abs(votes.x).max(axis=1, initial=0)
    for _ in range(MAX_STEPS):
        try:
            step = cho_solve(cho_factor(_with_fixed_mean(information, votes.models)), gradient)
        except LinAlgError as error:  # the information vanishes where every probability is 0 or 1
            raise _NoFiniteFit from error
        # A step that changes no logit by more than 1 always ascends (Bach 2010, self-concordant analysis).
        step /= max(1.0, np.ptp(step[: votes.models]) + np.abs(step[votes.models :]) @ largest)
        solution = solution + step
        if np.abs(step).max() <= CONVERGED:
            return solution, information
        information, gradient = _derivatives(votes, solution)
    raise _NoFiniteFit


def _derivatives(votes: StyledVotes, solution: Floats) -> tuple[Floats, Floats]:
    size = len(solution)
    information, gradient = np.zeros((size, size)), np.zeros(size)
    for block in votes.blocks():
        p = block.win_probabilities(solution)
        gradient += block.sums(block.times * (block.share - p))
        information += block.products(block.times * p * (1 - p))
    return information, gradient


def _sandwich(votes: StyledVotes, solution: Floats, information: Floats, *, leverages: bool) -> Floats:
    """Return H⁻¹ (Σ n r² z zᵀ) H⁻¹, for strengths with mean zero; with `leverages` no variance is below φ · H⁻¹."""
    models, size = votes.models, len(solution)
    spread = cho_solve(cho_factor(_with_fixed_mean(information, models)), np.eye(size))
    spread[:models, :models] -= 1 / (_mean_information(information, models) * models**2)
    variance = np.diag(spread)[:models]
    # zᵀ H⁻¹ z is a sum of three parts: pair with pair, pair with each feature, features with features.
    pair_part = (variance[:, None] + variance - 2 * spread[:models, :models]).ravel()
    feature_parts = 2 * (spread[models:, :models, None] - spread[models:, None, :models]).reshape(-1, models**2)
    meat = np.zeros((size, size))
    squared_residuals = expected = 0.0
    for block in votes.blocks():
        p = block.win_probabilities(solution)
        residual = block.share - p
        squared_residuals += float(block.times @ residual**2)
        expected += float(block.times @ (p * (1 - p)))
        if leverages:
            form = pair_part[block.pairs] + (block.x * (spread[models:, models:] @ block.x)).sum(axis=0)
            for part, values in zip(feature_parts, block.x, strict=True):
                form += part[block.pairs] * values
            residual /= np.maximum(1 - p * (1 - p) * form, 1e-6)
        meat += block.products(block.times * residual**2)
    sandwich = spread @ meat @ spread
    if not leverages:
        return sandwich
    return _with_min_variances(sandwich, dispersion(squared_residuals, expected) * spread)


def _with_min_variances(sandwich: Floats, least: Floats) -> Floats:
    """Return the covariance `sandwich` with variances raised to at least those of the covariance `least`.

    Where every vote is a tie, the sandwich is 0 and the result is `least`.
    """
    floor = np.diag(least)
    missing = np.maximum(floor - np.diag(sandwich), 0)
    scale = np.sqrt(np.divide(missing, floor, out=np.zeros_like(floor), where=floor > 0))
    return sandwich + scale[:, None] * least * scale


def _mean_information(information: Floats, models: int) -> float:
    return float(information[:models, :models].trace()) / models**2


def _with_fixed_mean(information: Floats, models: int) -> Floats:
    """Return the information plus a term that fixes the mean of θ at 0 and so makes it invertible."""
    result = information.copy()
    result[:models, :models] += _mean_information(information, models)
    return result
