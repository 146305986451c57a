"""Standard deviation of people's tastes, from how votes of one person deviate together from the board.

Of two votes a, b of one person, the product of residuals has the expectation sd² w_a w_b x_aᵀx_b to first order, with
x = e_left − e_right and w = p q. Votes of different people are independent.
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from leaderboard.rating.board_fit import SideBiasFit
from leaderboard.rating.bradley_terry import POINTS, Floats
from leaderboard.rating.clustering import VoterVotes, one_minus_leverage, sum_by_voter_and_model
from leaderboard.rating.snapshot_facts import TasteFacts

# Assumed where voters are few: simulated arenas of this project have it, and it fits published crowds.
USUAL_SD = 0.35
# Standard error of the usual variance, twice itself: estimates with smaller ones outweigh it.
_USUAL_ERROR = 2 * USUAL_SD**2
_LOWEST_SD, _HIGHEST_SD = 0.1, 1.0
_MIN_EFFECTIVE_VOTERS = 5
_CAUTION = 0.5  # standard errors of the variance
_NO_PAIR = 1e-9  # rounding errors of a voter with one vote
# (16 √3 / (15 π))²: a normal spread of variance v divides the slope of the logistic curve by √(1 + 0.346 v).
_FLATTENING = 256 * 3 / (225 * np.pi**2)


class TasteSpread(NamedTuple):
    """sd: in natural-log units, for use; estimate: from the voters alone, None if too few; voters: with two votes."""

    sd: float
    estimate: float | None
    voters: int


def taste_facts(voters: VoterVotes, fitted: SideBiasFit, *, offset: float) -> TasteFacts:
    """Return the spread among the established models of the largest group."""
    board = fitted.board
    models = np.flatnonzero(board.established & (board.group == 0))
    theta = (board.score[models] - offset) / POINTS
    p = 1 / (1 + np.exp(-(theta[:, None] - theta + fitted.tally.bias)))
    spread = estimate_taste_spread(voters.among_models(models, size=len(board.score)), p)
    estimate = None if spread.estimate is None else spread.estimate * POINTS
    return {"sd": spread.sd * POINTS, "estimate": estimate, "voters": spread.voters}


def estimate_taste_spread(voters: VoterVotes, p: Floats) -> TasteSpread:
    """Return the spread around expected shares p of the left, shape (models, models).

    A method of moments: voters are weighted by how well their votes determine it, and a usual value is mixed in.
    """
    if not len(voters.n):
        return TasteSpread(USUAL_SD, None, 0)
    products, squares = _moments(voters.renumbered(), p)
    several = squares > _NO_PAIR
    products, squares = products[several], squares[several]
    effective = float(squares.sum() ** 2 / (squares**2).sum()) if len(squares) else 0.0
    if effective < _MIN_EFFECTIVE_VOTERS:
        return TasteSpread(USUAL_SD, None, len(squares))
    raw = float(products.sum() / squares.sum())
    squared_error = float(((products - raw * squares) ** 2).sum() / squares.sum() ** 2) * effective / (effective - 1)
    variance = _unflattened(raw)
    trust, usual = 1 / max(squared_error, _NO_PAIR), _USUAL_ERROR**-2
    mixed = (trust * variance + usual * USUAL_SD**2) / (trust + usual)
    # Intervals lose more where the spread is too small than they gain where it is too large.
    careful = mixed + _CAUTION / float(np.sqrt(trust + usual))
    sd, estimate = (float(np.sqrt(max(each, 0.0))) for each in (careful, variance))
    return TasteSpread(min(max(sd, _LOWEST_SD), _HIGHEST_SD), estimate, len(squares))


def _unflattened(raw: float) -> float:
    # A difference of two tastes has twice the variance.
    return raw / max(1 - 2 * _FLATTENING * raw, 0.25)


def _moments(voters: VoterVotes, p: Floats) -> tuple[Floats, Floats]:
    """Return Σ r_a r_b x_aᵀx_b over different votes of each voter, and the factor of sd² in its expectation.

    Residuals are from a board without the voter: sums by model are divided by one minus the voter's share of the
    information, as for design effects. That board has errors, from the noise of its votes and from its voters' tastes.
    """
    models, size = len(p), int(voters.voter.max()) + 1
    residual, weight = voters.residuals(p), (p * (1 - p))[voters.left, voters.right]
    score, information = voters.n * residual, voters.n * weight
    scores, degrees, own = (
        sum_by_voter_and_model(voters, left, right, models)
        for left, right in (
            (score, -score), (information, information), (2 * information * weight, 2 * information * weight)
        )
    )  # fmt: skip
    total = np.maximum(np.asarray(degrees.sum(axis=0)).ravel(), np.finfo(float).tiny)
    share = degrees.data / total[degrees.indices]
    kept = one_minus_leverage(share)
    scores.data /= kept
    products = np.asarray(scores.power(2).sum(axis=1)).ravel()
    products -= np.bincount(voters.voter, 2 * voters.n * residual**2, size)
    # Squares of the rows of the voter's information matrix Σ w x xᵀ, without those of single votes.
    low, high = np.minimum(voters.left, voters.right), np.maximum(voters.left, voters.right)
    cells, index = np.unique((voters.voter.astype(np.int64) * models + low) * models + high, return_inverse=True)
    voter, pair = np.divmod(cells, models**2)
    links = np.bincount(index, information) ** 2
    squares_of_links = csr_array(
        (np.tile(links, 2), (np.tile(voter, 2), np.concatenate(np.divmod(pair, models)))), shape=(size, models)
    )
    rows = degrees.power(2) + squares_of_links - own
    concentration = np.bincount(degrees.indices, share**2, models)
    phi = float((voters.n * residual**2).sum() / information.sum())
    noise, tastes = degrees.copy(), degrees.copy()
    noise.data = phi / (total[degrees.indices] * kept)
    tastes.data = 1 + (concentration[degrees.indices] - share**2) / kept**2
    products -= np.asarray((rows * noise).sum(axis=1)).ravel()
    squares = np.asarray((rows * tastes).sum(axis=1)).ravel()
    # Many votes determine a voter's tastes, not the spread of tastes: their sums vary with the tastes themselves.
    curvature = squares / np.maximum(np.asarray(degrees.sum(axis=1)).ravel(), np.finfo(float).tiny)
    trust = 1 / (1 + USUAL_SD**2 * np.maximum(curvature, 0)) ** 2
    return trust * products, trust * squares
