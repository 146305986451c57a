"""What a board answers when it is asked: win shares, misfit, and votes still needed."""

from dataclasses import dataclass
from math import ceil, sqrt

import numpy as np
from scipy.special import expit

from leaderboard.rating.board_fit import Board
from leaderboard.rating.bradley_terry import POINTS, Tally
from leaderboard.rating.intervals import Z


@dataclass(frozen=True)
class WinShare:
    """What one model takes of its votes against another, a tie being half a win; 0 to 1, with 95 % bounds."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Misfit:
    """χ² of the pairs' win shares against those that the scores expect; about `df` where the scores explain them."""

    chi2: float
    df: int

    @property
    def ratio(self) -> float | None:
        return self.chi2 / self.df if self.df > 0 else None


@dataclass(frozen=True)
class VotesNeeded:
    """with_either: votes on battles with at least one of the two; on_board: all votes by the time these are cast."""

    with_either: int
    on_board: int


def expected_share(board: Board, one: int, other: int) -> WinShare | None:
    """Of `one` against `other`, from the scores; None where they were not placed on one scale.

    Bounds: σ(d ± 1.96 se(d)) with the covariance of the two scores. Where a model has an open end, so has the share.
    """
    if not (board.listed[one] and board.listed[other] and board.group[one] == board.group[other]):
        return None
    difference, half = _difference(board, one, other)
    low, high = difference - half, difference + half
    if np.isinf(board.high[one]):
        low, high = float(board.low[one] - board.score[other]), np.inf
    if np.isinf(board.low[other]):
        low, high = max(low, float(board.score[one] - board.high[other])), np.inf
    if np.isinf(board.low[one]):
        low, high = -np.inf, min(high, float(board.high[one] - board.score[other]))
    if np.isinf(board.high[other]):
        low, high = -np.inf, min(high, float(board.score[one] - board.low[other]))
    return WinShare(*(float(expit(points / POINTS)) for points in (difference, low, high)))


def observed_share(wins: int, losses: int, ties: int) -> WinShare | None:
    """From the votes of one pair alone, ties of both kinds; None without votes.

    Bounds: Wilson's (1927) score interval for wins + ties / 2 out of all; with ties a little wider than needed.
    """
    n = wins + losses + ties
    if not n:
        return None
    share = (wins + ties / 2) / n
    shrunk = 1 + Z**2 / n
    centre = (share + Z**2 / (2 * n)) / shrunk
    half = Z * sqrt(share * (1 - share) / n + Z**2 / (4 * n**2)) / shrunk
    return WinShare(share, max(0.0, centre - half), min(1.0, centre + half))


def misfit(tally: Tally, board: Board) -> Misfit:
    """Pearson's χ² over the pairs of established models that met: Σ (S − expected)² / (φ · n·p·q).

    df = pairs − (models − 1) of each group, and one less where the scores allow for the side.
    """
    chi2, df = 0.0, 0
    for group in np.unique(board.group[board.established]):
        members = board.established & (board.group == group)
        inner = tally.among(members)
        p = inner.chances(board.score[members] / POINTS)
        expected = inner.cells * p
        met = np.triu(inner.votes > 0)
        rest = inner.taken - expected - (inner.cells - expected).T
        chi2 += float((rest[met] ** 2 / (board.phi[group] * inner.information(p)[met])).sum())
        df += int(met.sum()) - (int(members.sum()) - 1)
    return Misfit(chi2, df - bool(tally.bias))


def votes_to_separate(
    tally: Tally, board: Board, one: int, other: int, *, chance: float | None = None
) -> VotesNeeded | None:
    """How many more votes until the scores' difference is 1.96 standard errors, if it stays what it is.

    The information on a difference grows with the votes that have at least one of the two in them: with m of them
    so far, m · ((1.96 se / d)² − 1) more are needed. `chance` is that of the next battle to have one of the two, by
    default their share of the votes so far. None where the difference is 0 or the two are not on one scale.
    """
    if not (board.listed[one] and board.listed[other] and board.group[one] == board.group[other]):
        return None
    difference, half = _difference(board, one, other)
    if difference == 0 or one == other:
        return None
    votes = tally.votes
    so_far = votes[one].sum() + votes[other].sum() - votes[one, other]
    missing = max(0.0, so_far * ((half / difference) ** 2 - 1))
    share = so_far / tally.cells.sum() if chance is None else chance
    return VotesNeeded(with_either=ceil(missing), on_board=ceil(missing / share))


def _difference(board: Board, one: int, other: int) -> tuple[float, float]:
    """(difference of the scores, half its 95 % interval) in points."""
    covariance = board.covariance
    variance = covariance[one, one] + covariance[other, other] - 2 * covariance[one, other]
    return float(board.score[one] - board.score[other]), Z * sqrt(max(0.0, float(variance)))
