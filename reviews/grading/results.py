"""Results of grades."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.judges.results import judges_of, read_verdicts
from benchmarks.models import Judge, Run
from benchmarks.statistics.clusters import Floats, Indices
from benchmarks.statistics.payload import Interval
from reviews.models import GradedAnswer, Review, ReviewGrade
from reviews.statistics.grades import (
    EntrantGrades,
    GradeAgreement,
    Grades,
    agreement_of_people,
    agreement_with,
    entrant_grades,
)

# Judges of a run that are compared, the latest first.
MAX_JUDGES = 5


@dataclass(frozen=True)
class GradedLine:
    """mean: a share of correct answers, or stars."""

    name: str
    figures: EntrantGrades
    mean: Interval


@dataclass(frozen=True)
class GradeResults:
    """checks, judges: agreement with people's grades, None without a common answer."""

    lines: list[GradedLine]
    people: GradeAgreement | None
    checks: GradeAgreement | None
    judges: list[tuple[Judge, GradeAgreement | None]]


@dataclass(frozen=True)
class _Answers:
    """pk: ascending. unit: as in Verdicts, −1 after the run's deletion."""

    pk: Indices
    unit: Indices
    entrant: Indices
    score: Floats


def read_grade_results(review: Review) -> GradeResults:
    """Call this only where the results are shown."""
    repeats = 1 if review.run is None else review.run.repeats
    stored = GradedAnswer.objects.filter(review=review).order_by("pk")
    rows = list(stored.values_list("pk", "entrant", "name", "cluster", "item__case", "item__repeat", "item__score"))
    answers = _Answers(
        pk=_whole([row[0] for row in rows]),
        unit=_whole([-1 if case is None else case * repeats + repeat for *_, case, repeat, _score in rows]),
        entrant=_whole([row[1] for row in rows]),
        score=np.array([np.nan if row[-1] is None else row[-1] for row in rows], dtype=np.float64),
    )
    grades = _read_grades(review, answers, _whole([row[3] for row in rows]))
    names = {row[1]: row[2] for row in rows}
    return GradeResults(
        lines=[GradedLine(names[each.entrant], each, _displayed(each.mean, review)) for each in entrant_grades(grades)],
        people=agreement_of_people(grades),
        checks=agreement_with(grades, answers.pk, answers.score),
        judges=[] if review.run is None else _judges(review.run, answers, grades),
    )


def _read_grades(review: Review, answers: _Answers, clusters: Indices) -> Grades:
    counted = ReviewGrade.objects.filter(review=review, value__isnull=False, excluded_reason="").order_by("pk")
    rows = list(counted.values_list("answer", "person", "value"))
    people = {person: number for number, person in enumerate(sorted({person for _answer, person, _value in rows}))}
    answer = _whole([row[0] for row in rows])
    places = np.searchsorted(answers.pk, answer)
    lowest = review.grades_taken[0]
    return Grades(
        answer=answer, entrant=answers.entrant[places], cluster=clusters[places],
        person=_whole([people[row[1]] for row in rows]),
        place=_whole([(value or 0) - lowest for _answer, _person, value in rows]),
        places=len(review.grades_taken),
    )  # fmt: skip


def _judges(run: Run, answers: _Answers, grades: Grades) -> list[tuple[Judge, GradeAgreement | None]]:
    judges = [judge for judge in judges_of(run) if judge.kind != Judge.Kind.PAIRWISE][:MAX_JUDGES]
    by_unit = dict(zip(zip(answers.unit.tolist(), answers.entrant.tolist(), strict=True), answers.pk, strict=True))
    found = []
    for each in read_verdicts(run, judges):
        verdicts = each.verdicts
        scores = {
            by_unit[key]: value
            for key, value in zip(
                zip(verdicts.unit.tolist(), verdicts.first.tolist(), strict=True), verdicts.value.tolist(), strict=True
            )
            if key in by_unit
        }
        ids = sorted(scores)
        values = np.array([scores[pk] for pk in ids], dtype=np.float64)
        found.append((each.judge, agreement_with(grades, _whole(ids), values)))
    return found


def _displayed(mean: Interval, review: Review) -> Interval:
    if review.asks_for == Review.AsksFor.PASS:
        return mean
    lowest, *_, highest = review.grades_taken
    value, low, high = (
        None if each is None else lowest + each * (highest - lowest) for each in (mean.value, mean.low, mean.high)
    )
    return Interval(value, low, high)


def _whole(numbers: Sequence[int]) -> Indices:
    return np.array(numbers, dtype=np.int64)
