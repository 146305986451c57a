import numpy as np

from leaderboard.counting import method
from leaderboard.rating.bradley_terry import maximum_likelihood
from leaderboard.rating.clustering import VoterVotes
from leaderboard.rating.counts import count_votes
from leaderboard.rating.sensitivity.discrimination import discriminations
from leaderboard.rating.snapshot_fit import SnapshotFit, fit_snapshot
from tests.worlds.ratings.simulations import Ballots, cast, random_pairs, strengths

MODELS, VOTERS = 8, 120


def votes_with(agreement: np.ndarray, theta: np.ndarray, seed: int, votes: int = 12_000) -> Ballots:
    rng = np.random.default_rng(seed)
    left, right = random_pairs(rng, MODELS, votes)
    voter = rng.integers(VOTERS, size=votes)
    return cast(rng, left, right, agreement[voter] * (theta[left] - theta[right]), voter=voter)


def fitted(ballots: Ballots) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    plain = maximum_likelihood(*ballots.counts(MODELS))
    ones = np.ones(len(ballots.voter), dtype=np.int64)
    rows = VoterVotes(ballots.voter, ballots.left, ballots.right, ballots.outcome, ones)
    return plain, *discriminations(rows, plain)


def test_random_voters_are_recognised_and_hardly_count():
    theta = strengths(np.random.default_rng(3), MODELS)
    agreement = np.where(np.arange(VOTERS) < 60, 0.0, 2.0)
    plain, weighted, agreements = fitted(votes_with(agreement, theta, seed=4))
    assert agreements[:60].mean() < 0.5 < 1 < agreements[60:].mean()
    assert (agreements >= 0).all()
    sharp = fitted(votes_with(np.full(VOTERS, 2.0), theta, seed=5, votes=60_000))[0]
    correlation = [np.corrcoef(sharp, scores)[0, 1] for scores in (plain, weighted)]
    assert correlation[1] > correlation[0]


def test_equal_voters_change_little():
    theta = strengths(np.random.default_rng(6), MODELS)
    plain, weighted, agreements = fitted(votes_with(np.ones(VOTERS), theta, seed=7))
    assert np.abs(weighted - plain).max() < 0.06
    assert agreements.std() < 0.3


def test_swapped_sides_and_renamed_voters_change_nothing():
    theta = strengths(np.random.default_rng(8), MODELS)
    votes = votes_with(np.linspace(0.2, 2, VOTERS), theta, seed=9, votes=3_000)
    outcome = np.array([1, 0, 2])[votes.outcome]
    swapped = Ballots(votes.right, votes.left, outcome, VOTERS - votes.voter)
    first, second = fitted(votes), fitted(swapped)
    np.testing.assert_allclose(first[1], second[1], atol=1e-6)
    np.testing.assert_allclose(first[2], second[2][::-1], atol=1e-6)


def test_facts_keep_published_scores_and_need_all_voters():
    theta = strengths(np.random.default_rng(10), MODELS)
    votes = votes_with(np.linspace(0.2, 2, VOTERS), theta, seed=11, votes=2_000)
    logit = theta[votes.left] - theta[votes.right] + 0.6
    tilted = cast(np.random.default_rng(12), votes.left, votes.right, logit, voter=votes.voter)
    names = [f"model-{number}" for number in range(MODELS)]
    counts = count_votes(names, tilted.left, tilted.right, tilted.outcome, np.ones(2_000, dtype=np.int64))
    rows = VoterVotes(tilted.voter, tilted.left, tilted.right, tilted.outcome, np.ones(2_000, dtype=np.int64))

    def fit(voters: VoterVotes, **options: bool) -> SnapshotFit:
        return fit_snapshot(counts, method.default_parameters(), voters=voters, **options)

    plain, with_agreement = fit(rows), fit(rows, with_agreement=True)
    assert with_agreement.lines == plain.lines
    assert with_agreement.corrects_side_bias
    agreement = with_agreement.facts["agreement"]
    assert (agreement["voters"], list(agreement["scores"])) == (VOTERS, names)
    scores = np.array([line["score"] for line in plain.lines])
    weighted = np.array(list(agreement["scores"].values()))
    assert 0 < np.abs(weighted - scores).max() < 40
    assert "agreement" not in fit(rows.where(rows.voter > 0), with_agreement=True).facts
