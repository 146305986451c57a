"""Detection of rings: one e-process per group of voters and model, valid however often it is inspected.

Null hypothesis: the votes of an honest group with a model have the probabilities π of honest people by a fit of votes
cast before the group began, with the model's strength shifted by δ ~ N(0, se² + drift²), the same for all its votes.
E is the ratio of the votes' probability if bets tilt π by exp(η s(o)), s the model's share, to that under the null:

    E = mean over η of Π π(o) exp(η s(o)) / Z(η)  /  ∫ Π π(o; δ) dN(δ)

P(a group is ever flagged) ≤ α because its pairs with models are flagged at E ≥ models/α (Ville 1939).
"""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from scipy.special import logsumexp

from leaderboard.rating.anomalies.earlier_fits import LEFT, RIGHT, TIE, Votes
from leaderboard.rating.anomalies.eprocess import ALPHA
from leaderboard.rating.anomalies.expected_votes import Expectation
from leaderboard.rating.bradley_terry import Flags, Floats, Indices

TILTS = np.array([-3.0, -1.5, -0.75, -0.35, 0.35, 0.75, 1.5, 3.0])
_NODES, _WEIGHTS = hermegauss(9)
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
    votes: Votes, group: Indices, expectation: Expectation, average: Expectation, *, errors: Floats, models: int,
    drift: float, judged: Flags | None = None, alpha: float = ALPHA, centre: Floats | None = None,
) -> list[Ring]:  # fmt: skip
    """Return the flagged pairs of a group and a model, strongest first.

    group: shape (votes,), −1: none. average: for Ring.expected. errors: of θ, and centre: mean of δ, shape (models,).
    drift: sd of an honest group's liking of a model, in natural-log units.
    judged: shape (votes,) or, by side, (votes, 2), False where a vote is no evidence.
    """
    entries = _entries(votes, group, expectation, judged)
    if not len(entries.vote):
        return []
    key = entries.group * models + entries.model
    begin = np.flatnonzero(np.diff(key, prepend=-1))
    lengths = np.diff(np.append(begin, len(key)))
    spread, centre = np.sqrt(errors**2 + drift**2), np.zeros(models) if centre is None else centre
    wealth = _log_wealth(votes, entries, expectation, centre, spread, begin, lengths)
    log_e = logsumexp(wealth, axis=0) - np.log(len(TILTS))
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
    known = np.isfinite(expectation.logit) & (group >= 0)
    evidence = np.column_stack([known, known])
    if judged is not None:
        evidence &= judged.reshape(len(votes), -1)
    on_right = np.tile([0, 1], len(votes))
    vote = np.repeat(np.arange(len(votes)), 2)
    model = np.column_stack([votes.left, votes.right]).ravel()
    order = np.lexsort((vote, model, group[vote]))
    order = order[evidence.ravel()[order]]
    return _Entries(vote[order], group[vote[order]], model[order], on_right[order] == 0)


def _log_wealth(
    votes: Votes, entries: _Entries, expectation: Expectation, centre: Floats, spread: Floats, begin: Indices,
    lengths: Indices,
) -> Floats:  # fmt: skip
    """Return ln of the ratio for each tilt, shape (tilts, entries). δ ~ N(centre, spread²), shape (models,)."""
    vote, outcome = entries.vote, votes.outcome[entries.vote]
    everyone = np.arange(len(vote))
    own, sign = expectation.subset(vote), np.where(entries.on_left, 1.0, -1.0)

    def running(log_ratio: Floats) -> Floats:
        total = np.cumsum(log_ratio)
        sums: Floats = total - np.repeat((total - log_ratio)[begin], lengths)
        return sums

    shifts = ((centre + node * spread)[entries.model] * sign for node in _NODES)
    shifted = [running(np.log(own.probabilities(shift)[everyone, outcome])) for shift in shifts]
    null = logsumexp(np.stack(shifted), axis=0, b=(_WEIGHTS / _WEIGHTS.sum())[:, None])
    pi = own.probabilities()
    shares = np.where(entries.on_left[:, None], [1, 0, 0.5], [0, 1, 0.5])
    tilted = [pi * np.exp(tilt * shares) for tilt in TILTS]
    bets = [running(np.log(chances[everyone, outcome] / chances.sum(axis=1))) for chances in tilted]
    log_wealth: Floats = np.stack(bets) - null
    return log_wealth


def _shares(votes: Votes, average: Expectation, own: Indices, on_left: Flags) -> tuple[float, float]:
    """Return the model's share of its votes, observed and expected, in votes."""
    left, right, tie = average.subset(own).probabilities()[:, [LEFT, RIGHT, TIE]].T
    won = np.where(on_left, votes.outcome[own] == LEFT, votes.outcome[own] == RIGHT)
    observed = won + (votes.outcome[own] == TIE) / 2
    return float(observed.sum()), float((np.where(on_left, left, right) + tie / 2).sum())
