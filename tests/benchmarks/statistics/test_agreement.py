"""Agreement equals published examples, inspect-ai and statsmodels, and a count of all pairs by hand."""

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy.special import stdtrit

from benchmarks.statistics.agreement import (
    LEFT,
    RIGHT,
    TIE,
    Opinions,
    Scale,
    agreement,
    alpha,
    alpha_difference,
    bias_index,
    cohen_kappa,
    fleiss_kappa,
    own_repeats,
    pairs_between,
    pairs_within,
    prevalence_index,
    raw_agreement,
)
from benchmarks.statistics.means import wilson
from tests.worlds.benchmarks.agreement import DESIGNS, AgreementDesign, agreement_coverage, agreement_opinions

REFERENCE = json.loads((Path(__file__).parents[2] / "data/benchmarks/agreement.json").read_text())
RATINGS, CASES = np.array(REFERENCE["ratings"]), np.array(REFERENCE["case"])
TOLERANCE = 1e-9
# Four observers of twelve units; 0: no opinion. Source: Krippendorff (2004), Content Analysis, chapter 11.
KRIPPENDORFF = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
    [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
]
# How many of 14 raters chose each of five categories for each of ten subjects: a textbook example of Fleiss's κ.
FOURTEEN_RATERS = [
    [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
]  # fmt: skip
# Six psychiatrists' diagnoses of thirty patients. Source: Fleiss (1971), table 1.
DIAGNOSES = """
444444 222555 233335 555555 222444 113333 333355 113334 114444 555555 144444 124444 222333 144444 224445
333335 111455 111112 224444 133555 555555 244444 224555 114444 144445 222224 111155 224444 133333 555555
"""


def opinions_of(ratings, cases=None):
    """ratings: shape (units, raters), below 0 where absent."""
    unit, rater = np.nonzero(np.asarray(ratings) >= 0)
    case = np.arange(len(ratings)) if cases is None else np.asarray(cases)
    return Opinions(unit, rater, np.asarray(ratings)[unit, rater], case[unit])


def opinions_of_counts(counts):
    rows = [np.repeat(np.arange(len(row)), row) for row in counts]
    return opinions_of(np.array(rows))


def pairs_of_table(table):
    """Return pairs of two raters, each a case of its own."""
    first, second = np.repeat(np.array([(i, j) for i in range(len(table)) for j in range(len(table))]),
                              np.ravel(table), axis=0).T  # fmt: skip
    return pairs_between(opinions_of(first[:, None]), opinions_of(second[:, None]), len(table))


@pytest.mark.parametrize(("scale", "value"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_alpha_equals_krippendorffs_example(scale, value):
    pairs = pairs_within(opinions_of(np.transpose(KRIPPENDORFF) - 1), 5)
    found = alpha(pairs, Scale(scale))
    assert round(found.value, 3) == value
    assert (found.n, found.cases) == (55, 11)  # the last unit has one opinion


def test_fleiss_kappa_equals_textbook_example():
    assert fleiss_kappa(opinions_of_counts(FOURTEEN_RATERS), 5).value == pytest.approx(0.2099, abs=5e-5)


def test_fleiss_kappa_equals_published_diagnoses():
    diagnoses = np.array([[int(digit) - 1 for digit in word] for word in DIAGNOSES.split()])
    assert fleiss_kappa(opinions_of(diagnoses), 5).value == pytest.approx(0.430, abs=5e-4)


@pytest.mark.parametrize(
    ("table", "kappa", "prevalence"), [([[40, 9], [6, 45]], 0.70, 0.05), ([[80, 10], [5, 5]], 0.32, 0.75)]
)
def test_kappas_paradox_shows_in_prevalence(table, kappa, prevalence):
    # Feinstein, Cicchetti (1990): the same raw agreement, and κ halved by prevalence.
    pairs = pairs_of_table(table)
    assert raw_agreement(pairs).value == pytest.approx(0.85)
    assert round(cohen_kappa(pairs).value, 2) == kappa
    assert prevalence_index(pairs).value == pytest.approx(prevalence)
    # Byrt, Bishop, Carlin (1993): (b − c) / n; the second category is the higher one.
    assert bias_index(pairs).value == pytest.approx((table[1][0] - table[0][1]) / 100)


@pytest.mark.parametrize("scale", Scale)
def test_alpha_and_its_interval_equal_inspect(scale):
    pairs = pairs_within(opinions_of(RATINGS, CASES), 4)
    found = alpha(pairs, scale)
    assert found.value == pytest.approx(REFERENCE["inspect_alpha"][scale], abs=TOLERANCE)
    left_out = np.array(REFERENCE["inspect_alpha_without_case"][scale])
    jackknife = 14 / 15 * ((left_out - left_out.mean()) ** 2).sum()
    assert (found.low, found.high) == pytest.approx(interval_by_hand(pairs, scale, jackknife), abs=TOLERANCE)


def interval_by_hand(pairs, scale, jackknife):
    """Return Wilson's interval of the disagreement, transformed to α."""
    [observed, expected] = disagreements_by_hand(scale)
    weight = pairs.tables.sum(axis=(1, 2))
    extra = 2 * observed * (1 - observed) / weight.sum()
    squared = (len(weight) * jackknife * expected**2 + extra) / (len(weight) + 2)
    share = weight / weight.sum()
    centring = np.diag(share) @ (np.eye(len(share)) - np.outer(np.ones(len(share)), share))
    covariance = centring @ centring.T
    df = np.trace(covariance) ** 2 / np.trace(covariance @ covariance)
    size = observed * (1 - observed) / squared * (1.959963984540054 / stdtrit(df, 0.975)) ** 2
    low, high = wilson(np.array([observed]), np.array([size]), 1.959963984540054)
    return 1 - float(high[0]) / expected, 1 - float(low[0]) / expected


def disagreements_by_hand(scale):
    """Return D and E of all pairs within units, and of all pairs."""
    units = [[value for value in row if value >= 0] for row in RATINGS.tolist()]
    units = [unit for unit in units if len(unit) > 1]
    values = [value for unit in units for value in unit]
    count = [values.count(value) for value in range(4)]

    def distance(a, b):
        low, high = min(a, b), max(a, b)
        between = sum(count[low : high + 1]) - (count[low] + count[high]) / 2
        squares = {"nominal": float(a != b), "interval": (a - b) ** 2 / 9, "ordinal": float(a != b) * between**2}
        return squares[scale]

    whole = (sum(count) - (count[0] + count[3]) / 2) ** 2 if scale == "ordinal" else 1
    observed = sum(sum(distance(a, b) for a, b in combinations(unit, 2)) * 2 / (len(unit) - 1) for unit in units)
    expected = sum(distance(a, b) for a, b in combinations(values, 2)) * 2 / (len(values) - 1)
    return observed / len(values) / whole, expected / len(values) / whole


def test_kappas_equal_statsmodels():
    first, second = (opinions_of(RATINGS[:, [rater]]) for rater in (0, 1))
    pairs = pairs_between(first, second, 4)
    assert cohen_kappa(pairs).value == pytest.approx(REFERENCE["statsmodels_cohen"], abs=TOLERANCE)
    linear = cohen_kappa(pairs, is_linear=True)
    assert linear.value == pytest.approx(REFERENCE["statsmodels_cohen_linear"], abs=TOLERANCE)
    whole = RATINGS[(RATINGS >= 0).all(axis=1)]
    assert fleiss_kappa(opinions_of(whole), 4).value == pytest.approx(REFERENCE["statsmodels_fleiss"], abs=TOLERANCE)


def test_each_person_is_paired_with_the_judge():
    judge = opinions_of([[LEFT], [TIE], [RIGHT]])
    people = opinions_of([[LEFT, RIGHT], [RIGHT, -1], [RIGHT, RIGHT]])
    found = agreement(pairs_between(judge, people))
    assert found.confusion.tolist() == [[1, 0, 1], [0, 0, 1], [0, 0, 2]]
    assert (found.raw.value, found.raw.n, found.raw.cases) == (3 / 5, 5, 3)
    assert (found.without_ties.value, found.without_ties.n) == (3 / 4, 4)
    assert found.bias.value == pytest.approx(-(1 + 0.5) / 5)


def test_first_opinion_of_a_rater_counts():
    twice = Opinions(np.array([0, 0, 0]), np.array([7, 7, 8]), np.array([LEFT, RIGHT, LEFT]), np.zeros(3, dtype=int))
    assert pairs_within(twice).confusion.tolist() == [[1, 0, 0], [0, 0, 0], [0, 0, 0]]


def test_repeats_give_self_consistency():
    shown = Opinions(np.array([0, 0, 0, 1, 1]), np.array([7, 7, 8, 7, 7]), np.array([0, 2, 2, 1, 1]), np.arange(5))
    pairs = pairs_within(own_repeats(shown))
    assert pairs.n == 2
    assert raw_agreement(pairs).value == 0.5


def test_renaming_cases_and_units_changes_nothing():
    judge, people = agreement_opinions(4, AgreementDesign(20))
    shuffled = np.random.default_rng(4).permutation(len(people.unit))
    renamed = Opinions(*(getattr(people, name)[shuffled] for name in ("unit", "rater", "category", "case")))
    renamed = Opinions(100 - renamed.unit, renamed.rater, renamed.category, 500 - renamed.case)
    other_judge = Opinions(100 - judge.unit, judge.rater, judge.category, 500 - judge.case)
    before, after = agreement(pairs_between(judge, people)), agreement(pairs_between(other_judge, renamed))
    for name in ("raw", "without_ties", "kappa", "linear_kappa", "alpha", "prevalence", "bias"):
        first, second = getattr(before, name), getattr(after, name)
        assert (first.value, first.low, first.high) == pytest.approx((second.value, second.low, second.high))


@pytest.mark.parametrize("cases", [1, 2, 10, 200])
def test_full_agreement_has_wide_enough_interval(cases):
    same = opinions_of(np.repeat(np.arange(cases) % 3, 2).reshape(cases, 2))
    figures = [raw_agreement(pairs_within(same)), fleiss_kappa(same)]
    figures += [alpha(pairs_within(same), scale) for scale in Scale]
    for figure in figures:
        if not np.isnan(figure.value):
            assert figure.value == figure.high == 1
            assert figure.low <= 1 - 3.84 / (cases + 3.85)
    difference = alpha_difference(pairs_within(same), pairs_within(same), Scale.ORDINAL)
    assert cases < 2 or difference.low < 0 < difference.high


def test_coefficients_of_equal_opinions_are_undefined():
    ties = pairs_within(opinions_of(np.full((20, 2), TIE)))
    assert raw_agreement(ties).value == 1
    assert np.isnan([alpha(ties, Scale.ORDINAL).value, cohen_kappa(ties).value, alpha(ties, Scale.ORDINAL).low]).all()
    assert np.isnan(raw_agreement(ties.without(TIE)).value)


def test_no_opinions_are_no_error():
    nothing = opinions_of(np.empty((0, 2), dtype=int))
    found = agreement(pairs_between(nothing, nothing))
    assert (found.raw.n, found.raw.cases) == (0, 0)
    assert np.isnan([found.raw.value, found.alpha.value, found.bias.value]).all()
    assert np.isnan(fleiss_kappa(nothing).value)
    assert np.isnan(alpha_difference(pairs_within(nothing), pairs_within(nothing), Scale.ORDINAL).value)


def test_intervals_of_random_opinions_hold_their_values():
    rng = np.random.default_rng(11)
    for _ in range(300):
        units, raters = rng.integers(1, 8), rng.integers(1, 5)
        ratings = rng.choice([-1, LEFT, TIE, RIGHT], (units, raters), p=rng.dirichlet(np.ones(4)))
        people = opinions_of(ratings, rng.integers(0, 4, units))
        judge = opinions_of(rng.integers(0, 3, (units, 1)), rng.integers(0, 4, units))
        pairs = pairs_between(judge, people), pairs_within(people)
        found = [vars(agreement(each)) for each in pairs]
        figures = [figure for each in found for name, figure in each.items() if name != "confusion"]
        figures += [fleiss_kappa(people), alpha_difference(*pairs, Scale.ORDINAL)]
        for figure in figures:
            if np.isnan(figure.value):
                assert np.isnan([figure.low, figure.high]).all()
            else:
                assert figure.low <= figure.value + 1e-12
                assert figure.high >= figure.value - 1e-12
                assert figure.high - figure.low > 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.name)
def test_intervals_of_agreement_cover_truth(design):
    held = agreement_coverage(design, repetitions=60, seed=3)
    low = 0.78 if design.lopsided else 0.85
    assert {name: bool(np.mean(values) >= low) for name, values in held.items()} == dict.fromkeys(held, True)
