"""Comparisons of sources equal the pure functions on arrays whose agreement is known."""

import time
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from benchmarks.statistics.agreement import LEFT, RIGHT, TIE, Opinions, Scale, alpha, pairs_between, pairs_within
from benchmarks.statistics.calibration import MIN_CASES, MIN_OPINIONS, Judged, Labels, calibrated_board, cell_weights
from reviews.statistics.comparisons import (
    Comparisons,
    Corrected,
    People,
    Preferences,
    Shown,
    categories,
    compare,
    correct,
    disagreements,
    preferences_of_scores,
)

OUTCOME = np.array([1.0, 0.5, 0.0])


def shown_pairs(cases: int, entrants: int) -> Shown:
    pairs = np.array(list(combinations(range(entrants), 2)))
    first, second = np.tile(pairs, (cases, 1)).T
    case = np.repeat(np.arange(cases), len(pairs))
    key = (case * entrants + first) * entrants + second
    return Shown(key, first, second, case, cell=np.tile(np.arange(len(pairs)), cases))


def drawn_people(shown: Shown, opinions: int, people: int, seed: int = 7) -> People:
    draw = np.random.default_rng(seed)
    rows = draw.integers(len(shown.key), size=opinions)
    return People(shown.key[rows], draw.integers(people, size=opinions), draw.integers(3, size=opinions))


def drawn_judge(shown: Shown, seed: int = 8) -> Preferences:
    return Preferences(shown.key, np.random.default_rng(seed).choice(OUTCOME, size=len(shown.key)))


def test_judge_of_known_agreement_is_compared():
    shown = shown_pairs(12, 3)
    people = People(
        np.repeat(shown.key, 2), np.tile([0, 1], len(shown.key)), np.repeat(np.arange(len(shown.key)) % 3, 2)
    )
    always, never = (Preferences(shown.key, OUTCOME[(np.arange(len(shown.key)) + step) % 3]) for step in (0, 1))
    compared = compare(shown, people, [always, never])
    assert compared.people.raw.value == 1.0
    assert [each.agreement.raw.value for each in compared.with_people] == [1.0, 0.0]
    assert compared.with_people[0].above_people.value == 0.0
    assert compared.with_people[1].above_people.high < 0
    assert compared.with_people[1].agreement.confusion.tolist() == [[0, 0, 24], [24, 0, 0], [0, 24, 0]]
    assert list(compared.between) == [(0, 1)]
    assert compared.between[0, 1].raw.value == 0.0


def test_figures_equal_those_of_pairs_of_opinions():
    shown = shown_pairs(30, 4)
    people, judge = drawn_people(shown, 300, 9), drawn_judge(shown)
    compared = compare(shown, people, [judge])
    case = people.key // 16
    own = Opinions(people.key, people.person, people.category, case)
    of_judge = Opinions(judge.key, np.zeros_like(judge.key), categories(judge.outcome), judge.key // 16)
    for found, pairs in (
        (compared.people, pairs_within(own)),
        (compared.with_people[0].agreement, pairs_between(of_judge, own)),
    ):
        wanted = alpha(pairs, Scale.ORDINAL)
        for name in ("value", "low", "high", "n", "cases"):
            assert getattr(found.alpha, name) == pytest.approx(getattr(wanted, name), abs=1e-6)


def test_people_without_a_shared_pair_have_no_ceiling():
    shown = shown_pairs(12, 2)
    people = People(shown.key, np.zeros_like(shown.key), np.zeros_like(shown.key))
    nothing = Preferences(shown.key[:0], np.zeros(0))
    compared = compare(shown, people, [drawn_judge(shown), nothing])
    assert compared.people is None
    assert compared.with_people[0].above_people is None
    assert compared.with_people[1] is None
    no_people = People(shown.key[:0], shown.key[:0], shown.key[:0])
    assert compare(shown, no_people, [drawn_judge(shown)]) == Comparisons(None, [None], {})


def test_small_differences_of_scores_are_ties():
    shown = shown_pairs(5, 2)
    first, second = np.array([1.0, 0.5, 0.5, 0.2, np.nan]), np.array([0.0, 0.5, 0.45, 0.9, 1.0])
    outcomes = {
        relevant: preferences_of_scores(first, second, shown, relevant=relevant).outcome.tolist()
        for relevant in (None, 0.1)
    }
    assert outcomes == {None: [1.0, 0.5, 1.0, 0.0], 0.1: [1.0, 0.5, 0.5, 0.0]}


def test_board_equals_the_calibrated_board():
    shown = shown_pairs(40, 4)
    people, judge = drawn_people(shown, 120, 10), drawn_judge(shown)
    corrected = correct(judge, shown, people)
    item = np.searchsorted(shown.key, people.key)
    labels = Labels(item, OUTCOME[people.category], people.person, cell_weights(shown.cell, item))
    wanted = calibrated_board(Judged(shown.first, shown.second, judge.outcome, shown.case), labels, 4)
    assert corrected.entrants.tolist() == [0, 1, 2, 3]
    for name in ("judge", "people", "calibrated"):
        for found, expected in zip(getattr(corrected.board, name), getattr(wanted, name), strict=True):
            np.testing.assert_allclose(found, expected, atol=1e-6)
    np.testing.assert_allclose(corrected.board.worth, wanted.worth, atol=1e-6)


def board_of(judge: Preferences, shown: Shown, people: People) -> Corrected:
    corrected = correct(judge, shown, people)
    assert corrected is not None
    return corrected


def test_few_opinions_give_no_calibrated_score():
    shown = shown_pairs(40, 2)
    judge = drawn_judge(shown)
    keys, person = shown.key[:MIN_OPINIONS], np.arange(MIN_OPINIONS)
    enough = People(keys, person, np.arange(MIN_OPINIONS) % 3)
    fewer = People(keys[1:], person[1:], enough.category[1:])
    same_cases = replace(enough, key=np.resize(keys[: MIN_CASES - 1], MIN_OPINIONS))
    boards = [board_of(judge, shown, people).board for people in (enough, fewer, same_cases)]
    assert [board.calibrated is not None for board in boards] == [True, False, False]
    assert all(board.people is not None for board in boards)


def test_board_has_only_entrants_that_the_judge_read():
    shown = shown_pairs(20, 3)
    read = shown.second == 2  # pairs with the last entrant, as against a baseline
    read &= shown.first == 1
    judge = Preferences(shown.key[read], np.ones(int(read.sum())))
    corrected = board_of(judge, shown, drawn_people(shown, 200, 10))
    assert corrected.entrants.tolist() == [1, 2]
    assert corrected.board.opinions < 200
    assert correct(Preferences(shown.key[:0], np.zeros(0)), shown, drawn_people(shown, 20, 3)) is None


def test_disagreements_begin_with_the_widest():
    shown = shown_pairs(4, 2)
    judge = Preferences(shown.key, np.array([1.0, 1.0, 0.5, 0.0]))
    key = shown.key[[0, 0, 1, 2, 2, 3]]
    people = People(key, np.array([0, 1, 0, 0, 1, 0]), np.array([RIGHT, LEFT, RIGHT, LEFT, TIE, RIGHT]))
    rows = disagreements(judge, people)
    assert [(row.key, row.category, row.opinions) for row in rows] == [
        (int(shown.key[1]), LEFT, (0, 0, 1)), (int(shown.key[0]), LEFT, (1, 0, 1)), (int(shown.key[2]), TIE, (1, 1, 0)),
    ]  # fmt: skip
    assert [row.key for row in disagreements(judge, people, category=TIE)] == [int(shown.key[2])]
    assert [row.key for row in disagreements(judge, people, opinion=LEFT)] == [int(shown.key[0]), int(shown.key[2])]
    assert disagreements(judge, people, category=RIGHT) == []


def test_ten_entrants_are_compared_and_corrected_fast():
    shown = shown_pairs(89, 10)  # 4,005 pairs
    people, judge = drawn_people(shown, 400, 20), drawn_judge(shown)
    spent = []
    for _try in range(3):
        began = time.perf_counter()
        compare(shown, people, [judge])
        correct(judge, shown, people)
        spent.append(time.perf_counter() - began)
    assert min(spent) <= 0.3
