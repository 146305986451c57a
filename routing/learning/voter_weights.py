"""Weights of votes whose voters have tastes of their own."""

import numpy as np
from scipy.sparse import csr_array

from routing.learning.fitting import Design, fit
from routing.learning.grounded import Floats, Indices, information, loss
from routing.learning.votes import TrainingVotes

BETA_SD = 1.0
# Each estimate of the tastes needs the strengths, and these need the weights.
_STEPS = 2


def voter_weights(votes: TrainingVotes) -> Floats:
    """Return the share of each vote's information that its voter's taste leaves, shape (votes,).

    Each voter adds N(0, τ²) to each model's strength, which leaves I / (1 + τ² I) of the information I in their votes.
    Source: Stiratelli, Laird and Ware (1984), "Random-effects models for serial observations with binary response".
    """
    ones = csr_array(np.ones((len(votes), 1)))
    design = Design.of_models(ones, votes.left, votes.right, len(votes.models))
    weight = votes.weight
    for _ in range(_STEPS):
        fitted = fit(design, votes.outcome, weight, precision=BETA_SD**-2)
        sides = design.strengths(fitted.weights)
        unweighted = np.ones(len(votes))
        score = loss(*sides, votes.outcome, unweighted, fitted.kappa)
        known = information(*sides, unweighted, fitted.kappa)
        pairs, place = _voters_and_models(votes)
        scores = np.bincount(place, np.concatenate([score.left, score.right]))
        informations = np.bincount(place, np.concatenate([known.left, known.right]))
        # Var(score) = I + τ² I², by moments.
        variance = max(0.0, float((scores**2 - informations).sum() / (informations**2).sum()))
        total = np.bincount(pairs, informations)
        mean = np.bincount(pairs, informations**2) / np.where(total > 0, total, 1)
        number = np.unique(votes.voter, return_inverse=True)[1]
        weight = 1 / (1 + variance * mean[number])
    return weight


def _voters_and_models(votes: TrainingVotes) -> tuple[Indices, Indices]:
    """Number the pairs of a voter and a model: return each pair's voter, and the pair of each left and right side."""
    voter = np.unique(votes.voter, return_inverse=True)[1]
    models = len(votes.models)
    sides = np.concatenate([voter * models + votes.left, voter * models + votes.right])
    pairs, place = np.unique(sides, return_inverse=True)
    return pairs // models, place
