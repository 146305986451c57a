"""Calibrated estimates equal ppi-python, people's alone the leaderboard's, and their errors a jackknife of refits."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.statistics.calibration import (
    MIN_CASES,
    MIN_OPINIONS,
    Judged,
    Labels,
    calibrated_board,
    calibrated_mean,
    cell_weights,
    hansen_hurwitz,
)
from leaderboard.rating.bradley_terry import POINTS, Tally, fit_strengths
from tests.worlds.benchmarks.judged_boards import (
    BY_CHANCE,
    DESIGNS,
    BoardDesign,
    JudgeKind,
    board_coverage,
    judged_board,
)

# Simulated labels and predictions, with what ppi-python 0.2.3 computes from them: a comparison with the authors'
# implementation. No paper's table is computed again here.
PPI = json.loads((Path(__file__).parents[2] / "data/benchmarks/agreement.json").read_text())["ppi"]
JUDGE, LABELS = np.array(PPI["judge"]), np.array(PPI["labels"])
SMALL = BoardDesign(JudgeKind.GOOD, 200, 12, entrants=4, cases=30)


def independent_labels(weights=None):
    """Each item is a case, and each opinion a person's."""
    n = len(LABELS)
    return Labels(np.arange(n), LABELS, np.arange(n), np.ones(n) if weights is None else np.array(weights))


def of_lambda(rate):
    """Return ppi-python's λ: there, the judge's mean is of the unlabelled items only."""
    return rate * (len(JUDGE) - len(LABELS)) / len(JUDGE)


def test_mean_and_its_interval_equal_ppi():
    mean = calibrated_mean(JUDGE, np.arange(len(JUDGE)), independent_labels())
    assert mean.calibrated.value[0] == pytest.approx(PPI["estimate"], abs=0.005)  # λ is estimated otherwise
    low, high = PPI["interval"]
    width = mean.calibrated.high[0] - mean.calibrated.low[0]
    assert width == pytest.approx(high - low, rel=0.06)  # with Student's t, and Wilson's
    assert mean.rate > 0.3


def test_weighted_mean_equals_ppi_for_any_rate():
    labels = independent_labels(PPI["weights"])
    mean = calibrated_mean(JUDGE, np.arange(len(JUDGE)), labels)
    estimates = {float(rate): value for rate, value in PPI["weighted_estimates"].items()}
    # ppi-python's estimate is a line in λ.
    slope = (estimates[1.0] - estimates[0.0]) * of_lambda(1.0)
    assert mean.people.value[0] == pytest.approx(estimates[0.0], abs=1e-9)
    unlabelled = JUDGE[len(LABELS) :].mean()
    labelled = np.average(JUDGE[: len(LABELS)], weights=labels.weight)
    assert unlabelled - labelled == pytest.approx(estimates[1.0] - estimates[0.0], abs=1e-9)
    everywhere = (JUDGE.mean() - labelled) * mean.rate
    assert mean.calibrated.value[0] == pytest.approx(mean.people.value[0] + everywhere, abs=1e-9)
    assert np.sign(slope) == np.sign(everywhere)


def test_people_alone_equal_the_leaderboards_fit():
    judged, labels = judged_board(np.random.default_rng(5), SMALL)
    labels = replace(labels, weight=np.ones(len(labels.item)))
    won = np.zeros((4, 4))
    np.add.at(won, (judged.first[labels.item], judged.second[labels.item]), labels.outcome)
    np.add.at(won, (judged.second[labels.item], judged.first[labels.item]), 1 - labels.outcome)
    theta = fit_strengths(Tally.from_wins(won, np.zeros((4, 4))))
    board = calibrated_board(judged, labels, 4)
    np.testing.assert_allclose(board.people.value, POINTS * theta, atol=1e-6)


@pytest.mark.slow
def test_errors_equal_jackknife_of_refits():
    judged, labels = judged_board(np.random.default_rng(6), replace(SMALL, opinions=500, cases=60))
    board = calibrated_board(judged, labels, 4)
    variance = sum(
        sign * jackknife_variance(judged, labels, board.rate, codes)
        for sign, codes in (
            (1, (judged.case, judged.case[labels.item])),
            (1, (np.full(len(judged.case), -1), labels.person)),
            (-1, (np.full(len(judged.case), -1), judged.case[labels.item] * 100 + labels.person)),
        )
    )
    np.testing.assert_allclose(board.calibrated.se, np.sqrt(variance), rtol=0.08)


def jackknife_variance(judged, labels, rate, codes):
    """Refit without each cluster. codes: of items and of opinions."""
    of_items, of_opinions = codes
    estimates = []
    for cluster in np.unique(of_opinions):
        items, opinions = of_items != cluster, of_opinions != cluster
        people, labelled = (
            refit(judged, outcome, labels.item[opinions], labels.weight[opinions])
            for outcome in (labels.outcome[opinions], judged.outcome[labels.item[opinions]])
        )
        everywhere = refit(judged, judged.outcome[items], np.flatnonzero(items), np.ones(items.sum()))
        estimates.append(people + rate * (everywhere - labelled))
    estimates = np.array(estimates)
    number = len(estimates)
    return (number - 1) / number * ((estimates - estimates.mean(axis=0)) ** 2).sum(axis=0)


def refit(judged, outcome, item, weight):
    won = np.zeros((4, 4))
    np.add.at(won, (judged.first[item], judged.second[item]), outcome * weight)
    np.add.at(won, (judged.second[item], judged.first[item]), (1 - outcome) * weight)
    return POINTS * fit_strengths(Tally.from_wins(won, np.zeros((4, 4))))


def test_weights_undo_an_uneven_draw():
    cell, item = np.repeat([0, 1], [30, 10]), np.array([0, 1, 30, 31, 32, 33])
    weights = cell_weights(cell, item)
    assert weights.tolist() == pytest.approx([2.25, 2.25, 0.375, 0.375, 0.375, 0.375])
    assert weights[:2].sum() / weights.sum() == 0.75
    # The chance of an item: half of the draws fell on each cell.
    chance = np.array([0.5 / 30] * 2 + [0.5 / 10] * 4)
    assert hansen_hurwitz(chance, 40).tolist() == pytest.approx([1.5] * 2 + [0.5] * 4)


def test_order_of_entrants_and_sides_changes_nothing():
    judged, labels = judged_board(np.random.default_rng(7), SMALL)
    names = np.array([2, 0, 3, 1])
    swapped = Judged(names[judged.second], names[judged.first], 1 - judged.outcome, judged.case)
    before = calibrated_board(judged, labels, 4)
    after = calibrated_board(swapped, replace(labels, outcome=1 - labels.outcome), 4)
    for name in ("people", "judge", "calibrated"):
        for first, second in zip(getattr(before, name), getattr(after, name), strict=True):
            np.testing.assert_allclose(first, second[names], atol=1e-6)


@pytest.mark.parametrize(("opinions", "cases"), [(MIN_OPINIONS - 1, 30), (200, MIN_CASES - 1)])
def test_few_opinions_or_cases_show_people_only(opinions, cases):
    judged, labels = judged_board(np.random.default_rng(8), replace(SMALL, opinions=opinions, cases=cases))
    board = calibrated_board(judged, labels, 4)
    assert board.calibrated is None
    assert (board.people.low < board.people.high).all()


def test_no_opinions_show_the_judge_only():
    judged, _ = judged_board(np.random.default_rng(9), SMALL)
    nothing = Labels(np.zeros(0, dtype=int), np.zeros(0), np.zeros(0, dtype=int), np.zeros(0))
    board = calibrated_board(judged, nothing, 4)
    assert (board.people, board.calibrated, board.opinions) == (None, None, 0)
    assert (board.judge.low < board.judge.high).all()
    assert calibrated_mean(judged.outcome, judged.case, nothing).people is None


def test_useless_judge_is_not_listened_to():
    judged, labels = judged_board(np.random.default_rng(10), replace(SMALL, judge=JudgeKind.USELESS))
    board = calibrated_board(judged, labels, 4)
    assert board.rate < 0.25
    np.testing.assert_allclose(board.calibrated.se, board.people.se, rtol=0.06)


def test_judge_who_knows_all_opinions_is_worth_many():
    judged, labels = judged_board(np.random.default_rng(11), replace(SMALL, cases=200))
    outcome = judged.outcome.copy()
    outcome[labels.item] = labels.outcome
    board = calibrated_board(replace(judged, outcome=outcome), labels, 4)
    assert board.rate > 0.6
    assert (board.worth > 100).all()


@pytest.mark.slow
def test_odd_opinions_give_finite_intervals():
    rng = np.random.default_rng(12)
    for _ in range(150):
        entrants, cases, n = rng.integers(2, 5), rng.integers(1, 15), rng.integers(1, 60)
        first, second = np.array(np.triu_indices(entrants, 1)).repeat(cases, axis=1)
        verdicts = rng.choice([0.0, 0.5, 1.0], len(first), p=rng.dirichlet([0.3] * 3))
        judged = Judged(first, second, verdicts, np.arange(len(first)) % cases)
        item = rng.integers(0, len(first), n)
        outcome = rng.choice([0.0, 0.5, 1.0], n, p=rng.dirichlet([0.3] * 3))
        labels = Labels(item, outcome, rng.integers(0, rng.integers(1, 9), n), rng.uniform(0.1, 3, n))
        for result in (calibrated_board(judged, labels, entrants), calibrated_mean(verdicts, judged.case, labels)):
            assert 0 <= result.rate <= 1
            assert np.isfinite(result.worth).all()
            for scores in (result.people, result.judge, result.calibrated):
                if scores is not None:
                    assert np.isfinite([scores.value, scores.low, scores.high]).all()
                    assert (scores.high - scores.low > 1e-6).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    "design",
    [replace(DESIGNS[0], judge=kind) for kind in JudgeKind] + [DESIGNS[-1], BY_CHANCE],
    ids=lambda one: one.name,
)
def test_calibrated_boards_cover_truth(design):
    found = board_coverage(design, repetitions=25, seed=3)
    assert np.mean(found.held["calibrated"]) >= 0.9
    assert np.mean(found.means["calibrated"]) >= 0.8
    assert found.width_ratio <= 1.02
