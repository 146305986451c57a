"""Goodness of fit, and the votes that would change first place."""

from dataclasses import dataclass, replace
from functools import partial
from math import ceil

import numpy as np

from leaderboard.rating.board_fit import Board
from leaderboard.rating.bradley_terry import POINTS, Floats, Tally, fit_strengths, inverse_on_contrasts

_MAX_CHALLENGERS = 5


@dataclass(frozen=True)
class Misfit:
    """Pearson's χ² of the win shares; about `df` where the scores explain the votes."""

    chi2: float
    df: int

    @property
    def ratio(self) -> float | None:
        return self.chi2 / self.df if self.df > 0 else None


@dataclass(frozen=True)
class Flip:
    """Number of added votes for `winner` over `loser` that put `first` first; all are indices."""

    votes: int
    winner: int
    loser: int
    first: int


@dataclass(frozen=True)
class _VoteKind:
    """Votes for one model over another; estimate: first-order number needed."""

    estimate: float
    winner: int
    loser: int


def misfit(tally: Tally, board: Board) -> Misfit:
    """Return Pearson's χ² over the pairs of established models that met: Σ (S − expected)² / (φ · n·p·q).

    df = pairs − (models − 1) of each group, minus one where the scores are corrected for side bias.
    """
    chi2, df = 0.0, 0
    for group in np.unique(board.group[board.established]):
        members = board.established & (board.group == group)
        inner = tally.subset(members)
        p = inner.win_probabilities(board.score[members] / POINTS)
        residuals = inner.won + inner.tied / 2 - inner.cells * p
        together = partial(inner.pairs.together, where=inner.cells)
        residuals, information = together(residuals, sign=-1), together(inner.expected_squares(p))
        chi2 += float((residuals**2 / (board.phi[group] * information)).sum())
        df += len(residuals) - (int(members.sum()) - 1)
    return Misfit(chi2, df - bool(tally.bias))


def votes_to_flip_first(tally: Tally, board: Board) -> Flip | None:
    """Return the smallest number of added votes of one kind after which another model has the highest score.

    Considers established models of the main group; a kind is “i is preferred to j”, on either side equally often. The
    number is exact for its kind. None with fewer than two models.
    """
    # One vote moves a challenger towards the leader by (z_i − z_j)·(1 − p_ij), z = H⁻¹(e_challenger − e_leader). The
    # kind with the largest effect and the direct one are refitted for the nearest challengers.
    members = np.flatnonzero(board.established & (board.group == 0))
    if len(members) < 2:
        return None
    inner, theta = tally.subset(members).as_matrices(), board.score[members] / POINTS
    theta = theta - theta.mean()
    best = None
    # Upper bound: this many direct votes always suffice, as until the two are level each has a residual of at least ½.
    limit = 2 * ceil(inner.cells.sum()) + 2
    for kind in sorted(_candidate_kinds(inner, theta), key=lambda kind: kind.estimate):
        flipped = _min_votes_to_flip(inner, theta, kind, below=limit) if limit > 1 else None
        if flipped:
            limit, first = flipped
            best = Flip(limit, *(int(members[index]) for index in (kind.winner, kind.loser, first)))
    return best


def _candidate_kinds(tally: Tally, theta: Floats) -> list[_VoteKind]:
    p = replace(tally, bias=0).win_probabilities(theta)
    spread = inverse_on_contrasts(tally.information(tally.win_probabilities(theta)))
    leader = int(theta.argmax())
    towards = spread - spread[leader]  # a row per challenger
    gaps = theta[leader] - theta
    direct = towards[np.arange(len(theta)), np.arange(len(theta))] - towards[:, leader]
    others = np.flatnonzero(np.arange(len(theta)) != leader)
    nearest = others[np.argsort(gaps[others] / direct[others])][:_MAX_CHALLENGERS]
    kinds = []
    for challenger in map(int, nearest):
        gain = (towards[challenger][:, None] - towards[challenger]) * (1 - p)
        best = np.unravel_index(gain.argmax(), gain.shape)
        for winner, loser in {(challenger, leader), (int(best[0]), int(best[1]))}:
            kinds.append(_VoteKind(float(gaps[challenger] / gain[winner, loser]), winner, loser))
    return kinds


def _min_votes_to_flip(tally: Tally, theta: Floats, kind: _VoteKind, *, below: int) -> tuple[int, int] | None:
    """Return (votes, new leader) by refitting; None if `below` is reached."""
    leader = int(theta.argmax())

    def lead_after(votes: int) -> tuple[float, int]:
        """Return (lead of the best challenger, that model)."""
        fitted = fit_strengths(_with_added_votes(tally, kind, votes), start=theta)
        rivals = np.where(np.arange(len(fitted)) == leader, -np.inf, fitted)
        return float(rivals.max() - fitted[leader]), int(rivals.argmax())

    too_few, too_few_lead = 0, lead_after(0)[0]
    enough = max(1, ceil(kind.estimate))
    while (enough_lead := lead_after(min(enough, below - 1)))[0] <= 0:
        if enough >= below - 1:
            return None
        too_few, too_few_lead = enough, enough_lead[0]
        enough = 2 * enough
    enough = min(enough, below - 1)
    while enough - too_few > 1:
        # Linear interpolation, never at an end of the bracket.
        guess = too_few + ceil((enough - too_few) * too_few_lead / (too_few_lead - enough_lead[0]))
        between = min(max(guess, too_few + 1), enough - 1)
        lead = lead_after(between)
        if lead[0] > 0:
            enough, enough_lead = between, lead
        else:
            too_few, too_few_lead = between, lead[0]
    return enough, enough_lead[1]


def _with_added_votes(tally: Tally, kind: _VoteKind, votes: int) -> Tally:
    won, lost = tally.won.copy(), tally.lost.copy()
    won[kind.winner, kind.loser] += votes / 2
    lost[kind.loser, kind.winner] += votes / 2
    return replace(tally, won=won, lost=lost)
