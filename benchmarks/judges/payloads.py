"""Payloads of judges and judgements: an allow-list."""

from typing import Literal, NotRequired, TypedDict, cast

from accounts.actor import Actor
from benchmarks import access
from benchmarks.judges.estimates import JudgingEstimate
from benchmarks.judges.listing import JudgementRow
from benchmarks.judges.results import Card, JudgeResults, Jury
from benchmarks.models import Entrant, Judge, Judging, Run
from benchmarks.payload_types import ItemState, RunState
from benchmarks.statistics.judged import BoardLine, GradeMean, StyledBoard
from benchmarks.statistics.payload import Interval
from common.payload_types import JsonObject, Moment
from common.text.money import plain_decimal

JudgeKind = Literal["pairwise", "scores"]
OwnFamily = Literal["exclude", "flag", "allow"]


class JudgePayload(TypedDict):
    """A model with a rubric. A change makes a new judge with the next `number` and the same `series`."""

    id: str
    series: str
    number: int
    name: str
    model: str
    kind: JudgeKind
    rubric: JsonObject
    prompt_version: str
    parameters: JsonObject
    own_family: OwnFamily
    archived: bool
    created_at: Moment
    team: NotRequired[str]


class JudgingEstimatePayload(TypedDict):
    """`judged` questions have an answer of this judge already; `too_long` are beyond its context."""

    calls: int
    questions: int
    controls: int
    judged: int
    too_long: int
    left_out: dict[str, int]
    expected_cost: str
    max_cost: str


class JudgingPayload(TypedDict):
    """A judge at work. `run` is the id of its run, which is paused, resumed and cancelled as any other.

    `left_out` counts pairs or answers by reason; `deleted` counts judgements, as `lost` of results.
    """

    id: str
    judge: str
    run: str
    state: RunState
    reason: str
    pairs: str
    pairs_per_case: int | None
    orders: Literal["both", "random"]
    with_card: bool
    is_card: bool
    calls: int
    left_out: dict[str, int]
    budget: str | None
    spent: str
    created_at: Moment


class IntervalPayload(TypedDict):
    """Estimate with its 95 % interval."""

    value: float | None
    low: float | None
    high: float | None


class ControlPayload(TypedDict):
    """Control pairs of one kind: twins must tie, the others must not win by what was added or cut."""

    kind: str
    n: int
    passed: int


class PairOutcomePayload(TypedDict):
    """Mean outcome of two entrants; 1 if the first always wins."""

    first: int
    second: int
    pairs: int
    outcome: IntervalPayload


class JudgedLinePayload(TypedDict):
    """Line of a judge's board, in points."""

    entrant: int
    name: str
    score: float | None
    low: float | None
    high: float | None
    verdicts: int
    is_preliminary: bool


class GradeMeanPayload(TypedDict):
    entrant: int
    name: str
    answers: int
    mean: IntervalPayload


class StyledBoardPayload(TypedDict):
    """Board at equal length and formatting. `effects`: of a standard deviation of each feature, in logit."""

    board: list[JudgedLinePayload]
    effects: dict[str, IntervalPayload | None]


class JudgeResultPayload(TypedDict):
    """Results of a judge about a run's entrants, which are named by their ids.

    `flips`: share of pairs whose two orders name different winners. `first_side`: P(first wins) − ½. `own_family`: how
    much better the judge sees models of its own organization than judges of others do. `stopped`: a judging ended or
    waits half way, so that its judgements are no random part. `lost`: judgements deleted with another run of the same
    answers, and not asked for again. `doubtful`: over 5 % of its answers have no verdict.
    """

    judge: JudgePayload
    asked: int
    judged: int
    waiting: int
    failed: int
    unparsed: int
    unparsed_share: float
    doubtful: bool
    stopped: bool
    lost: int
    left_out: dict[str, int]
    pairs: list[PairOutcomePayload]
    pairs_in_both_orders: int
    flips: IntervalPayload | None
    first_side: IntervalPayload | None
    own_family: IntervalPayload | None
    board: list[JudgedLinePayload]
    styled: StyledBoardPayload | None
    means: list[GradeMeanPayload]
    criteria: dict[str, list[GradeMeanPayload]]
    card: list[ControlPayload]


class JuryPayload(TypedDict):
    """Board of all verdicts of several judges, and Krippendorff's α of which entrant wins."""

    judges: list[str]
    board: list[JudgedLinePayload]
    alpha: IntervalPayload | None


class JudgementPayload(TypedDict):
    """One verdict. `first` and `second` are entrants in the order shown; `outcome` is seen from the first."""

    id: int
    judge: str
    case: str
    repeat: int
    first: int
    second: int | None
    is_swapped: bool
    control: str
    own_family: str
    state: ItemState
    error: str
    outcome: float | None
    label: str
    criteria: dict[str, float]
    reason: str
    cost: str | None


class JudgementPagePayload(TypedDict):
    """Judgements of a run, without a count. Results are on the first page only."""

    count: None
    next: str | None
    previous: None
    results: list[JudgementPayload]
    judgings: list[JudgingPayload]
    judges: list[JudgeResultPayload]
    jury: JuryPayload | None


def judge_payload(judge: Judge, actor: Actor) -> JudgePayload:
    """judge: with model.team."""
    team = access.team_of(actor, judge)
    payload: JudgePayload = {
        "id": judge.public_id,
        "series": judge.series,
        "number": judge.number,
        "name": judge.name,
        "model": judge.model.full_slug,
        "kind": cast(JudgeKind, judge.kind),
        "rubric": judge.rubric,
        "prompt_version": judge.prompt_version,
        "parameters": judge.parameters,
        "own_family": cast(OwnFamily, judge.own_family),
        "archived": judge.archived_at is not None,
        "created_at": judge.created_at,
    }
    return payload if team is None else {**payload, "team": team.slug}


def estimate_payload(estimate: JudgingEstimate) -> JudgingEstimatePayload:
    return {
        "calls": estimate.calls,
        "questions": estimate.questions,
        "controls": estimate.controls,
        "judged": estimate.judged,
        "too_long": estimate.too_long,
        "left_out": estimate.left_out,
        "expected_cost": plain_decimal(estimate.expected),
        "max_cost": plain_decimal(estimate.maximum),
    }


def judging_payload(judging: Judging) -> JudgingPayload:
    """judging: with judge and run."""
    run = judging.run
    return {
        "id": judging.public_id,
        "judge": judging.judge.public_id,
        "run": run.public_id,
        "state": cast(RunState, run.state),
        "reason": run.reason,
        "pairs": judging.plan,
        "pairs_per_case": judging.pairs_per_case,
        "orders": cast(Literal["both", "random"], judging.orders),
        "with_card": judging.with_card,
        "is_card": judging.is_card,
        "calls": run.item_count,
        "left_out": judging.left_out,
        "budget": None if run.budget is None else plain_decimal(run.budget),
        "spent": plain_decimal(run.spent),
        "created_at": judging.created_at,
    }


def card_payload(card: Card) -> list[ControlPayload]:
    return [{"kind": row.kind.value, "n": row.n, "passed": row.passed} for row in card.rows]


def result_payload(result: JudgeResults, actor: Actor, styled: StyledBoard | None = None) -> JudgeResultPayload:
    entrants, compared = result.entrants, result.comparisons
    return {
        "judge": judge_payload(result.judge, actor),
        "asked": result.asked,
        "judged": result.judged,
        "waiting": result.waiting,
        "failed": result.failed,
        "unparsed": result.unparsed,
        "unparsed_share": result.unparsed_share,
        "doubtful": result.is_doubtful,
        "stopped": result.is_stopped,
        "lost": result.lost,
        "left_out": result.left_out,
        "pairs": [
            {
                "first": entrants[pair.first].pk,
                "second": entrants[pair.second].pk,
                "pairs": pair.pairs,
                "outcome": _interval(pair.outcome),
            }
            for pair in ([] if compared is None else compared.pairs)
        ],
        "pairs_in_both_orders": 0 if compared is None else compared.pairs_in_both_orders,
        "flips": None if compared is None else _optional(compared.flips),
        "first_side": None if compared is None else _optional(compared.first_side),
        "own_family": _optional(result.own_family),
        "board": [] if compared is None else _board(compared.board, entrants),
        "styled": None
        if styled is None
        else {
            "board": _board(styled.board, entrants),
            "effects": {name: _optional(effect) for name, effect in styled.effects.items()},
        },
        "means": _means(result.means, entrants),
        "criteria": {name: _means(means, entrants) for name, means in result.criteria.items()},
        "card": card_payload(result.card),
    }


def jury_payload(jury: Jury, run: Run) -> JuryPayload:
    entrants = list(run.entrants.order_by("position"))
    return {
        "judges": [judge.public_id for judge in jury.judges],
        "board": _board(jury.board, entrants),
        "alpha": _optional(jury.alpha),
    }


def judgement_payload(row: JudgementRow) -> JudgementPayload:
    judgement = row.judgement
    return {
        "id": judgement.pk,
        "judge": judgement.judge.public_id,
        "case": row.case_key,
        "repeat": row.repeat,
        "first": row.first.pk,
        "second": None if row.second is None else row.second.pk,
        "is_swapped": row.is_swapped,
        "control": judgement.control,
        "own_family": judgement.own_family,
        "state": cast(ItemState, row.state),
        "error": row.error,
        "outcome": row.outcome,
        "label": row.label,
        "criteria": row.criteria,
        "reason": row.reason,
        "cost": None if row.cost is None else plain_decimal(row.cost),
    }


def _interval(interval: Interval) -> IntervalPayload:
    return {"value": interval.value, "low": interval.low, "high": interval.high}


def _optional(interval: Interval | None) -> IntervalPayload | None:
    return None if interval is None else _interval(interval)


def _board(lines: list[BoardLine], entrants: list[Entrant]) -> list[JudgedLinePayload]:
    return [
        {
            "entrant": entrants[line.entrant].pk,
            "name": str(entrants[line.entrant]),
            "score": line.score,
            "low": line.low,
            "high": line.high,
            "verdicts": line.verdicts,
            "is_preliminary": line.is_preliminary,
        }
        for line in lines
    ]


def _means(means: list[GradeMean], entrants: list[Entrant]) -> list[GradeMeanPayload]:
    return [
        {
            "entrant": entrants[mean.entrant].pk,
            "name": str(entrants[mean.entrant]),
            "answers": mean.answers,
            "mean": _interval(mean.mean),
        }
        for mean in means
    ]
