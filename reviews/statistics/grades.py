"""Means of people's grades, and agreement on them. No Django."""

from dataclasses import dataclass

import numpy as np

from benchmarks.statistics.agreement import (
    Estimate,
    Opinions,
    Pairs,
    Scale,
    alpha,
    pairs_between,
    pairs_within,
    raw_agreement,
)
from benchmarks.statistics.clusters import Clusters, Floats, Indices, clustered_means
from benchmarks.statistics.means import unit_interval
from benchmarks.statistics.payload import Interval, number


@dataclass(frozen=True)
class Grades:
    """Grades that count; arrays of shape (grades,).

    place: 0 for the lowest grade, up to `places` − 1. cluster: of the answer's case.
    """

    answer: Indices
    entrant: Indices
    cluster: Indices
    person: Indices
    place: Indices
    places: int


@dataclass(frozen=True)
class EntrantGrades:
    """mean: of answers, from 0 for the lowest grade to 1; each answer weighs the same."""

    entrant: int
    answers: int
    grades: int
    cases: int
    mean: Interval


@dataclass(frozen=True)
class GradeAgreement:
    """raw: how often two grades are the same. alpha: Krippendorff's, ordinal."""

    raw: Estimate
    alpha: Estimate


def entrant_grades(grades: Grades) -> list[EntrantGrades]:
    """Return figures of entrants with grades, those with the highest mean first."""
    figures = [_of_entrant(grades, entrant) for entrant in np.unique(grades.entrant).tolist()]
    return sorted(figures, key=lambda each: (-(each.mean.value or 0.0), each.entrant))


def _of_entrant(grades: Grades, entrant: int) -> EntrantGrades:
    rows = grades.entrant == entrant
    answers, first, inverse = np.unique(grades.answer[rows], return_index=True, return_inverse=True)
    given = np.bincount(inverse)
    values = np.bincount(inverse, weights=grades.place[rows]) / given / (grades.places - 1)
    clusters = grades.cluster[rows][first]
    means = clustered_means(values[None], np.ones(len(answers)), Clusters.from_codes(clusters))
    is_binary = grades.places == 2 and bool((given == 1).all())
    low, high = unit_interval(means, np.array([float(len(answers))]), is_binary=is_binary)
    return EntrantGrades(
        entrant, len(answers), int(rows.sum()), len(np.unique(clusters)),
        Interval(number(means.mean[0]), number(low[0]), number(high[0])),
    )  # fmt: skip


def agreement_of_people(grades: Grades) -> GradeAgreement | None:
    """Return None where no answer has grades of two people."""
    return _agreement(pairs_within(_opinions(grades), grades.places)) if len(grades.answer) else None


def agreement_with(grades: Grades, answer: Indices, score: Floats) -> GradeAgreement | None:
    """Compare scores in [0, 1], rounded to the nearest grade, with people's. Return None without a common answer.

    answer: ascending.
    """
    is_graded = np.isin(answer, grades.answer) & ~np.isnan(score)
    answer, score = answer[is_graded], score[is_graded]
    if not len(answer):
        return None
    of_answer = dict(zip(grades.answer.tolist(), grades.cluster.tolist(), strict=True))
    scored = Opinions(
        unit=answer,
        rater=np.zeros(len(answer), dtype=np.int64),
        category=np.floor(np.clip(score, 0, 1) * (grades.places - 1) + 0.5).astype(np.int64),
        case=np.array([of_answer[each] for each in answer.tolist()], dtype=np.int64),
    )
    return _agreement(pairs_between(scored, _opinions(grades), grades.places))


def _opinions(grades: Grades) -> Opinions:
    return Opinions(grades.answer, grades.person, grades.place, grades.cluster)


def _agreement(pairs: Pairs) -> GradeAgreement | None:
    return GradeAgreement(raw_agreement(pairs), alpha(pairs, Scale.ORDINAL)) if pairs.n else None
