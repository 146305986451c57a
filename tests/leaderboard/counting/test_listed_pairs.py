import numpy as np
import pytest

from leaderboard.counting import method
from leaderboard.rating import counts as counts_module
from leaderboard.rating.ballots import Ballots, ballots_of
from leaderboard.rating.counts import Counts
from leaderboard.rating.snapshot_fit import fit_snapshot
from tests.worlds.ratings.simulations import cast, random_pairs, strengths


@pytest.mark.parametrize(
    ("models", "votes", "newcomers", "groups", "bias"),
    [(30, 9_000, 0, False, 0.3), (40, 4_000, 6, False, 0.0), (24, 1_500, 4, True, 0.2), (12, 60, 0, True, 0.0)],
)
def test_listed_pairs_give_the_same_snapshot(monkeypatch, models, votes, newcomers, groups, bias):
    rng = np.random.default_rng(models)
    ballots = votes_between(rng, models, votes, newcomers, groups, bias)
    matrices = counted(ballots)
    monkeypatch.setattr(counts_module, "MIN_MODELS_LISTED", 0)
    monkeypatch.setattr(counts_module, "MAX_SHARE_LISTED", 1)
    listed = counted(ballots)
    assert (matrices.listed, listed.n.ndim) == (None, 2)
    assert listed.checksum == matrices.checksum
    of_matrices, of_list = (
        fit_snapshot(counts, method.default_parameters(), voters=ballots.voter_votes, with_flip=True)
        for counts in (matrices, listed)
    )
    assert_same(of_matrices.facts, of_list.facts)
    assert_same(of_matrices.lines, of_list.lines)


def test_sums_of_listed_counts_are_exact(monkeypatch):
    ballots = votes_between(np.random.default_rng(1), 12, 300, 0, False, 0.0)
    matrices = counted(ballots)
    monkeypatch.setattr(counts_module, "MIN_MODELS_LISTED", 0)
    monkeypatch.setattr(counts_module, "MAX_SHARE_LISTED", 1)
    own, none = counted(ballots, slice(100)), Counts.of_cells(ballots.counts.names, np.empty(0, dtype=np.int64))
    assert counted(ballots).minus(own).checksum == counted(ballots, slice(100, None)).checksum
    assert own.minus(own).checksum == none.checksum
    assert own.plus(matrices.minus(own)).checksum == matrices.checksum
    assert (own.meetings == own.meetings.T).all()
    assert own.votes_per_model.sum() == 2 * own.total == 200


def votes_between(
    rng: np.random.Generator, models: int, votes: int, newcomers: int, groups: bool, bias: float
) -> Ballots:
    left, right = random_pairs(rng, models, votes)
    is_kept = ((left < models - newcomers) & (right < models - newcomers)) | (rng.random(votes) < 0.1)
    if groups:
        is_kept &= left % 2 == right % 2
    left, right = left[is_kept], right[is_kept]
    theta = strengths(rng, models)
    outcome = cast(rng, left, right, theta[left] - theta[right] + bias).outcome
    names, voter = [f"model-{number:02d}" for number in range(models)], rng.integers(20, size=len(left))
    return ballots_of(names, left, right, outcome + (outcome == 2) * rng.integers(2, size=len(left)), voter=voter)


def counted(ballots: Ballots, votes: slice = slice(None)) -> Counts:
    models = len(ballots.counts.names)
    cells = (ballots.outcome[votes] * models + ballots.left[votes]) * models + ballots.right[votes]
    return Counts.of_cells(ballots.counts.names, cells)


def assert_same(actual: object, expected: object) -> None:
    """Compare floats to 1e-9 and the rest exactly."""
    if isinstance(actual, dict):
        assert actual.keys() == expected.keys()
        actual, expected = list(actual.values()), list(expected.values())
    if isinstance(actual, list):
        for mine, theirs in zip(actual, expected, strict=True):
            assert_same(mine, theirs)
    else:
        assert actual == (pytest.approx(expected, rel=1e-9, abs=1e-9) if isinstance(actual, float) else expected)
