"""Ranks that claim no more than the intervals show."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leaderboard.rating.board_fit import Board


@dataclass(frozen=True)
class Ranks:
    """Shape (models,) each; 0 for a model that is not listed. A model's rank is its best possible place."""

    best: NDArray[np.int64]
    worst: NDArray[np.int64]


def rank_board(board: Board) -> Ranks:
    """best = 1 + how many are clearly above, that is: their lower bound is higher than this one's upper bound.

    worst = everybody who is not clearly below. Established models are compared with each other only, so
    that newcomers push nobody down; a preliminary one with everybody listed.
    """
    compared = board.listed[:, None] & (board.established[:, None] | board.preliminary)
    clearly_above = board.low[:, None] > board.high
    best = 1 + (compared & clearly_above).sum(axis=0)
    worst = (compared & ~clearly_above.T).sum(axis=0)
    return Ranks(best=np.where(board.listed, best, 0), worst=np.where(board.listed, worst, 0))
