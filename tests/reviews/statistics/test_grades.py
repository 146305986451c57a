"""Means of entrants and agreement on grades."""

import numpy as np
import pytest

from reviews.statistics.grades import Grades, agreement_of_people, agreement_with, entrant_grades


def grades(rows: list[tuple[int, int, int, int, int]], places: int = 2) -> Grades:
    """rows: answer, entrant, cluster, person, place."""
    columns = np.array(rows, dtype=np.int64).reshape(-1, 5).T
    return Grades(*columns, places=places)


def test_each_answer_weighs_the_same():
    given = grades([(1, 0, 0, 0, 1), (1, 0, 0, 1, 1), (1, 0, 0, 2, 1), (2, 0, 1, 0, 0), (3, 1, 0, 0, 1)])
    first, second = entrant_grades(given)
    assert (first.entrant, first.mean.value, first.answers, first.grades, first.cases) == (1, 1.0, 1, 1, 1)
    assert (second.entrant, second.mean.value, second.answers, second.grades, second.cases) == (0, 0.5, 2, 4, 2)
    assert all(each.mean.low < each.mean.value or each.mean.value < each.mean.high for each in (first, second))


def test_stars_are_between_the_lowest_and_the_highest():
    given = grades([(n, 0, n, 0, n % 5) for n in range(20)], places=5)
    [line] = entrant_grades(given)
    assert line.mean.value == pytest.approx(0.5)
    assert line.mean.low < 0.5 < line.mean.high


def test_people_agree_on_common_answers():
    same = [(n, 0, n, person, n % 2) for n in range(10) for person in range(2)]
    agreement = agreement_of_people(grades([*same, (11, 0, 11, 0, 1)]))
    assert (agreement.raw.value, agreement.raw.n, agreement.alpha.value) == (1.0, 10, 1.0)
    assert agreement_of_people(grades([(1, 0, 1, 0, 1)])) is None
    assert agreement_of_people(grades([])) is None


def test_scores_are_rounded_to_the_nearest_grade():
    given = grades([(n, 0, n, 0, n) for n in range(5)], places=5)
    scores = np.array([0.1, 0.25, 0.49, 0.9, np.nan, 1.0])
    agreement = agreement_with(given, np.array([0, 1, 2, 3, 4, 9]), scores)
    assert (agreement.raw.n, agreement.raw.value) == (4, 0.75)  # 0.9 is the highest grade, not the fourth
    assert agreement_with(given, np.array([9]), np.array([1.0])) is None


def test_no_grades_have_no_means():
    assert entrant_grades(grades([])) == []
