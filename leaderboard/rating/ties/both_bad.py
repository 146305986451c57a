import numpy as np

from leaderboard.rating.bradley_terry import Floats
from leaderboard.rating.clustering import VoterVotes, one_minus_leverage, sum_by_voter_and_model, variance_ratio
from leaderboard.rating.counts import OUTCOMES

_BOTH_BAD = OUTCOMES.index("both_bad")


def both_bad_design_effects(voters: VoterVotes, models: int) -> Floats:
    """Return DEFF of the shares of both_bad, shape (models,): the clustered variance over the binomial, at least 1.

    Clustered: each voter's residuals from the share are summed, divided by 1 − h, h being the voter's share of the
    model's votes, and squared; times t², see clustering.design_effects. The binomial one has a normal quantile, as the
    interval that DEFF widens.
    """
    rows = voters.renumbered()
    if not len(rows.n):
        return np.ones(models)
    n, is_both_bad = rows.n.astype(np.float64), rows.outcome == _BOTH_BAD
    votes, both_bad = (sum_by_voter_and_model(rows, each, each, models) for each in (n, n * is_both_bad))
    total = np.maximum(votes.sum(axis=0), 1)
    rate: Floats = both_bad.sum(axis=0) / total
    model, share = votes.indices, votes.data / total[votes.indices]
    residual = (both_bad.data - votes.data * rate[model]) / one_minus_leverage(share)
    clustered, concentration = (
        np.bincount(model, weights=each**2, minlength=models).astype(np.float64) for each in (residual, share)
    )
    return variance_ratio(clustered, concentration, total * rate * (1 - rate), np.zeros(models))
