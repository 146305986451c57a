"""Scores of one person, or of one team: everyone else's scores plus deviations with a normal prior.

Notation: θ everyone else's strengths with covariance C, δ ~ N(0, sd² I) the person's tastes, β = θ + δ + (error of θ)
the strengths by which the person votes. All in natural-log units.
"""

from dataclasses import dataclass

import numpy as np

from leaderboard.rating.board_fit import Board, DesignEffects, fit_side_counts
from leaderboard.rating.bradley_terry import POINTS, Floats, Indices, Tally
from leaderboard.rating.counts import Counts
from leaderboard.rating.intervals import Z
from leaderboard.rating.pairs import laplacian, symmetrized

_MAX_STEPS = 60
_MAX_STEP = 1.0
_TOLERANCE = 1e-9


@dataclass(frozen=True)
class OwnScores:
    """Posterior means and 95 % intervals in points; arrays of shape (models,).

    NaN for models without own votes that can be scored. others: everyone else's score; taste: own minus others'.
    """

    others: Floats
    score: Floats
    low: Floats
    high: Floats
    taste: Floats
    taste_low: Floats
    taste_high: Floats


def fit_own_scores(
    counts: Counts,
    own: Counts,
    *,
    counted: Counts,
    sd: float,
    design_effects: DesignEffects | None = None,
    own_design_effects: Floats | None = None,
    listed_from: int = 5,
    established_from: int = 30,
    kappa: float = 0.5,
    offset: float = 1500,
) -> OwnScores:
    """Fit the board without the person's votes, then the person's deviations from it.

    counts: of the board; own: all votes of the person; counted: those of them in `counts`. All have the same names.
    sd: of tastes. own_design_effects: of the models, shape (models,), where `own` are votes of several people.
    """
    rest = counts.minus(counted)
    fitted = fit_side_counts(
        np.maximum(rest.n, 0),  # held votes are not in `counts`, and readers must not see which are held
        listed=rest.listed,
        design_effects=design_effects,
        listed_from=listed_from,
        established_from=established_from,
        kappa=kappa,
        offset=offset,
    )
    tally = Tally.from_side_counts(own.n, listed=own.listed).as_matrices()
    weight = np.ones(tally.models) if own_design_effects is None else 1 / np.sqrt(own_design_effects)
    return own_scores(fitted.board, tally, sd=sd, bias=fitted.tally.bias, weight=weight, offset=offset)


def own_scores(
    board: Board, votes: Tally, *, sd: float, bias: float = 0.0, weight: Floats | None = None, offset: float = 1500
) -> OwnScores:
    """Return the posterior by Laplace's approximation. votes: matrices, of which those on scored pairs are used.

    weight: a vote of models i and j counts weight[i] · weight[j].
    """
    n, won = votes.cells, votes.shares[0]
    scored = board.listed[:, None] & board.listed & (board.group[:, None] == board.group)
    n, won = np.where(scored, n, 0.0), np.where(scored, won, 0.0)
    if weight is not None:
        n, won = (each * weight[:, None] * weight for each in (n, won))
    models: Indices = np.flatnonzero(symmetrized(n).sum(axis=1) > 0)
    inside = np.ix_(models, models)
    theta = (board.score[models] - offset) / POINTS
    prior = board.covariance[inside] / POINTS**2 + sd**2 * np.eye(len(models))
    precision = np.linalg.inv(prior)
    mode, covariance = _mode(theta, n[inside], won[inside], precision, bias)
    # This part of the deviation from `theta` is taste, and the rest an error of `theta`.
    share = sd**2 * precision
    taste = share @ mode
    taste_covariance = share @ covariance @ share.T + sd**2 * (np.eye(len(models)) - share)
    half, taste_half = (Z * np.sqrt(np.diag(each)) for each in (covariance, taste_covariance))
    own = theta + mode
    columns = (theta, own, own - half, own + half)
    deviations = (taste, taste - taste_half, taste + taste_half)
    size = votes.models
    return OwnScores(
        *(_placed(offset + POINTS * column, models, size) for column in columns),
        *(_placed(POINTS * column, models, size) for column in deviations),
    )


def _mode(theta: Floats, n: Floats, won: Floats, precision: Floats, bias: float) -> tuple[Floats, Floats]:
    """Return the posterior mode of β − θ by Newton's method, and the inverse curvature there."""
    deviation, curvature = np.zeros(len(theta)), precision
    for _ in range(_MAX_STEPS):
        strengths = theta + deviation
        p = 1 / (1 + np.exp(-(strengths[:, None] - strengths + bias)))
        residual = won - n * p
        gradient = residual.sum(axis=1) - residual.sum(axis=0) - precision @ deviation
        curvature = laplacian(symmetrized(n * p * (1 - p))) + precision
        step = np.linalg.solve(curvature, gradient)
        deviation = deviation + np.clip(step, -_MAX_STEP, _MAX_STEP)
        if np.abs(step).max(initial=0) <= _TOLERANCE:
            break
    spread: Floats = np.linalg.inv(curvature).astype(np.float64, copy=False)
    return deviation, spread


def _placed(values: Floats, models: Indices, size: int) -> Floats:
    placed = np.full(size, np.nan)
    placed[models] = values
    return placed
