"""Style-controlled Bradley–Terry: length and formatting as covariates.

For a vote on models i (left) and j (right) with features f, shape (k,):

    logit P(left preferred) = θ[i] − θ[j] + γ + β · x,    x = (f − mean) / sd,    f = (a − b) / (a + b)

a and b are the two answers' tokens, headings, bold runs and list items; f is 0 where both are. γ, the advantage of the
left side, is fitted on boards that are corrected for it, else 0. Ties of both kinds count ½. A feature that
separates the winners of its votes, given the models and earlier features, has no finite β: it is dropped.
Source: Li, Angelopoulos, Chiang, "Does style matter? Disentangling style and substance in Chatbot Arena" (2024);
of the errors: rating.style.sandwich.
"""

from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from leaderboard.rating.bradley_terry import (
    POINTS,
    Flags,
    Floats,
    NotConnected,
    maximum_likelihood,
)
from leaderboard.rating.clustering import sorted_by_voter
from leaderboard.rating.intervals import Z
from leaderboard.rating.style.design_matrix import BLOCK, Ints, MatrixSum, StyledVotes, VectorSum, sum_by_index
from leaderboard.rating.style.sandwich import estimate, with_fixed_mean

FEATURES = ("tokens", "headings", "bold", "lists")
MAX_STEPS = 40
# Newton's method converges quadratically, and rating.style.sandwich adds one more step.
STEP_TOLERANCE = 1e-4
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
    side: γ and its standard error in points; None where it is not fitted. design_effects: shape (models,).
    """

    score: Floats
    low: Floats
    high: Floats
    coefficients: Floats
    errors: Floats
    dropped: Flags
    separating: Flags
    covariance: Floats
    side: tuple[float, float] | None
    design_effects: Floats


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
    voter: Ints | None = None,
    side: bool = False,
    leverages: bool = True,
    offset: float = 1500,
) -> StyleFit:
    """Fit the votes among established models by maximum likelihood, mean θ 0, with errors clustered by voter.

    left, right, share (of the left: 1, 0 or ½), times (how often a vote counts), voter (−1 if unknown; without it, all
    are): shape (votes,); features: shape (votes, k). side: whether to fit γ. Without `leverages`, errors are those of
    other libraries: an HC0 sandwich of independent votes. Raises NotConnected.
    """
    votes, varies = _established_votes(established, left, right, share, features, scaling, times, voter, side)
    fit = _fit_finite_covariates(votes)
    estimates = estimate(votes.with_covariates(fit.kept), fit.solution, fit.information, leverages=leverages)
    theta, slopes = np.split(estimates.solution, [votes.models])
    half = Z * np.sqrt(estimates.variance[: votes.models])
    score, low, high = np.full((3, len(established)), np.nan)
    score[established] = offset + POINTS * theta
    low[established], high[established] = offset + POINTS * (theta - half), offset + POINTS * (theta + half)
    kept, separating = np.zeros((2, len(varies)), dtype=bool)
    kept[varies], separating[varies] = fit.kept, fit.separating
    values, errors = np.zeros((2, len(varies)))
    values[kept], errors[kept] = slopes, np.sqrt(estimates.variance[votes.models :])
    covariance, design_effects = np.zeros((len(established), len(established))), np.ones(len(established))
    covariance[np.ix_(established, established)] = POINTS**2 * estimates.covariance
    design_effects[established] = estimates.design_effects[: votes.models]
    return StyleFit(
        score,
        low,
        high,
        values[side:],
        errors[side:],
        ~kept[side:],
        separating[side:],
        covariance,
        (float(POINTS * values[0]), float(POINTS * errors[0])) if side and kept[0] else None,
        design_effects,
    )


def _established_votes(
    established: Flags,
    left: Ints,
    right: Ints,
    share: Floats,
    features: Floats,
    scaling: Scaling,
    times: Floats | None,
    voter: Ints | None,
    side: bool,
) -> tuple[StyledVotes, Flags]:
    """Return the votes among established models, renumbered, and a mask of the covariates that vary.

    Covariates are the features, and with `side` before them 1 for the left side.
    """
    rows = np.flatnonzero(established[left] & established[right])
    if voter is not None:
        rows = rows[sorted_by_voter(voter[rows])]
    models, number = int(established.sum()), np.cumsum(established) - 1
    varies = scaling.sd > MIN_OWN_VARIATION
    x = np.ones((side + int(varies.sum()), len(rows)))
    for start in range(0, len(rows), BLOCK):  # each vote's features are read once
        part = slice(start, start + BLOCK)
        x[side:, part] = ((np.take(features, rows[part], axis=0) - scaling.mean)[:, varies] / scaling.sd[varies]).T
    votes = StyledVotes(
        models=models,
        pair=number[left[rows]] * models + number[right[rows]],
        share=share[rows],
        times=np.ones(len(rows)) if times is None else times[rows],
        x=x,
        voter=np.full(len(rows), -1) if voter is None else voter[rows],
    )
    return votes, np.append(np.ones(int(side), dtype=bool), varies)


def _strengths_without_style(votes: StyledVotes) -> Floats:
    if votes.models < 2:
        raise NotConnected
    shape = (votes.models, votes.models)
    left_wins = sum_by_index(votes.pair, votes.times * votes.share, votes.models**2).reshape(shape)
    right_wins = sum_by_index(votes.pair, votes.times * (1 - votes.share), votes.models**2).reshape(shape)
    return maximum_likelihood(left_wins + right_wins.T, np.zeros(shape))


class _FiniteFit(NamedTuple):
    """Maximum with the `kept` features, shape (k,); with a `separating` one, there is none."""

    kept: Flags
    separating: Flags
    solution: Floats
    information: Floats


def _fit_finite_covariates(votes: StyledVotes) -> _FiniteFit:
    """Fit with all linearly independent features, or if that has no maximum, with those that can be added in order."""
    # A ridge on β would shrink the effect to be controlled for: there is no penalty. A separating set stays separating
    # with more features, so no dropped feature could be added later.
    models = votes.models
    start = np.append(_strengths_without_style(votes), np.zeros(len(votes.x)))
    information, gradient = _derivatives(votes, start)

    def fit(features: Flags) -> tuple[Floats, Floats]:
        selected = np.append(np.ones(models, dtype=bool), features)
        return _newton(
            votes.with_covariates(features),
            start[selected],
            information[np.ix_(selected, selected)],
            gradient[selected],
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
    among, across = with_fixed_mean(information, models)[:models, :models], information[:models, models:]
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
            step = cho_solve(cho_factor(with_fixed_mean(information, votes.models)), gradient)
        except LinAlgError as error:  # the information vanishes where every probability is 0 or 1
            raise _NoFiniteFit from error
        # A step that changes no logit by more than 1 always ascends (Bach 2010, self-concordant analysis).
        step /= max(1.0, np.ptp(step[: votes.models]) + np.abs(step[votes.models :]) @ largest)
        solution = solution + step
        if np.abs(step).max() <= STEP_TOLERANCE:
            return solution, information
        information, gradient = _derivatives(votes, solution)
    raise _NoFiniteFit


def _derivatives(votes: StyledVotes, solution: Floats) -> tuple[Floats, Floats]:
    """Return H and the gradient."""
    covariates = len(solution) - votes.models
    information, gradient = MatrixSum(votes.models, covariates), VectorSum(votes.models, covariates)
    for block in votes.blocks():
        p = block.win_probabilities(solution)
        gradient.add(block, block.times * (block.share - p))
        information.add(block, block.times * p * (1 - p))
    return information.total, gradient.total
