"""Figures of a judge's verdicts on the answers of a run."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import msgspec
import numpy as np

from benchmarks.statistics.agreement import LEFT, RIGHT, TIE, Opinions, Scale, alpha, pairs_within
from benchmarks.statistics.clusters import ClusteredMeans, Clusters, Floats, Indices, clustered_means
from benchmarks.statistics.means import t_interval, unit_interval
from benchmarks.statistics.payload import Interval, Number, number

# Side of the judge's own organization.
NONE, FIRST, SECOND, BOTH = range(4)
_WON, _LOST, _TIED = range(3)
# Boards count four outcomes; "both bad" is none of a judge's.
_OUTCOMES = 4


@dataclass(frozen=True)
class Verdicts:
    """Parsed verdicts of one judge; arrays of shape (verdicts,).

    unit: case and repeat; cluster: of the case; first, second: entrants as shown, second −1 for grades; value: in
    [0, 1], of a comparison 1, ½ or 0 seen from the first; own: NONE, FIRST, SECOND or BOTH.
    """

    unit: Indices
    cluster: Indices
    first: Indices
    second: Indices
    value: Floats
    own: Indices

    def where(self, rows: Indices | Floats) -> Self:
        return type(self)(
            self.unit[rows], self.cluster[rows], self.first[rows], self.second[rows], self.value[rows], self.own[rows]
        )

    @classmethod
    def joined(cls, parts: Sequence["Verdicts"]) -> Self:
        names = ("unit", "cluster", "first", "second", "value", "own")
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


@dataclass(frozen=True)
class Outcomes:
    """Outcomes of compared pairs, seen from the entrant that comes first in the run; shape (pairs,).

    value: mean over the orders; orders: 1 or 2; is_flipped: the two orders name different winners; own: as Verdicts,
    seen from the same side.
    """

    key: Indices
    cluster: Indices
    first: Indices
    second: Indices
    value: Floats
    orders: Indices
    is_flipped: Floats
    own: Indices


class PairOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """Mean outcome of two entrants over all cases: 1 if the first always wins."""

    first: int
    second: int
    pairs: int
    outcome: Interval


class BoardLine(msgspec.Struct, frozen=True, kw_only=True):
    """Score in points; None where the verdicts give none."""

    entrant: int
    score: Number
    low: Number
    high: Number
    verdicts: int
    is_preliminary: bool


class GradeMean(msgspec.Struct, frozen=True, kw_only=True):
    entrant: int
    answers: int
    mean: Interval


class Comparisons(msgspec.Struct, frozen=True, kw_only=True):
    """flips: share of pairs whose two orders name different winners; first_side: P(first wins) − ½."""

    pairs: list[PairOutcome]
    pairs_in_both_orders: int
    flips: Interval | None
    first_side: Interval | None
    board: list[BoardLine]


class StyledBoard(msgspec.Struct, frozen=True, kw_only=True):
    """effects: of one standard deviation of a feature, in logit; None where the verdicts tell none."""

    board: list[BoardLine]
    effects: dict[str, Interval | None]


def outcomes_of(verdicts: Verdicts, entrants: int) -> Outcomes:
    swapped = verdicts.first > verdicts.second
    low, high = np.minimum(verdicts.first, verdicts.second), np.maximum(verdicts.first, verdicts.second)
    value = np.where(swapped, 1 - verdicts.value, verdicts.value)
    own = np.where(swapped, np.array([NONE, SECOND, FIRST, BOTH])[verdicts.own], verdicts.own)
    keys, rows, inverse = np.unique(
        (verdicts.unit * entrants + low) * entrants + high, return_index=True, return_inverse=True
    )
    orders = np.bincount(inverse, minlength=len(keys))
    mean = np.bincount(inverse, weights=value, minlength=len(keys)) / np.maximum(orders, 1)
    # Two verdicts agree if their mean is one of them.
    is_flipped = (orders == 2) & (mean != value[rows])
    return Outcomes(
        keys, verdicts.cluster[rows], low[rows], high[rows], mean, orders, is_flipped.astype(float), own[rows]
    )


def compare(verdicts: Verdicts, entrants: int) -> Comparisons:
    outcomes = outcomes_of(verdicts, entrants)
    in_both = outcomes.orders == 2
    flips = _share(outcomes.is_flipped[in_both], outcomes.cluster[in_both])
    side = _share(verdicts.value, verdicts.cluster, is_binary=False)
    return Comparisons(
        pairs=[
            PairOutcome(
                first=int(first), second=int(second), pairs=int(rows.sum()),
                outcome=_known(_share(outcomes.value[rows], outcomes.cluster[rows], is_binary=False)),
            )
            for first, second in sorted(set(zip(outcomes.first.tolist(), outcomes.second.tolist(), strict=True)))
            if (rows := (outcomes.first == first) & (outcomes.second == second)).any()
        ],
        pairs_in_both_orders=int(in_both.sum()),
        flips=flips,
        first_side=None if side is None else _shifted(side, -0.5),
        board=board_of(verdicts, entrants),
    )  # fmt: skip


def board_of(verdicts: Verdicts, entrants: int) -> list[BoardLine]:
    """Return Bradley–Terry scores of the entrants with verdicts, the best first; cases are the clusters."""
    if not len(verdicts.value):
        return []
    # These are imported late: they import scipy, which few processes need.
    from leaderboard.rating.board_fit import fit_side_counts
    from leaderboard.rating.clustering import VoterVotes

    outcome = np.where(verdicts.value > 0.5, _WON, np.where(verdicts.value < 0.5, _LOST, _TIED))
    counts = np.zeros((_OUTCOMES, entrants, entrants))
    np.add.at(counts, (outcome, verdicts.first, verdicts.second), 1)
    of_cases = VoterVotes(verdicts.cluster, verdicts.first, verdicts.second, outcome, np.ones_like(outcome))
    board = fit_side_counts(counts, voters=of_cases).board
    number_of = np.bincount(np.r_[verdicts.first, verdicts.second], minlength=entrants)
    lines = [
        BoardLine(
            entrant=entrant, score=number(board.score[entrant]), low=number(board.low[entrant]),
            high=number(board.high[entrant]), verdicts=int(number_of[entrant]),
            is_preliminary=bool(board.preliminary[entrant]),
        )
        for entrant in np.flatnonzero(number_of).tolist()
    ]  # fmt: skip
    return sorted(lines, key=_by_score)


def styled_board(verdicts: Verdicts, entrants: int, styles: Indices) -> StyledBoard | None:
    """Return scores at equal length and formatting of the two answers; None without two established entrants.

    styles: counts of FEATURES of the answers shown first and second, shape (2, verdicts, features).
    """
    from leaderboard.rating.bradley_terry import NotConnected
    from leaderboard.rating.intervals import Z
    from leaderboard.rating.style_control import FEATURES, fit_style, scaling_of, style_features

    lines = board_of(verdicts, entrants)
    established = np.zeros(entrants, dtype=bool)
    established[[line.entrant for line in lines if not line.is_preliminary]] = True
    if not established.any():
        return None
    features = style_features(styles[0], styles[1])
    try:
        fit = fit_style(
            verdicts.first, verdicts.second, verdicts.value, features, established=established,
            scaling=scaling_of(features), voter=verdicts.cluster, side=True,
        )  # fmt: skip
    except NotConnected:
        return None
    numbers = {line.entrant: line.verdicts for line in lines}
    board = [
        BoardLine(
            entrant=entrant, score=number(fit.score[entrant]), low=number(fit.low[entrant]),
            high=number(fit.high[entrant]), verdicts=numbers[entrant], is_preliminary=False,
        )
        for entrant in np.flatnonzero(established).tolist()
    ]  # fmt: skip
    effects = {
        name: None if dropped else Interval(number(value), number(value - Z * error), number(value + Z * error))
        for name, value, error, dropped in zip(FEATURES, fit.coefficients, fit.errors, fit.dropped, strict=True)
    }
    return StyledBoard(board=sorted(board, key=_by_score), effects=effects)


def _by_score(line: BoardLine) -> tuple[bool, float, int]:
    return line.score is None, -(line.score or 0.0), line.entrant


def grade_means(verdicts: Verdicts) -> list[GradeMean]:
    means = []
    for entrant in np.unique(verdicts.first).tolist():
        rows = verdicts.first == entrant
        mean = _known(_share(verdicts.value[rows], verdicts.cluster[rows], is_binary=False))
        means.append(GradeMean(entrant=entrant, answers=int(rows.sum()), mean=mean))
    return means


def alpha_of(judges: Sequence[Outcomes]) -> Interval | None:
    """Return Krippendorff's α of which entrant wins, ordinal, on the pairs that several judges compared."""
    opinions = Opinions(
        unit=np.concatenate([outcomes.key for outcomes in judges]),
        rater=np.concatenate([np.full(len(outcomes.key), rater) for rater, outcomes in enumerate(judges)]),
        category=np.concatenate([_winner(outcomes.value) for outcomes in judges]),
        case=np.concatenate([outcomes.cluster for outcomes in judges]),
    )
    pairs = pairs_within(opinions)
    if not pairs.n:
        return None
    estimate = alpha(pairs, Scale.ORDINAL)
    return Interval(number(estimate.value), number(estimate.low), number(estimate.high))


def _winner(value: Floats) -> Indices:
    return np.where(value > 0.5, LEFT, np.where(value < 0.5, RIGHT, TIE))


def own_family_contrast(own: Outcomes, others: Sequence[Outcomes]) -> Interval | None:
    """Return how much better the judge sees its own family than the other judges do, on the same pairs; −1 to 1.

    None without pairs that both judged and of which one side is of the family.
    """
    of_family = (own.own == FIRST) | (own.own == SECOND)
    sums, numbers = np.zeros((2, len(own.key)))
    for other in others:
        known = np.isin(own.key, other.key) & of_family
        sums[known] += other.value[np.searchsorted(other.key, own.key[known])]
        numbers[known] += 1
    shared = numbers > 0
    if not shared.any():
        return None
    difference = own.value[shared] - sums[shared] / numbers[shared]
    difference = np.where(own.own[shared] == FIRST, difference, -difference)
    means = _means(difference, own.cluster[shared])
    low, high = t_interval(means)
    return Interval(number(means.mean[0]), number(low[0]), number(high[0]))


def _means(values: Floats, cluster: Indices) -> ClusteredMeans:
    return clustered_means(values[None, :], np.ones(len(values)), Clusters.from_codes(cluster))


def _share(values: Floats, cluster: Indices, *, is_binary: bool = True) -> Interval | None:
    """Return the mean of values in [0, 1]; None without values."""
    if not len(values):
        return None
    means = _means(values, cluster)
    low, high = unit_interval(means, np.array([float(len(values))]), is_binary=is_binary)
    return Interval(number(means.mean[0]), number(low[0]), number(high[0]))


def _known(interval: Interval | None) -> Interval:
    return Interval(None, None, None) if interval is None else interval


def _shifted(interval: Interval, by: float) -> Interval:
    return Interval(*(None if value is None else value + by for value in (interval.value, interval.low, interval.high)))
