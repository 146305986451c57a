"""Widths of newcomers' intervals with uniform or active sampling of pairs."""

import numpy as np
from numpy.random import Generator

from battles.prompting.pairing import Candidate
from leaderboard.aggregation.pair_weights import Plan, weigh_pairs
from leaderboard.rating.board_fit import fit_board
from leaderboard.rating.bradley_terry import POINTS
from leaderboard.rating.sampling import pair_gains
from tests.worlds.ratings.simulations import cast, random_pairs, strengths


def newcomer_half_width(
    rng: Generator, *, active: bool, models: int, newcomers: int, old_votes: int, new_votes: int, rounds: int
) -> tuple[float, float]:
    """Return (median half width of the newcomers' intervals in points, coverage of all intervals).

    rounds: number of snapshots; the plan of each draws the pairs of the next new_votes / rounds votes.
    """
    size, first, second = models + newcomers, *np.triu_indices(models + newcomers, 1)
    theta = np.append(strengths(rng, models), rng.normal(0, 0.8, newcomers))
    left, right = random_pairs(rng, models, old_votes)
    wins, ties = cast(rng, left, right, theta[left] - theta[right]).counts(size)
    for _ in range(rounds):
        gains = np.ones(len(first))
        if active:
            known = np.nan_to_num((fit_board(wins, ties).score - 1500) / POINTS)
            gains = pair_gains(known, wins + wins.T + ties)[first, second]
        weighted = weigh_pairs(
            [Candidate(model, 1.0) for model in range(size)], Plan.from_gains(range(size), gains.tolist())
        )
        probabilities = np.array([weight for *_, weight in weighted])
        drawn = rng.choice(len(weighted), size=new_votes // rounds, p=probabilities / probabilities.sum())
        left, right = rng.permuted(np.column_stack([first[drawn], second[drawn]]), axis=1).T
        more = cast(rng, left, right, theta[left] - theta[right]).counts(size)
        wins, ties = wins + more[0], ties + more[1]
    board = fit_board(wins, ties)
    truth = 1500 + POINTS * (theta - theta[board.established].mean())
    half = (board.high - board.low)[models:] / 2
    return float(np.median(half)), float(np.mean((board.low <= truth) & (truth <= board.high)))
