"""Scores of one person: exact where they can be computed by hand, and coverage in simulated arenas."""

from itertools import chain

import numpy as np
import pytest

from leaderboard.rating.board_fit import fit_side_counts
from leaderboard.rating.bradley_terry import POINTS
from leaderboard.rating.clustering import VoterVotes
from leaderboard.rating.counts import Counts, count_votes
from leaderboard.rating.personal.own_scores import fit_own_scores
from leaderboard.rating.personal.taste_spread import USUAL_SD, taste_facts
from leaderboard.rating.snapshot_facts import TasteFacts
from tests.worlds.ratings.own_boards import DESIGNS, own_board_coverage
from tests.worlds.ratings.simulations import arena_with_tastes, strengths

NAMES = ["a", "b", "c"]


def counts(*cells: tuple[int, int, int, int]) -> Counts:
    """cells: (outcome, left, right, votes)."""
    n = np.zeros((4, 3, 3), dtype=np.int64)
    for outcome, left, right, votes in cells:
        n[outcome, left, right] += votes
    return Counts(NAMES, n)


@pytest.fixture
def others() -> Counts:
    return counts((0, 0, 1, 60), (1, 0, 1, 40), (0, 1, 2, 60), (1, 1, 2, 40), (2, 2, 0, 30), (0, 0, 2, 20))


def test_own_votes_are_taken_out_of_the_board(others):
    own = counts((1, 0, 1, 40))
    alone = fit_side_counts(others.n).board
    fitted = fit_own_scores(others.plus(own), own, counted=own, sd=USUAL_SD)
    assert fitted.others[:2] == pytest.approx(alone.score[:2], abs=1e-9)
    assert np.isnan(fitted.score[2])  # without a vote of the person
    assert fitted.score[1] > fitted.others[1] > fitted.taste_low[1] > 0 > fitted.taste_high[0]


def test_mode_solves_its_equation(others):
    own = counts((0, 1, 0, 9), (2, 1, 2, 3), (3, 2, 0, 2))
    fitted = fit_own_scores(others, own, counted=counts(), sd=0.5)
    board = fit_side_counts(others.n).board
    move = (fitted.score - board.score) / POINTS
    prior = board.covariance / POINTS**2 + 0.25 * np.eye(3)
    beta = (fitted.score - 1500) / POINTS
    won, n = own.n[0] + (own.n[2] + own.n[3]) / 2, own.n.sum(axis=0)
    residual = won - n / (1 + np.exp(-(beta[:, None] - beta)))
    assert residual.sum(axis=1) - residual.sum(axis=0) == pytest.approx(np.linalg.solve(prior, move), abs=1e-7)
    # What of the move is taste: the rest is an error of the others' scores.
    assert fitted.taste / POINTS == pytest.approx(0.25 * np.linalg.solve(prior, move), abs=1e-7)


def test_person_alone_and_held_votes_give_no_scores_or_errors(others):
    own = counts((0, 0, 1, 50))
    assert np.isnan(fit_own_scores(own, own, counted=own, sd=USUAL_SD).score).all()
    held = counts((0, 0, 1, 100))  # more than are in the board
    assert np.isfinite(fit_own_scores(others, held, counted=held, sd=USUAL_SD).score[:2]).all()
    assert np.isnan(fit_own_scores(counts(), counts(), counted=counts(), sd=USUAL_SD).score).all()


def test_swapped_sides_and_renamed_models_change_nothing(others):
    own = counts((0, 0, 1, 5), (2, 1, 2, 2))
    plain = fit_own_scores(others, own, counted=counts(), sd=USUAL_SD)
    order = [2, 0, 1]
    renamed = [Counts(NAMES, each.n[:, order][:, :, order]) for each in (others, own)]
    again = fit_own_scores(*renamed, counted=counts(), sd=USUAL_SD)
    assert again.score == pytest.approx(plain.score[order], abs=1e-9)


def spread(votes: int, *, voters: int, taste: float) -> TasteFacts:
    rng = np.random.default_rng(46)
    ballots = arena_with_tastes(rng, strengths(rng, 12), votes, voters=voters, taste=taste)
    ones = np.ones(votes, dtype=np.int64)
    names = [f"m{number:02}" for number in range(12)]
    fitted = fit_side_counts(count_votes(names, ballots.left, ballots.right, ballots.outcome, ones).n)
    of_voters = VoterVotes(ballots.voter, ballots.left, ballots.right, ballots.outcome, ones)
    return taste_facts(of_voters, fitted, offset=1500)


@pytest.mark.parametrize("taste", [0.0, 0.35, 0.7])
def test_spread_of_tastes_is_found_beside_heavy_voters(taste):
    facts = spread(20_000, voters=2000, taste=taste)
    assert facts["sd"] / POINTS == pytest.approx(max(taste, 0.1), abs=0.09)
    assert facts["estimate"] is not None


def test_few_voters_are_taken_to_have_the_usual_spread():
    assert spread(600, voters=2, taste=1.0) == {"sd": USUAL_SD * POINTS, "estimate": None, "voters": 2}


@pytest.mark.slow
@pytest.mark.parametrize("design", DESIGNS[:2], ids=[design.name for design in DESIGNS[:2]])
def test_own_intervals_cover_people_drawn_from_prior(design):
    found = own_board_coverage(design, repetitions=12, seed=46)
    for n in found.scores:
        assert 0.92 <= np.mean(found.scores[n]) <= 0.985, n
        assert 0.92 <= np.mean(found.tastes[n]) <= 0.985, n
        assert np.mean(found.plain[n]) <= 0.03, n
    assert np.mean(list(chain.from_iterable(found.wrong.values())) or [False]) <= 0.1
