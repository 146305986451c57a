"""Agreement of opinions, raw and corrected for chance, with intervals by a jackknife over cases."""

# Every coefficient is 1 − D/E of a table of pairs of opinions: D is the observed, E the expected disagreement.
# Sources: Cohen (1960, 1968); Fleiss (1971); Krippendorff, "Content Analysis" (2004), chapter 11; Byrt, Bishop, Carlin
# (1993), indices; Efron, Stein (1981), jackknife; Zou, Donner (2008), differences without variation.
# Intervals are Wilson's of D, with the effective number of cases by which the jackknife's standard error is that of a
# share; no interval has zero width. docs/method.md has the formulas.

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Self

import numpy as np

from benchmarks.statistics.clusters import Clusters, Floats, Indices, clustered_means
from benchmarks.statistics.means import LEVEL, wilson

# Categories of a comparison, in their order.
LEFT, TIE, RIGHT = range(3)
OUTCOMES = 3

_TAIL = (1 + LEVEL) / 2


class Scale(StrEnum):
    """Distance of two categories."""

    NOMINAL = "nominal"
    ORDINAL = "ordinal"
    INTERVAL = "interval"


@dataclass(frozen=True)
class Opinions:
    """Opinions of one source; arrays of shape (opinions,)."""

    unit: Indices  # such as a pair of answers
    rater: Indices  # a rater's first opinion on a unit counts
    category: Indices  # 0, 1, … in their order
    case: Indices

    def first_of_each_rater(self) -> Self:
        _, kept = np.unique(np.stack([self.unit, self.rater]), axis=1, return_index=True)
        kept.sort()
        return type(self)(self.unit[kept], self.rater[kept], self.category[kept], self.case[kept])


@dataclass(frozen=True)
class Pairs:
    """Pairs of opinions on the same unit, in tables [first's category, second's]."""

    tables: Floats  # weighted, shape (cases, categories, categories)
    cases: Indices  # their numbers, ascending
    confusion: Floats  # each pair counts 1, shape (categories, categories)

    @property
    def n(self) -> int:
        return round(float(self.confusion.sum()))

    def without(self, category: int) -> Self:
        """Return the pairs in which neither opinion is `category`."""
        others = np.delete(np.arange(self.tables.shape[1]), category)
        square = others[:, None], others
        return type(self)(self.tables[:, *square], self.cases, self.confusion[square])

    def over(self, cases: Indices) -> Floats:
        """Return tables of `cases`, 0 where there is no pair."""
        tables = np.zeros((len(cases), *self.tables.shape[1:]))
        tables[np.searchsorted(cases, self.cases)] = self.tables
        return tables


@dataclass(frozen=True)
class Estimate:
    """Value with its 95 % interval, all three NaN where it is undefined."""

    value: float
    low: float
    high: float
    n: int  # pairs
    cases: int  # with a pair


@dataclass(frozen=True)
class Agreement:
    raw: Estimate
    without_ties: Estimate
    kappa: Estimate
    linear_kappa: Estimate
    alpha: Estimate  # ordinal
    prevalence: Estimate
    bias: Estimate
    confusion: Floats


def pairs_between(first: Opinions, second: Opinions, categories: int = OUTCOMES) -> Pairs:
    """Return each opinion of one source with each of the other."""
    units, cases = _units(first, second)
    counts = [_counts(source.first_of_each_rater(), units, categories) for source in (first, second)]
    tables = counts[0][:, :, None] * counts[1][:, None, :]
    return Pairs(*_by_case(tables, cases), tables.sum(axis=0))


def pairs_within(opinions: Opinions, categories: int = OUTCOMES) -> Pairs:
    """Return pairs of different raters, half in each order; of m opinions on a unit, each weighs 1/(m − 1)."""
    units, cases = _units(opinions)
    counts = _counts(opinions.first_of_each_rater(), units, categories)
    number = counts.sum(axis=1)
    tables = counts[:, :, None] * counts[:, None, :]
    tables[:, np.arange(categories), np.arange(categories)] -= counts
    tables /= 2
    confusion = tables.sum(axis=0)
    tables /= np.maximum(number - 1, 1)[:, None, None]
    return Pairs(*_by_case(tables, cases), confusion)


def own_repeats(opinions: Opinions) -> Opinions:
    """Return opinions whose pairs_within are those of a rater with themselves."""
    _, unit = np.unique(np.stack([opinions.unit, opinions.rater]), axis=1, return_inverse=True)
    return Opinions(unit, np.arange(len(unit)), opinions.category, opinions.case)


def agreement(pairs: Pairs) -> Agreement:
    """Return all figures of comparisons."""
    return Agreement(
        raw=raw_agreement(pairs),
        without_ties=raw_agreement(pairs.without(TIE)),
        kappa=cohen_kappa(pairs),
        linear_kappa=cohen_kappa(pairs, is_linear=True),
        alpha=alpha(pairs, Scale.ORDINAL),
        prevalence=prevalence_index(pairs),
        bias=bias_index(pairs),
        confusion=pairs.confusion,
    )


def raw_agreement(pairs: Pairs) -> Estimate:
    return _of_pairs(pairs, lambda tables: (_disagreement(tables, _nominal(tables)), np.ones(tables.shape[:-2])))


def cohen_kappa(pairs: Pairs, *, is_linear: bool = False) -> Estimate:
    """Return Cohen's κ; of pairs_within, Scott's π."""

    def parts(tables: Floats) -> tuple[Floats, Floats]:
        distance = _linear(tables) if is_linear else _nominal(tables)
        expected = tables.sum(axis=-1)[..., :, None] * tables.sum(axis=-2)[..., None, :]
        return _disagreement(tables, distance), _disagreement(expected, distance)

    return _of_pairs(pairs, parts)


def alpha(pairs: Pairs, scale: Scale) -> Estimate:
    """Return Krippendorff's α from the coincidence matrix."""
    return _of_pairs(pairs, partial(_alpha_parts, scale=scale))


def alpha_difference(first: Pairs, second: Pairs, scale: Scale) -> Estimate:
    """Return α of `first` less that of `second`."""
    alphas = alpha(first, scale), alpha(second, scale)
    cases = np.union1d(first.cases, second.cases)
    value, n = alphas[0].value - alphas[1].value, first.n + second.n
    if np.isnan(value):
        return Estimate(np.nan, np.nan, np.nan, n, len(cases))
    tables = [pairs.over(cases) for pairs in (first, second)]
    parts: Parts = partial(_alpha_parts, scale=scale)
    with np.errstate(invalid="ignore", divide="ignore"):
        observed, expected = (np.array(each) for each in zip(*(parts(own.sum(axis=0)) for own in tables), strict=True))
        variance = float((observed * (1 - observed) / expected**2).sum())
        deviations = _deviations(tables[0], parts) - _deviations(tables[1], parts)
    error = _Error.of(deviations, np.vstack([own.sum(axis=(1, 2)) for own in tables]).mean(axis=0), variance)
    below = above = error.t * error.se
    if not below > 0:
        # Nothing but agreement, or one case: the two intervals' own widths count, as if they were independent.
        below = float(np.hypot(alphas[0].value - alphas[0].low, alphas[1].high - alphas[1].value))
        above = float(np.hypot(alphas[0].high - alphas[0].value, alphas[1].value - alphas[1].low))
    return Estimate(value, value - below, value + above, n, len(cases))


def fleiss_kappa(opinions: Opinions, categories: int = OUTCOMES) -> Estimate:
    """Return Fleiss's κ of units with two or more raters; n counts opinions."""
    units, cases = _units(opinions)
    counts = _counts(opinions.first_of_each_rater(), units, categories)
    number = counts.sum(axis=1)
    is_shared = number > 1
    counts, number = counts[is_shared], number[is_shared]
    disagreement = 1 - ((counts**2).sum(axis=1) - number) / (number * (number - 1))
    # A case's opinions by category, the sum of its units' disagreement, and their number.
    rows = np.column_stack([counts, disagreement, np.ones(len(counts))])
    sums, _ = _by_case(rows, cases[is_shared])

    def parts(rows: Floats) -> tuple[Floats, Floats]:
        by_category, observed = rows[..., :-2], rows[..., -2] / rows[..., -1]
        shares = by_category / by_category.sum(axis=-1, keepdims=True)
        return observed, 1 - (shares**2).sum(axis=-1)

    return _estimate(sums, parts, weights=sums[:, -1], n=int(number.sum()))


def prevalence_index(pairs: Pairs) -> Estimate:
    """Return how much more often the commonest category is named than the rarest."""

    def index(tables: Floats) -> Floats:
        shares = (tables.sum(axis=-1) + tables.sum(axis=-2)) / (2 * tables.sum(axis=(-2, -1)))[..., None]
        spread: Floats = np.ptp(shares, axis=-1)
        return spread

    return _index(pairs, index, lowest=0.0)


def bias_index(pairs: Pairs) -> Estimate:
    """Return how much higher the first source's categories are on average; in [−1, 1]."""

    def index(tables: Floats) -> Floats:
        places = np.arange(tables.shape[-1]) / max(tables.shape[-1] - 1, 1)
        lead: Floats = (tables.sum(axis=-1) - tables.sum(axis=-2)) @ places
        lead /= tables.sum(axis=(-2, -1))
        return lead

    return _index(pairs, index, lowest=-1.0)


Parts = Callable[[Floats], tuple[Floats, Floats]]


def _units(*sources: Opinions) -> tuple[Indices, Indices]:
    """Return units, ascending, and the case of each."""
    units, rows = np.unique(np.concatenate([source.unit for source in sources]), return_index=True)
    return units, np.concatenate([source.case for source in sources])[rows]


def _counts(opinions: Opinions, units: Indices, categories: int) -> Floats:
    """Return opinions by unit and category."""
    cells = np.searchsorted(units, opinions.unit) * categories + opinions.category
    counts = np.bincount(cells, minlength=len(units) * categories)
    return counts.reshape(len(units), categories).astype(np.float64)


def _by_case(of_units: Floats, cases: Indices) -> tuple[Floats, Indices]:
    """Return sums by case, and the cases that have any."""
    is_used = of_units.any(axis=tuple(range(1, of_units.ndim)))
    own, codes = np.unique(cases[is_used], return_inverse=True)
    sums = np.zeros((len(own), *of_units.shape[1:]))
    np.add.at(sums, codes, of_units[is_used])
    return sums, own


def _nominal(tables: Floats) -> Floats:
    return 1 - np.eye(tables.shape[-1])


def _linear(tables: Floats) -> Floats:
    places = np.arange(tables.shape[-1]) / max(tables.shape[-1] - 1, 1)
    distance: Floats = np.abs(places[:, None] - places)
    return distance


def _disagreement(tables: Floats, distance: Floats) -> Floats:
    mean: Floats = (tables * distance).sum(axis=(-2, -1)) / tables.sum(axis=(-2, -1))
    return mean


def _alpha_parts(tables: Floats, scale: Scale) -> tuple[Floats, Floats]:
    coincidences = tables + tables.swapaxes(-1, -2)
    frequency = coincidences.sum(axis=-1)
    total = frequency.sum(axis=-1)
    if scale is Scale.NOMINAL:
        distance = _nominal(tables)
    elif scale is Scale.INTERVAL:
        distance = _linear(tables) ** 2
    else:
        # Opinions between two categories, with half of their own.
        middle = np.cumsum(frequency, axis=-1) - frequency / 2
        span = np.maximum(middle[..., -1] - middle[..., 0], np.finfo(float).tiny)
        distance = ((middle[..., :, None] - middle[..., None, :]) / span[..., None, None]) ** 2
    pairs = frequency[..., :, None] * frequency[..., None, :]
    expected = (pairs * distance).sum(axis=(-2, -1)) / (total * (total - 1))
    return _disagreement(coincidences, distance), expected


def _of_pairs(pairs: Pairs, parts: Parts) -> Estimate:
    return _estimate(pairs.tables, parts, weights=pairs.tables.sum(axis=(1, 2)), n=pairs.n)


def _estimate(tables: Floats, parts: Parts, *, weights: Floats, n: int) -> Estimate:
    tables, weights = tables[weights > 0], weights[weights > 0]
    missing = Estimate(np.nan, np.nan, np.nan, n, len(tables))
    if not len(tables):
        return missing
    with np.errstate(invalid="ignore", divide="ignore"):
        observed, expected = (float(part) for part in parts(tables.sum(axis=0)))
        if not expected > 0:
            return missing
        error = _Error.of(_deviations(tables, parts) * expected, weights, observed * (1 - observed))
        low, high = error.wilson(observed)
    return Estimate(1 - observed / expected, 1 - high / expected, 1 - low / expected, n, len(tables))


def _deviations(tables: Floats, parts: Parts) -> Floats:
    """Return jackknife deviations whose squares sum to the variance, shape (cases,)."""
    cases = len(tables)
    with np.errstate(invalid="ignore", divide="ignore"):
        observed, expected = parts(tables.sum(axis=0) - tables)
        values = 1 - observed / expected
        deviations: Floats = np.sqrt((cases - 1) / cases) * (values - values.mean())
    return deviations


@dataclass(frozen=True)
class _Error:
    """Standard error, NaN if unknown."""

    se: float
    t: float
    effective: float

    @classmethod
    def of(cls, deviations: Floats, weights: Floats, variance_of_a_pair: float) -> Self:
        """weights: of cases; degrees of freedom are those of their mean."""
        from scipy.special import stdtrit  # imported late: few processes need scipy

        cases = len(weights)
        like = clustered_means(np.zeros((1, cases)), weights, Clusters.from_codes(np.arange(cases)))
        if cases < 2:
            return cls(np.nan, np.nan, 1.0)
        # Two more average cases with independent pairs: a few cases that agree do not prove a small variance.
        extra = 2 * variance_of_a_pair / weights.sum()
        squared = (cases * np.vecdot(deviations, deviations) + extra) / (cases + 2)
        return cls(float(np.sqrt(squared)), float(stdtrit(like.df[0], _TAIL)), float(like.effective[0]))

    def wilson(self, share: float) -> tuple[float, float]:
        if np.isnan(self.se):
            return 0.0, 1.0
        from scipy.special import ndtri

        z = float(ndtri(_TAIL))
        size = share * (1 - share) / self.se**2 * (z / self.t) ** 2 if self.se > 0 else self.effective
        low, high = wilson(np.array([share]), np.array([max(size, 1.0)]), z)
        return float(low[0]), float(high[0])


def _index(pairs: Pairs, index: Callable[[Floats], Floats], *, lowest: float) -> Estimate:
    """Return an index with an interval of Student's t, cut at `lowest` and 1."""
    tables, weights = pairs.tables, pairs.tables.sum(axis=(1, 2))
    if not len(tables):
        return Estimate(np.nan, np.nan, np.nan, pairs.n, 0)
    value, ones = float(index(tables.sum(axis=0))), np.ones(len(tables))
    error = _Error.of(_deviations(tables, lambda each: (index(each), ones)), weights, 0.25)
    half = 1 - lowest if np.isnan(error.se) else error.t * error.se
    return Estimate(value, max(value - half, lowest), min(value + half, 1.0), pairs.n, len(tables))
