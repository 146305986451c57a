"""Scores from a judge's many verdicts and people's fewer opinions on the same answers."""

# The estimate is θ_people + λ (θ_judge,all − θ_judge,labelled). Its expectation is that of θ_people for any λ: a biased
# judge moves nothing. Each estimate is linear in its residuals: a row of influence for each opinion or item, added up
# by case and by person.
# Sources: Angelopoulos, Duchi, Zrnic, "PPI++" (2023); Hansen, Hurwitz (1943); Cameron, Gelbach, Miller (2011), two-way
# clusters; Bell, McCaffrey (2002), CR2.

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from benchmarks.statistics.clusters import ClusteredMeans, Floats, Indices
from benchmarks.statistics.means import LEVEL, unit_interval

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# Functions import scipy late: few processes need it.

# Fewer show only people's own estimate.
MIN_OPINIONS = 30
MIN_CASES = 10
# Ties with an average opponent, where a finite estimate needs them (docs/method.md, preliminary models).
VIRTUAL_TIES = 0.5
# A cluster with a larger share of an entrant's information counts as one with this share.
_MAX_SHARE = 0.75
_MIN_DF = 3.0


@dataclass(frozen=True)
class Judged:
    """Verdicts of the judge; arrays of shape (items,)."""

    first: Indices
    second: Indices
    outcome: Floats  # 1: the first won, 0: the second, or between
    case: Indices


@dataclass(frozen=True)
class Labels:
    """Opinions of people; arrays of shape (opinions,)."""

    item: Indices
    outcome: Floats  # as the item's
    person: Indices
    weight: Floats  # of cell_weights or hansen_hurwitz


class Scores(NamedTuple):
    """Estimates of shape (entrants,) with 95 % intervals."""

    value: Floats
    se: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True)
class Calibrated:
    people: Scores | None  # None without opinions
    judge: Scores
    calibrated: Scores | None  # None below MIN_OPINIONS or MIN_CASES
    rate: float  # λ
    worth: Floats  # opinions that would have narrowed people's own interval as much, shape (entrants,)
    opinions: int
    persons: int
    cases: int  # with an opinion


def hansen_hurwitz(chance: Floats, items: int) -> Floats:
    """Return weights 1 / (N·P). chance: of each opinion's item when it was drawn."""
    weights: Floats = 1 / (items * chance)
    return weights


def cell_weights(cell: Indices, item: Indices) -> Floats:
    """Return weights N_cell / n_cell. cell: of each item, such as its pair; its items must be equally likely."""
    drawn = cell[item]
    items, opinions = (np.bincount(each, minlength=int(cell.max()) + 1) for each in (cell, drawn))
    weights: Floats = items[drawn] / opinions[drawn] * (len(item) / len(cell))
    return weights


class _Estimate(NamedTuple):
    value: Floats  # shape (entrants,)
    influence: Floats  # shape (rows, entrants)
    share: Floats  # of an entrant's information, shape (rows, entrants)
    floor: Floats  # variance of one imaginary vote: equal opinions do not have an interval of width 0


class _Spread(NamedTuple):
    variance: Floats
    df: Floats
    clusters: Floats  # effective number of cases


def calibrated_board(judged: Judged, labels: Labels, entrants: int) -> Calibrated:
    """Return Bradley–Terry scores in points, mean 0 over the entrants."""
    first, second = judged.first[labels.item], judged.second[labels.item]
    everywhere = _fit(judged.first, judged.second, judged.outcome, np.ones(len(judged.case)), entrants)
    if not len(labels.item):
        return _only_judge(_scores(everywhere.value, _judge_spread(everywhere, judged.case)))
    weight = labels.weight * (len(labels.item) / labels.weight.sum())
    people = _fit(first, second, labels.outcome, weight, entrants)
    labelled = _fit(first, second, judged.outcome[labels.item], weight, entrants)
    return _combined(_scores, people, labelled, everywhere, judged.case, labels)


def judge_board(judged: Judged, weight: Floats, entrants: int) -> Scores:
    """Return the judge's own Bradley–Terry scores in points, mean 0. weight: of each item, such as 1 / its chance."""
    fit = _fit(judged.first, judged.second, judged.outcome, weight * (len(weight) / weight.sum()), entrants)
    return _scores(fit.value, _judge_spread(fit, judged.case))


def calibrated_mean(outcome: Floats, case: Indices, labels: Labels) -> Calibrated:
    """Return a mean preference or pass rate, shape (1,). outcome, case: of the judge's items."""
    everywhere = _mean(outcome, np.ones(len(outcome)))
    if not len(labels.item):
        return _only_judge(_shares(everywhere.value, _judge_spread(everywhere, case)))
    people, labelled = (_mean(each, labels.weight) for each in (labels.outcome, outcome[labels.item]))
    return _combined(_shares, people, labelled, everywhere, case, labels)


def _only_judge(judge: Scores) -> Calibrated:
    return Calibrated(None, judge, None, 0.0, np.zeros(len(judge.value)), opinions=0, persons=0, cases=0)


def _combined(
    scores: Callable[[Floats, _Spread], Scores],
    people: _Estimate,
    labelled: _Estimate,
    everywhere: _Estimate,
    case: Indices,
    labels: Labels,
) -> Calibrated:
    influence = _Influence(people, labelled, everywhere, case, labels)
    rate, opinions = influence.best_rate(), len(labels.item)
    alone, together = influence.spread(0.0), influence.spread(rate)
    cases = len(np.unique(case[labels.item]))
    is_shown = opinions >= MIN_OPINIONS and cases >= MIN_CASES
    value = people.value + rate * (everywhere.value - labelled.value)
    is_narrower = (together.variance > 0) & (together.variance < alone.variance)
    return Calibrated(
        people=scores(people.value, alone),
        judge=scores(everywhere.value, _judge_spread(everywhere, case)),
        calibrated=scores(value, together) if is_shown else None,
        rate=rate,
        worth=opinions * (np.where(is_narrower, alone.variance, 1) / np.where(is_narrower, together.variance, 1) - 1),
        opinions=opinions,
        persons=len(np.unique(labels.person)),
        cases=cases,
    )


def _mean(outcome: Floats, weight: Floats) -> _Estimate:
    share = (weight / weight.sum())[:, None]
    mean = np.vecdot(share[:, 0], outcome)
    return _Estimate(np.array([mean]), share * (outcome - mean)[:, None], share, np.zeros(1))


def _fit(first: Indices, second: Indices, outcome: Floats, weight: Floats, entrants: int) -> _Estimate:
    from scipy.special import expit

    from leaderboard.rating.bradley_terry import POINTS, Tally, inverse, maximize

    cells = first * entrants + second
    sums = (np.bincount(cells, weights=each, minlength=entrants**2) for each in (weight * outcome, weight))
    won, total = (each.reshape(entrants, entrants).astype(np.float64) for each in sums)
    tally = Tally(won=won, lost=total - won, tied=np.zeros_like(won))
    kappa = VIRTUAL_TIES if tally.components.any() else 0.0
    theta = maximize(tally, free=np.ones(entrants, dtype=bool), start=np.zeros(entrants), kappa=kappa)
    p: Floats = expit(theta[first] - theta[second])
    weight_of_row = weight * p * (1 - p)
    information = tally.information(expit(theta[:, None] - theta))
    own = np.diag(information).copy()
    level = max(float(own.mean()), kappa) / entrants
    centre = np.eye(entrants) - 1 / entrants
    spread = centre @ inverse(information + kappa / 4 * np.eye(entrants) + level) @ centre
    influence = (weight * (outcome - p))[:, None] * (spread[first] - spread[second])
    share = np.zeros((len(first), entrants))
    rows = np.arange(len(first))
    share[rows, first] = share[rows, second] = weight_of_row
    share /= np.where(own > 0, own, 1)
    floor = 0.25 / (0.25 + weight_of_row.sum()) * np.diag(spread)
    return _Estimate(POINTS * (theta - theta.mean()), POINTS * influence, share, POINTS**2 * floor)


class _Influence:
    """Sums of influence by case, by person, and by both."""

    def __init__(self, people: _Estimate, labelled: _Estimate, everywhere: _Estimate, case: Indices, labels: Labels):
        _, cases = np.unique(case, return_inverse=True)
        _, persons = np.unique(labels.person, return_inverse=True)
        drawn = cases[labels.item]
        _, cells = np.unique(drawn * (persons.max() + 1) + persons, return_inverse=True)
        self._floor = people.floor
        size = int(cases.max()) + 1
        self._by_case = _sums(drawn, size, people), _sums(cases, size, everywhere) - _sums(drawn, size, labelled)
        self._by_person, self._by_cell = (
            (_sums(codes, int(codes.max()) + 1, people), -_sums(codes, int(codes.max()) + 1, labelled))
            for codes in (persons, cells)
        )
        self._concentrations = tuple(_concentration(codes, people.share) for codes in (drawn, persons))

    def spread(self, rate: float) -> _Spread:
        """Return the spread of the estimate with λ = rate."""
        by_case, by_person, by_cell = (
            ((own + rate * judge) ** 2).sum(axis=0) for own, judge in (self._by_case, self._by_person, self._by_cell)
        )
        # Opinions of one person on one case are in both sums. People add nothing where the difference is negative.
        of_people = np.maximum(by_person - by_cell, 0)
        variance: Floats = by_case + of_people + self._floor
        cases, persons = (np.maximum(1 / each - 1, _MIN_DF) for each in self._concentrations)
        # Satterthwaite (1946)
        df = variance**2 / np.maximum(
            (by_case + self._floor) ** 2 / cases + of_people**2 / persons, np.finfo(float).tiny
        )
        return _Spread(variance, np.maximum(df, _MIN_DF), 1 / self._concentrations[0])

    def best_rate(self) -> float:
        """Return the λ in [0, 1] that minimises the sum of the variances."""
        parts = zip((1, 1, -1), (self._by_case, self._by_person, self._by_cell), strict=True)
        terms = [(sign * np.vdot(own, judge), sign * np.vdot(judge, judge)) for sign, (own, judge) in parts]
        slope, curvature = (float(sum(column)) for column in zip(*terms, strict=True))
        return min(max(-slope / curvature, 0.0), 1.0) if curvature > 0 else 0.0


def _sums(codes: Indices, size: int, estimate: _Estimate) -> Floats:
    """Return influence by cluster over √(1 − h), h being the cluster's share of information; shape (size, entrants)."""
    adding = _adding(codes, size)
    sums: Floats = adding @ estimate.influence
    sums /= np.sqrt(np.maximum(1 - adding @ estimate.share, 1 - _MAX_SHARE))
    return sums


def _concentration(codes: Indices, share: Floats) -> Floats:
    """Return Σ h² over clusters; 1 for an entrant without opinions."""
    squares: Floats = ((_adding(codes, int(codes.max()) + 1) @ share) ** 2).sum(axis=0)
    return np.where(squares > 0, squares, 1.0)


def _adding(codes: Indices, size: int) -> "csr_array":
    from scipy.sparse import csr_array

    return csr_array((np.ones(len(codes)), (codes, np.arange(len(codes)))), shape=(size, len(codes)))


def _judge_spread(everywhere: _Estimate, case: Indices) -> _Spread:
    _, codes = np.unique(case, return_inverse=True)
    concentration = _concentration(codes, everywhere.share)
    variance = (_sums(codes, int(codes.max()) + 1, everywhere) ** 2).sum(axis=0) + everywhere.floor
    return _Spread(variance, np.maximum(1 / concentration - 1, _MIN_DF), 1 / concentration)


def _scores(value: Floats, spread: _Spread) -> Scores:
    from scipy.special import stdtrit

    se = np.sqrt(spread.variance)
    half = stdtrit(spread.df, (1 + LEVEL) / 2) * se
    return Scores(value, se, value - half, value + half)


def _shares(value: Floats, spread: _Spread) -> Scores:
    """Return Wilson's interval of means in [0, 1], with the effective number of cases."""
    se, number = np.sqrt(spread.variance), np.ceil(spread.clusters).astype(np.int64)
    means = ClusteredMeans(value, se, spread.df, number, spread.clusters, np.zeros((len(value), 0)))
    low, high = unit_interval(means, spread.clusters, is_binary=False)
    return Scores(value, se, low, high)
