from datetime import datetime
from typing import Literal, NotRequired, TypedDict

from battles.payload_types import VotedModelPayload
from benchmarks.judges.payloads import IntervalPayload
from leaderboard.payload_types import ResultPayload

ReviewState = Literal["draft", "open", "closed", "withdrawn"]
Audience = Literal["owner", "team", "members", "everyone", "link", "codes"]
AsksFor = Literal["pairs", "pass", "stars"]
Plan = Literal["all", "regular", "adaptive"]
Ending = Literal["owner", "deadline", "quota", "decided"]
Decision = Literal["better", "worse", "equal", "not_decided"]


class QuestionPayload(TypedDict):
    """steps: names of the answers, numbered from 1. compares: they lead from answer A to answer B."""

    text: str
    steps: list[str]
    compares: bool


class PairAnswersPayload(TypedDict):
    """counts: of the steps; of a question that compares, as seen with the first model as answer A."""

    first_model: VotedModelPayload
    second_model: VotedModelPayload
    counts: list[int]


class ModelMeanPayload(TypedDict):
    """mean: of steps; of a question that compares from -1 (toward the other answer) to 1 (toward the model's)."""

    model: VotedModelPayload
    n: int
    mean: float


class QuestionResultPayload(QuestionPayload):
    """Answers with counted votes. without: votes that left the question out."""

    n: int
    without: int
    pairs: list[PairAnswersPayload]
    models: list[ModelMeanPayload]


class ReviewPayload(TypedDict):
    """run, battle: null for people who are only asked; a second opinion has a battle. items: pairs of answers.

    asks_for: a comparison of `pairs`, or grades of single answers, which `items` counts then. opens_when_done: a draft
    opens when its run has all answers. cases: null for all.

    team: only of a review of a team of yours. voted: your votes. asks_you: whether you may vote while takes_votes.
    stop_share: 60 for 60 : 40, null without a stop rule. contrasts: slugs of two models each.
    code: of the link, null while it is closed; only for those who manage the review.
    """

    id: str
    title: str
    instructions: str
    run: str | None
    battle: str | None
    audience: Audience
    state: ReviewState
    asks_for: AsksFor
    plan: Plan
    cases: int | None
    opinions_per_item: int
    most_per_person: int | None
    takes_ties: bool
    takes_both_bad: bool
    names_after_vote: bool
    hides_results: bool
    expected_people: int | None
    repeats_percent: int
    gold_percent: int
    least_seconds: int
    stop_share: int | None
    stop_level: int
    contrasts: list[list[str]]
    questions: list[QuestionPayload]
    opens_when_done: bool
    opens_at: datetime | None
    closes_at: datetime | None
    opened_at: datetime | None
    ended_at: datetime | None
    ended_by: Ending | None
    items: int
    left_out: dict[str, int]
    mine: bool
    asks_you: bool
    takes_votes: bool
    voted: int
    created_at: datetime
    team: NotRequired[str]
    code: NotRequired[str | None]


class ReviewProgressPayload(TypedDict):
    """opinions_wanted: until every pair has enough. under_way: battles that people have before them."""

    opinions: int
    opinions_wanted: int
    under_way: int
    people: int
    knew_answers: int
    contrasts: int
    contrasts_decided: int


class ContrastPayload(TypedDict):
    """mean: over people who ended, of votes for the first model; null without people. low, high: its bounds."""

    first_model: str
    second_model: str
    decision: Decision
    decided_after: int | None
    people: int
    opinions: int
    mean: float | None
    low: float
    high: float


class AlikePersonPayload(TypedDict):
    """A person with almost the same votes."""

    number: int
    same: int
    common: int


class ReviewPersonPayload(TypedDict):
    """number: in the order of coming. network: a number, 1 for that of most people; null if unknown. repeated: pairs
    shown again.
    """

    number: int
    nickname: str
    network: int | None
    joined_at: datetime
    votes_counted: int
    votes_not_counted: int
    repeated: int
    repeated_same: int
    gold: int
    gold_right: int
    left_percent: int | None
    median_seconds: float | None
    answers_alike: list[AlikePersonPayload]
    set_aside_at: datetime | None
    because: str


class SpreadPayload(TypedDict):
    """Numbers of people by answer; first, second: models."""

    first_model: str
    second_model: str
    first: int
    second: int
    tie: int
    both_bad: int


class AnswerToGradePayload(TypedDict):
    """answer: number that the grade names. values: that the grade may have, the lowest first; 0 is incorrect.

    prompts, answers: in turns; later prompts are follow-ups. files: names of uploads.
    """

    answer: int
    values: list[int]
    prompts: list[str]
    answers: list[str]
    files: list[str]
    expected: str


class GivenGradePayload(TypedDict):
    answer: int
    value: int


class GradedEntrantPayload(TypedDict):
    """mean: share of correct answers, or stars."""

    name: str
    mean: IntervalPayload
    answers: int
    grades: int
    cases: int


class GradeAgreementPayload(TypedDict):
    """opinions: pairs of grades. raw: how often they are the same. alpha: Krippendorff's, ordinal."""

    opinions: int
    cases: int
    raw: IntervalPayload
    alpha: IntervalPayload


class GradingJudgePayload(TypedDict):
    judge: str
    name: str
    number: int
    agreement: GradeAgreementPayload | None


class GradesPayload(TypedDict):
    """people: with each other; checks, judges: with people. Null without a common answer."""

    asks_for: AsksFor
    entrants: list[GradedEntrantPayload]
    people: GradeAgreementPayload | None
    checks: GradeAgreementPayload | None
    judges: list[GradingJudgePayload]


class ReviewResultsPayload(TypedDict):
    """computed_at: null until the board is computed. excluded: votes by reason. spread: of a second opinion.

    grades: of a review that asks for them; it has no board, and counts grades in place of votes.

    most_of_a_network: people, where they joined by a link or codes, which do not verify them. networks_forgotten:
    people whose networks are not known any more.
    """

    id: str
    ended_by: Ending | None
    left_out: dict[str, int]
    votes_counted: int
    excluded: dict[str, int]
    people: int
    most_of_a_network: int | None
    networks_forgotten: int
    contrasts: list[ContrastPayload]
    board: str
    snapshot: str | None
    computed_at: datetime | None
    results: list[ResultPayload]
    questions: list[QuestionResultPayload]
    spread: NotRequired[SpreadPayload]
    grades: NotRequired[GradesPayload]
