"""Payloads of agreement: an allow-list."""

from benchmarks.judges.payloads import IntervalPayload
from benchmarks.statistics.agreement import Agreement, Estimate
from benchmarks.statistics.payload import Interval, number
from reviews.agreement.payload_types import (
    AgreementPayload,
    CalibratedBoardPayload,
    ReviewAgreementPayload,
    WithPeoplePayload,
)
from reviews.agreement.results import CalibratedBoard, ReviewAgreement
from reviews.models import Review
from reviews.statistics.comparisons import Comparison


def agreement_payload(figures: Agreement) -> AgreementPayload:
    return {
        "opinions": figures.raw.n,
        "cases": figures.raw.cases,
        "raw": estimate_payload(figures.raw),
        "without_ties": estimate_payload(figures.without_ties),
        "kappa": estimate_payload(figures.kappa),
        "linear_kappa": estimate_payload(figures.linear_kappa),
        "alpha": estimate_payload(figures.alpha),
        "prevalence": estimate_payload(figures.prevalence),
        "bias": estimate_payload(figures.bias),
        "confusion": [[round(n) for n in row] for row in figures.confusion.tolist()],
    }


def estimate_payload(estimate: Estimate | Interval) -> IntervalPayload:
    value, low, high = (
        None if each is None else number(each) for each in (estimate.value, estimate.low, estimate.high)
    )
    return {"value": value, "low": low, "high": high}


def with_people_payload(comparison: Comparison | None) -> WithPeoplePayload:
    if comparison is None:
        return {"agreement": None, "above_people": None}
    above = comparison.above_people
    return {
        "agreement": agreement_payload(comparison.agreement),
        "above_people": None if above is None else estimate_payload(above),
    }


def review_agreement_payload(review: Review, figures: ReviewAgreement) -> ReviewAgreementPayload:
    return {
        "id": review.public_id,
        "pairs": figures.pairs,
        "opinions": figures.opinions,
        "people": None if figures.people is None else agreement_payload(figures.people),
        "checks": with_people_payload(figures.checks),
        "judges": [
            {
                "judge": each.judge.public_id,
                "name": each.judge.name,
                "number": each.judge.number,
                **with_people_payload(each.comparison),
                "board": None if each.board is None else _board_payload(each.board),
                "no_board": each.no_board,
            }
            for each in figures.judges
        ],
        "between_judges": [
            {"first": first.public_id, "second": second.public_id, "agreement": agreement_payload(agreement)}
            for first, second, agreement in figures.between_judges
        ],
    }


def _board_payload(board: CalibratedBoard) -> CalibratedBoardPayload:
    return {
        "opinions": board.opinions,
        "people": board.people,
        "cases": board.cases,
        "rate": board.rate,
        "lines": [
            {
                "entrant": line.entrant.pk,
                "name": str(line.entrant),
                "checks": _known(line.checks),
                "judge": estimate_payload(line.judge),
                "people": _known(line.people),
                "calibrated": _known(line.calibrated),
                "worth": line.worth,
            }
            for line in board.lines
        ],
    }


def _known(interval: Interval | None) -> IntervalPayload | None:
    return None if interval is None else estimate_payload(interval)
