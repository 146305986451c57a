import numpy as np

from leaderboard.rating.clustering import VoterVotes, both_bad_design_effects
from leaderboard.rating.differences import observed_share


def votes_of(voter, is_both_bad) -> VoterVotes:
    left = np.zeros(len(voter), dtype=int)
    return VoterVotes(voter, left, left + 1, np.where(is_both_bad, 3, 0), left + 1)


def test_independent_voters_have_design_effects_near_one():
    rng = np.random.default_rng(1)
    effects = both_bad_design_effects(votes_of(np.arange(2000), rng.random(2000) < 0.2), 3)
    assert 1 <= effects[0] == effects[1] < 1.1
    assert effects[2] == 1


def test_voters_with_own_readiness_widen_the_interval():
    rng = np.random.default_rng(2)
    missed = plainly_missed = 0
    for _ in range(200):
        readiness = rng.beta(1, 4, 60)
        voter = np.repeat(np.arange(60), 40)
        both_bad = rng.random(len(voter)) < readiness[voter]
        effect = both_bad_design_effects(votes_of(voter, both_bad), 2)[0]
        wide = observed_share(both_bad.sum(), len(voter), design_effect=effect)
        plain = observed_share(both_bad.sum(), len(voter))
        missed += not wide.low <= 0.2 <= wide.high
        plainly_missed += not plain.low <= 0.2 <= plain.high
    assert 2 <= missed <= 20
    assert plainly_missed > 80


def test_no_votes_have_no_design_effect():
    nothing = np.zeros(0, dtype=int)
    assert both_bad_design_effects(VoterVotes(nothing, nothing, nothing, nothing, nothing), 2).tolist() == [1, 1]
