from typing import Literal, TypedDict

from benchmarks.judges.payloads import IntervalPayload


class AgreementPayload(TypedDict):
    """Agreement of two sources. opinions: pairs of them. alpha: Krippendorff's, ordinal.

    confusion: numbers by category of the first source, and of the second; the first answer is better, tie, the second.
    """

    opinions: int
    cases: int
    raw: IntervalPayload
    without_ties: IntervalPayload
    kappa: IntervalPayload
    linear_kappa: IntervalPayload
    alpha: IntervalPayload
    prevalence: IntervalPayload
    bias: IntervalPayload
    confusion: list[list[int]]


class WithPeoplePayload(TypedDict):
    """agreement: null without a common pair. above_people: alpha less that of people with each other."""

    agreement: AgreementPayload | None
    above_people: IntervalPayload | None


class CalibratedLinePayload(TypedDict):
    """checks: mean score. The others are points; calibrated: null from too few opinions. worth: votes saved."""

    entrant: int
    name: str
    checks: IntervalPayload | None
    judge: IntervalPayload
    people: IntervalPayload | None
    calibrated: IntervalPayload | None
    worth: float


class CalibratedBoardPayload(TypedDict):
    """opinions, people, cases: on pairs that the judge read. rate: the part of the judge's that is taken, 0 to 1."""

    opinions: int
    people: int
    cases: int
    rate: float
    lines: list[CalibratedLinePayload]


class JudgeWithPeoplePayload(WithPeoplePayload):
    """no_board: why there is none. The judge read only a part, the plan depends on votes, or nothing was read."""

    judge: str
    name: str
    number: int
    board: CalibratedBoardPayload | None
    no_board: Literal["", "adaptive", "partial", "nothing"]


class BetweenJudgesPayload(TypedDict):
    first: str
    second: str
    agreement: AgreementPayload


class ReviewAgreementPayload(TypedDict):
    """people: with each other, null where no two saw the same pair, or without the run. judges: the latest first."""

    id: str
    pairs: int
    opinions: int
    people: AgreementPayload | None
    checks: WithPeoplePayload
    judges: list[JudgeWithPeoplePayload]
    between_judges: list[BetweenJudgesPayload]
