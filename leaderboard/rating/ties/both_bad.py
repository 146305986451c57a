import numpy as np
from scipy.sparse import csr_array
from scipy.special import stdtrit

from leaderboard.rating.bradley_terry import Floats
from leaderboard.rating.clustering import VoterVotes
from leaderboard.rating.counts import OUTCOMES
from leaderboard.rating.intervals import Z

_BOTH_BAD = OUTCOMES.index("both_bad")
_MAX_SHARE = 0.75
_MIN_DEGREES_OF_FREEDOM = 3


def both_bad_design_effects(voters: VoterVotes, models: int) -> Floats:
    """Return DEFF of each model's share, shape (models,); as clustering.design_effects, for voters' own readiness."""
    # Each voter's residuals are summed, divided by 1 − the voter's share of the model's votes, and squared; times t²
    # with 1 / Σ share² − 1 degrees of freedom.
    rows = voters.renumbered()
    if not len(rows.n):
        return np.ones(models)
    cells = np.tile(rows.voter, 2), np.concatenate([rows.left, rows.right])
    shape = int(rows.voter.max()) + 1, models
    votes = csr_array((np.tile(rows.n, 2).astype(np.float64), cells), shape=shape)
    found = csr_array((np.tile(rows.n * (rows.outcome == _BOTH_BAD), 2).astype(np.float64), cells), shape=shape)
    total = np.maximum(np.asarray(votes.sum(axis=0), dtype=np.float64), 1)
    rate = np.asarray(found.sum(axis=0), dtype=np.float64) / total
    model, share = votes.indices, votes.data / total[votes.indices]
    residual = (found.data - votes.data * rate[model]) / np.maximum(1 - share, 1 - _MAX_SHARE)
    clustered = np.bincount(model, weights=residual**2, minlength=models)
    concentration = np.bincount(model, weights=share**2, minlength=models)
    freedom = 1 / np.maximum(concentration, np.finfo(float).tiny) - 1
    widening = (stdtrit(np.clip(freedom, _MIN_DEGREES_OF_FREEDOM, 1e9), 0.975) / Z) ** 2
    independent = total * rate * (1 - rate)
    ratio = np.divide(clustered * widening, independent, out=np.ones(models), where=independent > 0)
    effects: Floats = np.maximum(1, ratio)
    return effects
