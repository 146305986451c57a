"""Strengths with voters weighted by how well they agree with the board.

For a vote of voter v on models i (left) and j (right), with a discrimination a of the voter:

    logit P(left preferred) = a[v] · (θ[i] − θ[j]) + β

a is at least 0 and has a normal prior with mean 1 and standard deviation PRIOR_SD. β, the board's advantage of the left
side, is given. Ties of both kinds count ½. The regression of θ on the strengths without discrimination has slope 1.
Source: the two-parameter logistic model, Birnbaum (1968), of paired comparisons; θ and a are maximized by turns.
"""

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit

from leaderboard.rating.board_fit import SideBiasFit
from leaderboard.rating.bradley_terry import POINTS, Floats, Indices
from leaderboard.rating.clustering import VoterVotes
from leaderboard.rating.pairs import laplacian, symmetrized
from leaderboard.rating.snapshot_facts import AgreementFacts

MIN_VOTERS = 2
PRIOR_SD = 0.5
# Votes of a voter at the lower bound still connect the models.
MIN_DISCRIMINATION = 0.02
MAX_ROUNDS = 50
STEP_TOLERANCE = 1e-4


def agreement_facts(
    voters: VoterVotes, fitted: SideBiasFit, names: list[str], *, offset: float
) -> AgreementFacts | None:
    """Return scores of the largest group, beside the published ones. None for one voter or unknown ones."""
    board = fitted.board
    models = np.flatnonzero(board.established & (board.group == 0))
    votes = voters.among_models(models, size=len(names))
    number = len(np.unique(votes.voter))
    if number < MIN_VOTERS or votes.n.sum() < fitted.tally.subset(models).cells.sum():
        return None
    theta, agreement = discriminations(votes, (board.score[models] - offset) / POINTS, bias=fitted.tally.bias)
    scores = (offset + POINTS * theta).tolist()
    return {
        "scores": dict(zip([names[model] for model in models], scores, strict=True)),
        "voters": number,
        "spread": float(agreement.std()),
    }


def discriminations(voters: VoterVotes, theta: Floats, *, bias: float = 0.0) -> tuple[Floats, Floats]:
    """Return (θ, a) of strongly connected models: shapes (models,), mean 0, and (voters,), in order of their numbers.

    theta: strengths without discrimination, shape (models,); bias: β.
    """
    _, voter = np.unique(voters.voter, return_inverse=True)
    plain = theta = theta - theta.mean()
    share, agreement = voters.won_shares, np.ones(int(voter.max(initial=-1)) + 1)
    for _ in range(MAX_ROUNDS):
        difference = theta[voters.left] - theta[voters.right]
        agreement = _step_agreement(voters, voter, share, difference, agreement, bias)
        step = _strengths_step(voters, share, difference, agreement[voter], bias, len(theta))
        theta = theta + step
        if np.abs(step).max(initial=0) <= STEP_TOLERANCE:
            break
    unit = (plain @ plain) / (theta @ plain) if theta @ plain > 0 else 1.0
    return theta * unit, agreement / unit


def _step_agreement(
    voters: VoterVotes, voter: Indices, share: Floats, difference: Floats, agreement: Floats, bias: float
) -> Floats:
    """Return a after a step of Newton's method towards the maximum of likelihood and prior at θ."""
    p = expit(agreement[voter] * difference + bias)
    weighted = voters.n * difference
    gradient = np.bincount(voter, weighted * (share - p)) + (1 - agreement) / PRIOR_SD**2
    information = np.bincount(voter, weighted * difference * p * (1 - p)) + 1 / PRIOR_SD**2
    stepped: Floats = np.maximum(agreement + np.clip(gradient / information, -0.5, 0.5), MIN_DISCRIMINATION)
    return stepped


def _strengths_step(
    voters: VoterVotes, share: Floats, difference: Floats, agreement: Floats, bias: float, models: int
) -> Floats:
    """Return the step of Newton's method for θ at a, mean 0."""
    p = expit(agreement * difference + bias)
    weighted = voters.n * agreement
    cells = voters.cells(weighted * (share - p), models)
    information = laplacian(symmetrized(voters.cells(weighted * agreement * p * (1 - p), models)))
    information += information.trace() / models**2
    step = cho_solve(cho_factor(information), cells.sum(axis=1) - cells.sum(axis=0))
    step = step / max(1.0, np.ptp(step))
    centred: Floats = step - step.mean()
    return centred
