"""Detection of rings: one e-process per group of voters and model, valid however often it is inspected.

As in rating.anomalies.eprocess, a bet tilts each outcome o by η s(o), s the model's share, with π from a fit of votes
cast before the group began: L_t = exp(η s(o_t)) / Σ_o π_t(o; shifted) exp(η s(o)). E is the mean of the products of L
over TILTS; P(a group is ever flagged) ≤ α because its pairs with models are flagged at E ≥ models/α.
"""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from leaderboard.rating.anomalies.earlier_fits import LEFT, RIGHT, TIE, Votes
from leaderboard.rating.anomalies.eprocess import ALPHA
from leaderboard.rating.anomalies.expected_votes import Expectation
from leaderboard.rating.bradley_terry import Flags, Floats, Indices

TILTS = np.array([-3.0, -1.5, -0.75, -0.35, 0.35, 0.75, 1.5, 3.0])
# An honest group may like a model more, or less, than older voters do by so much, in natural-log units (17 points):
# prompts of one day differ from those of another. π is shifted by it in the direction of the bet, so E[L_t | earlier
# votes] ≤ 1.
TOLERANCE = 0.1
MIN_VOTERS = 2


@dataclass(frozen=True)
class Ring:
    """Flagged votes of a group with a model: their indices."""

    group: int
    model: int
    votes: Indices
    # Number, from 1, of the vote at which E first reached the threshold, and the tilt of the best bet then.
    crossed: int
    tilt: float
    # ln E at the end.
    log_e: float
    # The model's share of the votes.
    observed: float
    expected: float

    def numbered_by(self, numbers: Indices) -> Self:
        return replace(self, votes=numbers[self.votes])


@dataclass(frozen=True)
class _Entries:
    """Votes by group and model, in order of time; each vote twice."""

    vote: Indices
    group: Indices
    model: Indices
    on_left: Flags


def find_rings(
    votes: Votes, group: Indices, expectation: Expectation, average: Expectation, *, models: int,
    judged: Flags | None = None, alpha: float = ALPHA,
) -> list[Ring]:  # fmt: skip
    """Return the flagged pairs of a group and a model, strongest first.

    group: shape (votes,), −1: none. average: for Ring.expected. judged: shape (votes,), False where a vote is no
    evidence.
    """
    entries = _entries(votes, group, expectation, judged)
    if not len(entries.vote):
        return []
    key = entries.group * models + entries.model
    begin = np.flatnonzero(np.diff(key, prepend=-1))
    lengths = np.diff(np.append(begin, len(key)))
    wealth = np.stack([_log_wealth(votes, entries, expectation, tilt, begin, lengths) for tilt in TILTS])
    top = wealth.max(axis=0)
    log_e = top + np.log(np.exp(wealth - top).mean(axis=0))
    flagged = np.flatnonzero(np.maximum.reduceat(log_e, begin) >= np.log(models / alpha))
    rings = []
    for pair in flagged:
        rows = slice(begin[pair], begin[pair] + lengths[pair])
        own = entries.vote[rows]
        if len(np.unique(votes.voter[own])) < MIN_VOTERS:
            continue
        crossed = int(np.argmax(log_e[rows] >= np.log(models / alpha)))
        observed, expected = _shares(votes, average, own, entries.on_left[rows])
        rings.append(
            Ring(
                group=int(entries.group[begin[pair]]),
                model=int(entries.model[begin[pair]]),
                votes=own,
                crossed=crossed + 1,
                tilt=float(TILTS[np.argmax(wealth[:, begin[pair] + crossed])]),
                log_e=float(log_e[rows][-1]),
                observed=observed,
                expected=expected,
            )
        )
    return sorted(rings, key=lambda ring: -ring.log_e)


def _entries(votes: Votes, group: Indices, expectation: Expectation, judged: Flags | None) -> _Entries:
    evidence = np.isfinite(expectation.logit) & (group >= 0)
    if judged is not None:
        evidence &= judged
    on_right = np.tile([0, 1], len(votes))
    vote = np.repeat(np.arange(len(votes)), 2)
    model = np.column_stack([votes.left, votes.right]).ravel()
    order = np.lexsort((vote, model, group[vote]))
    order = order[evidence[vote[order]]]
    return _Entries(vote[order], group[vote[order]], model[order], on_right[order] == 0)


def _log_wealth(
    votes: Votes, entries: _Entries, expectation: Expectation, tilt: float, begin: Indices, lengths: Indices
) -> Floats:
    shift = np.copysign(TOLERANCE, tilt)
    gets_left, gets_right = (tilt * np.array(shares) for shares in ([1, 0, 0.5], [0, 1, 0.5]))
    on_left = gets_left[votes.outcome] - np.log(expectation.probabilities(shift) @ np.exp(gets_left))
    on_right = gets_right[votes.outcome] - np.log(expectation.probabilities(-shift) @ np.exp(gets_right))
    ratio = np.where(entries.on_left, on_left[entries.vote], on_right[entries.vote])
    total = np.cumsum(ratio)
    log_wealth: Floats = total - np.repeat((total - ratio)[begin], lengths)
    return log_wealth


def _shares(votes: Votes, average: Expectation, own: Indices, on_left: Flags) -> tuple[float, float]:
    """Return the model's share of its votes, observed and expected, in votes."""
    left, right, tie = average.subset(own).probabilities()[:, [LEFT, RIGHT, TIE]].T
    won = np.where(on_left, votes.outcome[own] == LEFT, votes.outcome[own] == RIGHT)
    observed = won + (votes.outcome[own] == TIE) / 2
    return float(observed.sum()), float((np.where(on_left, left, right) + tie / 2).sum())
