"""Scores with the answers' dress held equal: Bradley–Terry with length and formatting as covariates.

For a vote on models i (left) and j (right) with features f, shape (k,):

    logit P(left preferred) = θ[i] − θ[j] + β · x,    x = (f − mean) / sd,    f = (a − b) / (a + b), 0 where a = b = 0

a and b are the two answers' tokens, headings, bold runs and list items. Ties of both kinds count ½. There is no
penalty: a ridge on β would shrink the very effect that is to be taken out. A feature has no finite β where, with the
models and the features before it, it tells who wins every vote it is in: it is left out, and the others are fitted.
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
# The part of a feature's variation that the models and the features before it must leave unexplained.
OWN_VARIATION = 1e-6


class _NoFiniteFit(ValueError):
    """Features and models together tell the winner of votes: some coefficient has no finite maximum."""


@dataclass(frozen=True)
class Scaling:
    """Mean and standard deviation of the features, shape (k,): frozen once per board and method version."""

    mean: Floats
    sd: Floats


@dataclass(frozen=True)
class StyleFit:
    """Scores and 95 % bounds in points, shape (models,), NaN for a model that is not established.

    coefficients, errors: shape (k,), β and its standard error, in logit per standard deviation of the feature.
    dropped: shape (k,), features that do not vary, or not on their own, or that separate; their β and error are 0.
    separating: shape (k,), features that tell who wins every vote they are in; they are among the dropped.
    covariance: shape (models, models), points²: what the bounds are made of; 0 where a model is not established.
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
    """f of the two sides' counts, shapes (votes, k): from −1, all of it on the right, to 1."""
    both = left + right
    leaning: Floats = np.divide(left - right, both, out=np.zeros(both.shape), where=both > 0)
    return leaning


def scaling_of(features: Floats, *, times: Floats | None = None, mirrored: bool = True) -> Scaling:
    """What to freeze. `mirrored`: over each vote and its mirror image, so that changing sides changes nothing.

    The mean is then 0 and the standard deviation a root mean square. Other libraries do not mirror.
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
    """The exact maximum-likelihood fit to the votes among the established models, mean θ zero, and its sandwich.

    left, right, share: shape (votes,): indices into `established`, and what the left side took: 1, 0 or ½. features:
    shape (votes, k). times: how often each vote counts, default once. deff: shape (models,), by how much voters with
    tastes of their own inflate a score's variance. Raises NotConnected.

    With z = (e_i − e_j, x) and H = Σ n p q z zᵀ: se² = deff · max((H⁻¹ (Σ n r² z zᵀ) H⁻¹)_ii, φ · (H⁻¹)_ii), where
    r = (y − p) / (1 − h) and h = p q zᵀ H⁻¹ z (HC3), and φ is the dispersion as in rating.intervals. Without
    `leverages` h = 0 and φ = 0, as other libraries have it.
    """
    votes, varies = _among(established, left, right, share, features, scaling, times)
    found = _fit_what_is_finite(votes)
    kept, separating = np.zeros((2, len(varies)), dtype=bool)
    kept[varies], separating[varies] = found.kept, found.separating
    votes, solution, information = votes.with_features(found.kept), found.solution, found.information
    sandwich = _sandwich(votes, solution, information, leverages=leverages)
    theta, beta = np.split(solution, [votes.models])
    inflation = np.sqrt(np.ones(votes.models) if deff is None else deff[established])
    of_strengths = sandwich[: votes.models, : votes.models] * np.outer(inflation, inflation)
    half = Z * np.sqrt(np.diag(of_strengths))
    score, low, high = np.full((3, len(established)), np.nan)
    score[established] = offset + POINTS * theta
    low[established], high[established] = offset + POINTS * (theta - half), offset + POINTS * (theta + half)
    coefficients, errors = np.zeros((2, len(kept)))
    coefficients[kept], errors[kept] = beta, np.sqrt(np.diag(sandwich)[votes.models :])
    covariance = np.zeros((len(established), len(established)))
    covariance[np.ix_(established, established)] = POINTS**2 * of_strengths
    return StyleFit(score, low, high, coefficients, errors, ~kept, separating, covariance)


def _among(
    established: Flags,
    left: Ints,
    right: Ints,
    share: Floats,
    features: Floats,
    scaling: Scaling,
    times: Floats | None,
) -> tuple[StyledVotes, Flags]:
    """The votes with both models established, renumbered, and which features vary at all."""
    rows = np.flatnonzero(established[left] & established[right])
    number = np.cumsum(established) - 1
    varies = scaling.sd > OWN_VARIATION
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
    taken = sum_by_index(votes.pairs, votes.times * votes.share, votes.models**2).reshape(shape)
    given = sum_by_index(votes.pairs, votes.times * (1 - votes.share), votes.models**2).reshape(shape)
    return maximum_likelihood(taken + given.T, np.zeros(shape))


class _Found(NamedTuple):
    """The maximum with the features that are `kept`, shape (k,); `separating` are those that have none."""

    kept: Flags
    separating: Flags
    solution: Floats
    information: Floats


def _fit_what_is_finite(votes: StyledVotes) -> _Found:
    """With every feature that varies on its own. Where that has no maximum, they are taken up one at a time.

    What separates does so with more features, too: those that are kept are as many as can be, the first ones first.
    """
    models = votes.models
    start = np.append(_strengths_without_style(votes), np.zeros(len(votes.x)))
    information, gradient = _derivatives(votes, start)

    def fit(which: Flags) -> tuple[Floats, Floats]:
        stay = np.append(np.ones(models, dtype=bool), which)
        return _newton(votes.with_features(which), start[stay], information[np.ix_(stay, stay)], gradient[stay])

    kept, separating = _vary_on_their_own(information, models), np.zeros(len(votes.x), dtype=bool)
    with suppress(_NoFiniteFit):
        return _Found(kept, separating, *fit(kept))
    kept = np.zeros(len(votes.x), dtype=bool)
    maximum = fit(kept)
    for one in range(len(votes.x)):
        kept[one] = True
        stay = np.append(np.ones(models, dtype=bool), kept)
        if not _vary_on_their_own(information[np.ix_(stay, stay)], models).all():
            kept[one] = False
            continue
        try:
            maximum = fit(kept)
        except _NoFiniteFit:
            kept[one], separating[one] = False, True
    return _Found(kept, separating, *maximum)


def _vary_on_their_own(information: Floats, models: int) -> Flags:
    """Which features leave something once the models and the features before them are taken out (Schur complement)."""
    among, across = _level(information, models)[:models, :models], information[:models, models:]
    features = information[models:, models:]
    rest = features - across.T @ cho_solve(cho_factor(among), across)
    own = np.zeros(len(rest), dtype=bool)
    for one in range(len(rest)):
        left = rest[one, one]
        if own.any():
            left -= rest[one, own] @ np.linalg.solve(rest[np.ix_(own, own)], rest[own, one])
        own[one] = left > OWN_VARIATION * features[one, one]
    return own


def _newton(votes: StyledVotes, solution: Floats, information: Floats, gradient: Floats) -> tuple[Floats, Floats]:
    """((θ, β), H) at the maximum, from a start and its derivatives."""
    reach = np.abs(votes.x).max(axis=1, initial=0)
    for _ in range(MAX_STEPS):
        try:
            step = cho_solve(cho_factor(_level(information, votes.models)), gradient)
        except LinAlgError as error:  # far out, where every chance is 0 or 1, nothing is left to go by
            raise _NoFiniteFit from error
        # A step that changes no logit by more than 1 always climbs (Bach 2010, self-concordant analysis).
        step /= max(1.0, np.ptp(step[: votes.models]) + np.abs(step[votes.models :]) @ reach)
        solution = solution + step
        if np.abs(step).max() <= CONVERGED:
            return solution, information
        information, gradient = _derivatives(votes, solution)
    raise _NoFiniteFit


def _derivatives(votes: StyledVotes, solution: Floats) -> tuple[Floats, Floats]:
    """(H, gradient)."""
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
    spread = cho_solve(cho_factor(_level(information, models)), np.eye(size))
    spread[:models, :models] -= 1 / (_level_of(information, models) * models**2)
    variance = np.diag(spread)[:models]
    # zᵀ H⁻¹ z in three parts: among the pair, of the pair with each feature, among the features.
    of_pair = (variance[:, None] + variance - 2 * spread[:models, :models]).ravel()
    with_feature = 2 * (spread[models:, :models, None] - spread[models:, None, :models]).reshape(-1, models**2)
    meat = np.zeros((size, size))
    squared_residuals = expected = 0.0
    for block in votes.blocks():
        p = block.win_probabilities(solution)
        residual = block.share - p
        squared_residuals += float(block.times @ residual**2)
        expected += float(block.times @ (p * (1 - p)))
        if leverages:
            reach = of_pair[block.pairs] + (block.x * (spread[models:, models:] @ block.x)).sum(axis=0)
            for table, values in zip(with_feature, block.x, strict=True):
                reach += table[block.pairs] * values
            residual /= np.maximum(1 - p * (1 - p) * reach, 1e-6)
        meat += block.products(block.times * residual**2)
    sandwich = spread @ meat @ spread
    if not leverages:
        return sandwich
    return _with_least_variances(sandwich, dispersion(squared_residuals, expected) * spread)


def _with_least_variances(sandwich: Floats, least: Floats) -> Floats:
    """Raise variances of `sandwich` to those of `least`, both covariances, and leave the others as they are.

    What is added is a covariance too, so the sum is one: `least` with its rows and columns shrunk. Where every vote is
    a tie, all residuals and with them the sandwich are 0, and the result is `least`.
    """
    floor = np.diag(least)
    missing = np.maximum(floor - np.diag(sandwich), 0)
    shrink = np.sqrt(np.divide(missing, floor, out=np.zeros_like(floor), where=floor > 0))
    return sandwich + shrink[:, None] * least * shrink


def _level_of(information: Floats, models: int) -> float:
    return float(information[:models, :models].trace()) / models**2


def _level(information: Floats, models: int) -> Floats:
    """Only differences of θ are known: information about their mean makes the matrix invertible and fixes it at 0."""
    levelled = information.copy()
    levelled[:models, :models] += _level_of(information, models)
    return levelled
