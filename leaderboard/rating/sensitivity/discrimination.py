"""Strengths with voters weighted by how well they agree with the board.

For a vote of voter v on models i (left) and j (right), with a discrimination a of the voter:

    logit P(left preferred) = a[v] · (θ[i] − θ[j]) + β

Who votes at random has an a near 0 and hardly moves θ. a is at least 0 and has a normal prior with mean 1 and standard
deviation PRIOR_SD. β, the board's advantage of the left side, is given. Ties of both kinds count ½. The regression of θ
on the strengths without discrimination has slope 1: the unit stays the same, and only relative positions change.
Source: the two-parameter logistic model, Birnbaum (1968), of paired comparisons; θ and a are maximized by turns.
"""

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit

from leaderboard.rating.bradley_terry import Floats, Indices, laplacian, symmetrized
from leaderboard.rating.clustering import VoterVotes

PRIOR_SD = 0.5
# Votes of a voter at the lower bound still connect the models.
MIN_DISCRIMINATION = 0.02
MAX_ROUNDS = 50
STEP_TOLERANCE = 1e-4


def discriminations(voters: VoterVotes, theta: Floats, *, bias: float = 0.0) -> tuple[Floats, Floats]:
    """Return (θ, a) of strongly connected models: shapes (models,), mean 0, and (voters,), in order of their numbers.

    theta: strengths without discrimination, shape (models,); bias: β.
    """
    _, voter = np.unique(voters.voter, return_inverse=True)
    plain = theta = theta - theta.mean()
    share, agreement = voters.won_shares, np.ones(int(voter.max(initial=-1)) + 1)
    for _ in range(MAX_ROUNDS):
        agreement = _maximize_agreement(voter, voters, share, theta, agreement, bias)
        before, theta = theta, _maximize_strengths(voters, share, agreement[voter], theta, bias)
        if np.abs(theta - before).max(initial=0) <= STEP_TOLERANCE:
            break
    unit = (plain @ plain) / (theta @ plain) if theta @ plain > 0 else 1.0
    return theta * unit, agreement / unit


def _maximize_agreement(
    voter: Indices, voters: VoterVotes, share: Floats, theta: Floats, start: Floats, bias: float
) -> Floats:
    """Return the a that maximizes likelihood and prior at θ; Newton's method, each voter by itself."""
    agreement, difference = start, theta[voters.left] - theta[voters.right]
    for _ in range(MAX_ROUNDS):
        p = expit(agreement[voter] * difference + bias)
        gradient = np.bincount(voter, voters.n * (share - p) * difference) + (1 - agreement) / PRIOR_SD**2
        information = np.bincount(voter, voters.n * p * (1 - p) * difference**2) + 1 / PRIOR_SD**2
        step = np.clip(gradient / information, -0.5, 0.5)
        before, agreement = agreement, np.maximum(agreement + step, MIN_DISCRIMINATION)
        if np.abs(agreement - before).max(initial=0) <= STEP_TOLERANCE:
            break
    return agreement


def _maximize_strengths(voters: VoterVotes, share: Floats, agreement: Floats, start: Floats, bias: float) -> Floats:
    """Return the θ that maximizes the likelihood at a, mean 0."""
    theta = start
    for _ in range(MAX_ROUNDS):
        p = expit(agreement * (theta[voters.left] - theta[voters.right]) + bias)
        residual = voters.n * agreement * (share - p)
        cells = voters.cells(residual, len(theta))
        information = laplacian(symmetrized(voters.cells(voters.n * agreement**2 * p * (1 - p), len(theta))))
        information += information.trace() / len(theta) ** 2
        step = cho_solve(cho_factor(information), cells.sum(axis=1) - cells.sum(axis=0))
        step /= max(1.0, np.ptp(step))
        theta = theta + step
        if np.abs(step).max() <= STEP_TOLERANCE:
            break
    centred: Floats = theta - theta.mean()
    return centred
