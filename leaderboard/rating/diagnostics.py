"""What a board is asked: whether the scores explain the votes, and how many more would change the first place.

Two models' win shares, and votes until they are told apart, need nothing but published numbers: differences.py.
"""

from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from leaderboard.rating.board_fit import Board
from leaderboard.rating.bradley_terry import POINTS, Floats, Tally, fit_strengths, inverse_on_contrasts, laplacian

_CHALLENGERS = 5


@dataclass(frozen=True)
class Misfit:
    """χ² of the pairs' win shares against those that the scores expect; about `df` where the scores explain them."""

    chi2: float
    df: int

    @property
    def ratio(self) -> float | None:
        return self.chi2 / self.df if self.df > 0 else None


@dataclass(frozen=True)
class Flip:
    """`votes` more votes that prefer model `winner` to model `loser` would put `first` in first place (places)."""

    votes: int
    winner: int
    loser: int
    first: int


@dataclass(frozen=True)
class _Kind:
    """Votes that prefer one model to another, and how many of them a first-order estimate asks for."""

    estimate: float
    winner: int
    loser: int


def misfit(tally: Tally, board: Board) -> Misfit:
    """Pearson's χ² over the pairs of established models that met: Σ (S − expected)² / (φ · n·p·q).

    df = pairs − (models − 1) of each group, and one less where the scores allow for the side.
    """
    chi2, df = 0.0, 0
    for group in np.unique(board.group[board.established]):
        members = board.established & (board.group == group)
        inner = tally.subset(members)
        p = inner.win_probabilities(board.score[members] / POINTS)
        expected = inner.cells * p
        met = np.triu(inner.votes > 0)
        rest = inner.effective_wins - expected - (inner.cells - expected).T
        chi2 += float((rest[met] ** 2 / (board.phi[group] * inner.information(p)[met])).sum())
        df += int(met.sum()) - (int(members.sum()) - 1)
    return Misfit(chi2, df - bool(tally.bias))


def votes_to_flip_first(tally: Tally, board: Board) -> Flip | None:
    """The smallest number of added votes, all of one kind, after which another model has the highest score.

    Only established models of the main group stand for the first place. Kinds: any “i is preferred to j” among them,
    seats alternating. One vote moves a challenger towards the leader by (z_i − z_j)·(1 − p_ij), where
    z = H⁻¹(e_challenger − e_leader); for the nearest challengers the kind that moves them most, and the direct one,
    are then tried by fitting again, so that the number is exact for its kind. None with fewer than two models.
    """
    members = np.flatnonzero(board.established & (board.group == 0))
    if len(members) < 2:
        return None
    inner, theta = tally.subset(members), board.score[members] / POINTS
    theta = theta - theta.mean()
    best = None
    # Direct votes pull the two level with at most this many: half of each is a surprise.
    fewest = 2 * ceil(inner.cells.sum()) + 2
    for kind in sorted(_kinds(inner, theta), key=lambda kind: kind.estimate):
        found = _fewest(inner, theta, kind, below=fewest) if fewest > 1 else None
        if found:
            fewest, first = found
            best = Flip(fewest, *(int(members[place]) for place in (kind.winner, kind.loser, first)))
    return best


def _kinds(tally: Tally, theta: Floats) -> list[_Kind]:
    p = replace(tally, bias=0).win_probabilities(theta)
    spread = inverse_on_contrasts(laplacian(tally.information(tally.win_probabilities(theta))))
    leader = int(theta.argmax())
    towards = spread - spread[leader]  # a row per challenger
    gaps = theta[leader] - theta
    direct = towards[np.arange(len(theta)), np.arange(len(theta))] - towards[:, leader]
    others = np.flatnonzero(np.arange(len(theta)) != leader)
    nearest = others[np.argsort(gaps[others] / direct[others])][:_CHALLENGERS]
    kinds = []
    for challenger in map(int, nearest):
        gain = (towards[challenger][:, None] - towards[challenger]) * (1 - p)
        most = np.unravel_index(gain.argmax(), gain.shape)
        for winner, loser in {(challenger, leader), (int(most[0]), int(most[1]))}:
            kinds.append(_Kind(float(gaps[challenger] / gain[winner, loser]), winner, loser))
    return kinds


def _fewest(tally: Tally, theta: Floats, kind: _Kind, *, below: int) -> tuple[int, int] | None:
    """(votes, who is first then), by fitting again with more and fewer votes of that kind; None if not below that."""
    leader = int(theta.argmax())

    def ahead(votes: int) -> tuple[float, int]:
        """By how much the best other one is ahead of the leader, and which one it is."""
        fitted = fit_strengths(_with_more(tally, kind, votes), start=theta)
        rivals = np.where(np.arange(len(fitted)) == leader, -np.inf, fitted)
        return float(rivals.max() - fitted[leader]), int(rivals.argmax())

    too_few, lacking = 0, ahead(0)[0]
    enough = max(1, ceil(kind.estimate))
    while (reached := ahead(min(enough, below - 1)))[0] <= 0:
        if enough >= below - 1:
            return None
        too_few, lacking = enough, reached[0]
        enough = 2 * enough
    enough = min(enough, below - 1)
    while enough - too_few > 1:
        # Between the two along a straight line, but never at an end.
        guess = too_few + ceil((enough - too_few) * lacking / (lacking - reached[0]))
        between = min(max(guess, too_few + 1), enough - 1)
        tried = ahead(between)
        if tried[0] > 0:
            enough, reached = between, tried
        else:
            too_few, lacking = between, tried[0]
    return enough, reached[1]


def _with_more(tally: Tally, kind: _Kind, votes: int) -> Tally:
    won, lost = tally.won.copy(), tally.lost.copy()
    won[kind.winner, kind.loser] += votes / 2
    lost[kind.loser, kind.winner] += votes / 2
    return replace(tally, won=won, lost=lost)
