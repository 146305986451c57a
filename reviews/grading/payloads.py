"""Payloads of grades: an allow-list."""

from typing import cast

from benchmarks.judges.payloads import IntervalPayload
from benchmarks.statistics.agreement import Estimate
from benchmarks.statistics.payload import Interval, number
from reviews.grading.results import GradeResults
from reviews.grading.showing import ShownAnswer
from reviews.models import Review
from reviews.payload_types import AnswerToGradePayload, AsksFor, GradeAgreementPayload, GradesPayload
from reviews.statistics.grades import GradeAgreement


def answer_to_grade_payload(review: Review, shown: ShownAnswer) -> AnswerToGradePayload:
    first = "\n\n".join(message.content for message in shown.messages)
    return {
        "answer": shown.number,
        "values": review.grades_taken,
        "prompts": [first, *(reply.question for reply in shown.replies[1:])],
        "answers": [reply.text for reply in shown.replies],
        "files": [file.name for file in shown.files],
        "expected": shown.expected,
    }


def grades_payload(review: Review, results: GradeResults) -> GradesPayload:
    return {
        "asks_for": cast(AsksFor, review.asks_for),
        "entrants": [
            {
                "name": line.name,
                "mean": _interval(line.mean),
                "answers": line.figures.answers,
                "grades": line.figures.grades,
                "cases": line.figures.cases,
            }
            for line in results.lines
        ],
        "people": _agreement(results.people),
        "checks": _agreement(results.checks),
        "judges": [
            {
                "judge": judge.public_id,
                "name": judge.name,
                "number": judge.number,
                "agreement": _agreement(agreement),
            }
            for judge, agreement in results.judges
        ],
    }


def _agreement(figures: GradeAgreement | None) -> GradeAgreementPayload | None:
    if figures is None:
        return None
    return {
        "opinions": figures.raw.n,
        "cases": figures.raw.cases,
        "raw": _interval(figures.raw),
        "alpha": _interval(figures.alpha),
    }


def _interval(estimate: Estimate | Interval) -> IntervalPayload:
    value, low, high = (
        None if each is None else number(each) for each in (estimate.value, estimate.low, estimate.high)
    )
    return {"value": value, "low": low, "high": high}
