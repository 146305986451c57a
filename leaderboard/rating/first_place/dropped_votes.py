from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from leaderboard.rating.board_fit import Board
from leaderboard.rating.bradley_terry import (
    CONVERGED,
    POINTS,
    Floats,
    Indices,
    Tally,
    fit_strengths,
    inverse_on_contrasts,
    strong_components,
)

OUTCOMES = ("left", "right", "tie")  # a tie of either kind
_LEFT_SHARES = (1.0, 0.0, 0.5)
_MAX_CHALLENGERS = 5
# Share of the votes still needed, as the first order expects, that are dropped before the influences are updated.
_STEP = 0.7
_MIN_REST = 0.05
# Kinds of votes that nearly always suffice.
_MANY_KINDS = 4096


@dataclass(frozen=True)
class Drop:
    """Votes to drop, and the model that is first without them.

    kinds: columns left, right, index in OUTCOMES and votes, shape (kinds, 4).
    """

    votes: int
    first: int
    kinds: Indices


def votes_to_drop_first(tally: Tally, board: Board) -> Drop | None:
    """Return few votes without which another established model of the main group is first.

    A greedy search: exact is that another model is first without these votes; a smaller set is possible. None where no
    set was found that leaves the models connected.
    Source: Broderick, Giordano, Meager, “An automatic finite-sample robustness metric” (2020), for the influences.
    """
    # The votes with the largest influence on a challenger's distance to the leader are dropped in steps, for each of
    # the nearest challengers, and the board is fitted anew after each step.
    members = np.flatnonzero(board.established & (board.group == 0))
    if len(members) < 2:
        return None
    start = _Fit.of(tally.subset(members).as_matrices(), board.score[members] / POINTS)
    needed = {model: start.ranked_votes(model, start.leader).needed for model in start.nearest_challengers()}
    best: Drop | None = None
    for challenger in sorted(needed, key=needed.__getitem__):
        drop = None if best and needed[challenger] >= best.votes else _search(start, challenger)
        if drop and (best is None or drop.votes < best.votes):
            best = drop
    if best is None:
        return None
    kinds = np.column_stack([members[best.kinds[:, :2]], best.kinds[:, 2:]])
    return Drop(best.votes, int(members[best.first]), kinds)


@dataclass(frozen=True)
class _RankedVotes:
    """Kinds of votes, cells of (outcome, left, right), by falling influence; needed: votes, by the first order.

    Contains more votes than `needed`, or all that have an influence.
    """

    cells: Indices
    votes: Floats
    needed: float

    def first(self, number: int) -> Floats:
        # Votes of each kind among the first `number`.
        before = self.votes.cumsum() - self.votes
        return np.clip(number - before, 0, self.votes)


@dataclass(frozen=True)
class _Fit:
    """Fitted tally. spread: inverse information; p: expected shares; shape (models, models)."""

    tally: Tally
    theta: Floats
    spread: Floats
    p: Floats

    @classmethod
    def of(cls, tally: Tally, theta: Floats) -> Self:
        p = tally.win_probabilities(theta)
        return cls(tally, theta, inverse_on_contrasts(tally.information(p)), p)

    @property
    def leader(self) -> int:
        return int(self.theta.argmax())

    def leads(self, model: int) -> bool:
        return bool(self.theta[model] >= self.theta.max() - CONVERGED)

    def nearest_challengers(self) -> list[int]:
        """Sort by gap to the leader in units of a vote's effect."""
        deviation, leader = np.diag(self.spread), self.leader
        effect = deviation + deviation[leader] - 2 * self.spread[leader]
        distance = (self.theta[leader] - self.theta) / np.where(effect > 0, effect, 1)
        distance[leader] = np.inf
        return [int(model) for model in np.argsort(distance, kind="stable")[: min(_MAX_CHALLENGERS, len(distance) - 1)]]

    @cached_property
    def outcomes(self) -> Floats:
        return np.stack([self.tally.won, self.tally.lost, self.tally.tied])

    @cached_property
    def rest(self) -> Floats:
        """1 − h of a vote on each pair, bounded; h: its leverage."""
        deviation = np.diag(self.spread)
        leverage = self.p * (1 - self.p) * (deviation[:, None] + deviation - 2 * self.spread)
        rest: Floats = np.maximum(1 - leverage, _MIN_REST)
        return rest

    def without(self, cells: Indices, votes: Floats) -> "_Fit | None":
        """Return the fit without some votes; None where they connect the models."""
        outcomes = self.outcomes.copy()
        outcomes.reshape(-1)[cells] -= votes
        tally = Tally(outcomes[0], outcomes[1], outcomes[2], self.tally.bias)
        if strong_components(tally.has_won).any():
            return None
        return _Fit.of(tally, fit_strengths(tally, start=self.theta))

    def ranked_votes(self, challenger: int, leader: int) -> _RankedVotes:
        """Rank votes by how far the challenger moves towards the leader without one.

        First order, with leverage h: −(z_i − z_j)(y − p) / (1 − h), z = H⁻¹(e_challenger − e_leader).
        """
        z = self.spread[challenger] - self.spread[leader]
        pull = (z - z[:, None]) / self.rest
        gain = np.stack([pull * (share - self.p) for share in _LEFT_SHARES]).reshape(-1)
        votes = self.outcomes.reshape(-1)
        cells = np.flatnonzero((votes > 0) & (gain > 0))
        gap = self.theta[leader] - self.theta[challenger]
        for number in (_MANY_KINDS, len(cells)):
            first = _largest(gain, cells, number)
            closed = (votes[first] * gain[first]).cumsum()
            place = int(np.searchsorted(closed, gap, side="right"))
            if place < len(first):
                rest = (gap - (closed[place - 1] if place else 0)) / gain[first[place]]
                return _RankedVotes(first, votes[first], float(votes[first[:place]].sum() + rest))
        return _RankedVotes(first, votes[first], np.inf)


def _largest(gain: Floats, cells: Indices, number: int) -> Indices:
    """Return the cells with the largest gains, `number` or more if some are equal, in stable order."""
    if number < len(cells):
        cells = cells[gain[cells] >= np.partition(gain[cells], -number)[-number]]
    order: Indices = cells[np.argsort(-gain[cells], kind="stable")]
    return order


def _search(start: _Fit, challenger: int) -> Drop | None:
    fit, leader, outcomes = start, start.leader, start.outcomes
    while fit.leads(leader):
        ranked = fit.ranked_votes(challenger, leader)
        available = ranked.votes.sum()
        number = int(min(max(1, _STEP * ranked.needed), available))
        if not number:
            return None
        following = _fit_without(fit, ranked, number)
        while following and not following.leads(leader) and number > 1:
            # The first order was wrong by much: fewer of these votes may be enough.
            fewer = _fit_without(fit, ranked, number // 2)
            if fewer and fewer.leads(leader):
                following = fewer
                break
            following, number = fewer or following, number // 2
        if following is None:
            return None
        fit = following
    dropped = outcomes - fit.outcomes
    outcome, left, right = np.nonzero(dropped)
    number_of_each = dropped[outcome, left, right]
    kinds = np.column_stack([left, right, outcome, number_of_each]).astype(np.int64)
    return Drop(int(number_of_each.sum()), fit.leader, kinds)


def _fit_without(fit: _Fit, ranked: _RankedVotes, number: int) -> _Fit | None:
    return fit.without(ranked.cells, ranked.first(number))
