"""Decision report as it is stored: its inputs, and all figures that follow from them. Pages import it without numpy."""

import hashlib
import json
from datetime import datetime
from typing import Literal

import msgspec

from benchmarks.statistics.payload import Interval, ReportPayload

# Fields that a format got later are UNSET by default, not null: older reports keep their text and checksum.
FORMAT = "decision-report-1"


class Label(msgspec.Struct, frozen=True, kw_only=True):
    """Name of a contestant, and what exactly was asked. Empty texts are unknown or kept back."""

    name: str
    version: str = ""
    upstream: str = ""
    prompt: str = ""
    parameters: str = ""


class PairTables(msgspec.Struct, frozen=True, kw_only=True):
    """Pairs of opinions of two sources, as benchmarks.statistics.agreement.Pairs; a table is a list, row by row."""

    cases: list[int]
    tables: list[list[float]]
    confusion: list[float]


class CalibratedLine(msgspec.Struct, frozen=True, kw_only=True):
    """Contestant on a judge's board, in points; checks: share of 1. prompt: its label, where models have several."""

    key: str
    prompt: str = ""
    checks: Interval | None
    judge: Interval
    people: Interval | None
    calibrated: Interval | None
    worth: float


class CalibratedInputs(msgspec.Struct, frozen=True, kw_only=True):
    """A judge's board that people correct. rate: the part of the judge's that is taken, 0 to 1."""

    opinions: int
    people: int
    cases: int
    rate: float
    lines: list[CalibratedLine]


class JudgeInputs(msgspec.Struct, frozen=True, kw_only=True):
    """Judge, and its pairs with people. no_board: as in reviews.agreement.results."""

    key: str
    name: str
    number: int
    model: str
    pairs: PairTables | None
    board: CalibratedInputs | None
    no_board: str


class AgreementInputs(msgspec.Struct, frozen=True, kw_only=True):
    """Opinions of reviews with results. people: with each other; judges: the latest first."""

    reviews: int
    opinions: int
    people: PairTables | None
    checks: PairTables | None
    judges: list[JudgeInputs]


class WattHours(msgspec.Struct, frozen=True):
    """Estimated energy of an answer; of a run's entrant at its mean length, of a board's model of 1,000 tokens."""

    low: float
    high: float


class RunInputs(msgspec.Struct, frozen=True, kw_only=True, tag="run", tag_field="kind"):
    """Run and its report `number`, of which `payload` has the primary metric alone: no prompts, answers or tags.

    energy: of entrants of which it is known.
    """

    run: str
    name: str
    template: str
    version: int
    number: int
    is_cancelled: bool
    computed_at: datetime
    payload: ReportPayload
    agreement: AgreementInputs | None = None
    energy: dict[str, WattHours] | msgspec.UnsetType = msgspec.UNSET


class BoardLine(msgspec.Struct, frozen=True, kw_only=True):
    """Model's line in a snapshot, with its prices in US dollars per million tokens at the time of the report."""

    key: str
    votes: int
    group: int
    preliminary: bool
    score: float | None
    low: float | None
    high: float | None
    rank: int | None
    rank_best: int | None
    rank_worst: int | None
    tier: int | None
    first_token_ms: int | None
    price_input: float | None = None
    price_output: float | None = None
    energy: WattHours | msgspec.UnsetType = msgspec.UNSET


class DecidingVotes(msgspec.Struct, frozen=True):
    """So many votes put `first` first."""

    votes: int
    first: str


class BoardInputs(msgspec.Struct, frozen=True, kw_only=True, tag="board", tag_field="kind"):
    """Published snapshot of a board. team: its address, "" for the site's."""

    snapshot: str
    board: str
    title: str
    team: str
    computed_at: datetime
    method: str
    parameters_hash: str
    tallies_checksum: str
    votes_counted: int
    votes_excluded: int
    effective_voters: float | None
    to_add: DecidingVotes | None
    to_drop: DecidingVotes | None
    lines: list[BoardLine]


class ContrastInputs(msgspec.Struct, frozen=True, kw_only=True):
    """Pair of models. means: of people who ended, in that order, for the first; opinions: how many they are of."""

    first: str
    second: str
    means: list[float]
    opinions: int


class StopRuleInputs(msgspec.Struct, frozen=True, kw_only=True):
    """Stop rule as fixed before the opening. share: 60 for 60 : 40; level: in percent, of all contrasts together."""

    share: int
    level: int
    contrasts: list[ContrastInputs]


class CampaignInputs(msgspec.Struct, frozen=True, kw_only=True, tag="campaign", tag_field="kind"):
    """Closed review and its board. audience, plan, ended_by: as in reviews.models.Review.

    people: with counted votes, of whom most_of_a_network came from one network, or more if there are some of
    networks_forgotten. left_out: pairs by reason. run, template: "" after the run's deletion. cases: of a sample.
    retired: keys of models, by the day of the report.
    """

    review: str
    title: str
    run: str
    template: str
    version: int
    audience: str
    plan: str
    opinions_per_item: int
    items: int
    left_out: dict[str, int]
    expected_people: int | None
    people: int
    most_of_a_network: int | None
    set_aside: int
    ended_by: str
    opened_at: datetime
    ended_at: datetime
    board: BoardInputs
    agreement: AgreementInputs | None = None
    stop_rule: StopRuleInputs | msgspec.UnsetType = msgspec.UNSET
    cases: int | msgspec.UnsetType = msgspec.UNSET
    networks_forgotten: int | msgspec.UnsetType = msgspec.UNSET
    retired: list[str] | msgspec.UnsetType = msgspec.UNSET


Inputs = RunInputs | BoardInputs | CampaignInputs


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """Contestant's figures; scores are shares of 1 in a run, points on a board. Numbers that do not exist are None.

    better_than: contestants that it surely beats. cost: per answer, in US dollars, with its 95 % interval. prices: US
    dollars per million tokens read and written. on_front: no other one is better and cheaper.
    """

    key: str
    rank_best: int | None
    rank_worst: int | None
    is_best: bool
    value: float | None
    low: float | None
    high: float | None
    counted: int
    planned: int | None = None
    note: Literal["", "incomplete", "preliminary"] = ""
    better_than: list[str]
    cost: float | None = None
    cost_low: float | None = None
    cost_high: float | None = None
    price_input: float | None = None
    price_output: float | None = None
    first_token_ms: float | None = None
    total_ms: float | None = None
    on_front: bool = False
    beaten_in_both: bool = False
    energy: WattHours | msgspec.UnsetType = msgspec.UNSET


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """Difference reference − other. needed: cases in all, or more votes, that tell them apart if it stays the same."""

    reference: str
    other: str
    value: float | None
    low: float | None
    high: float | None
    is_apart: bool | None
    needed: int | None = None
    repeats_needed: int | None = None


class AgreementFigure(msgspec.Struct, frozen=True, kw_only=True):
    """Agreement on the winner, of people with each other or of a source with them; shares of 1.

    source: people, checks, or a judge's key. alpha: Krippendorff's, ordinal; above: less that of people.
    """

    source: str
    opinions: int
    cases: int
    raw: Interval
    without_ties: Interval
    alpha: Interval
    above: Interval | None


class ContrastFigure(msgspec.Struct, frozen=True, kw_only=True):
    """Decision of a stop rule: the first is better, worse, equal within δ, or nothing is decided.

    mean: over people, a share of 1; low, high: bounds that hold at all times and for all contrasts together.
    """

    first: str
    second: str
    decision: Literal["better", "worse", "equal", "not_decided"]
    decided_after: int | None
    people: int
    opinions: int
    mean: float | None
    low: float
    high: float


class Caution(msgspec.Struct, frozen=True, kw_only=True):
    """Warning by its code, with the contestant and the numbers that its sentence has."""

    code: str
    key: str = ""
    n: int = 0
    of: int = 0
    cost: float = 0.0


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """lines: best first. differences: from the baseline, else from the best one."""

    unit: Literal["share", "points"]
    cautions: list[Caution]
    lines: list[Line]
    differences: list[Difference]
    agreement: list[AgreementFigure] = []
    contrasts: list[ContrastFigure] | msgspec.UnsetType = msgspec.UNSET


class Document(msgspec.Struct, frozen=True, kw_only=True):
    format: str
    id: str
    created_at: datetime
    question: str
    subject: Inputs
    labels: dict[str, Label]
    figures: Figures


def canonical(document: Document) -> str:
    """Return the JSON whose SHA-256 is the report's checksum."""
    plain = msgspec.to_builtins(document)
    # Integers where a float belongs become floats, so that reading and writing again changes no character.
    return canonical_json(msgspec.to_builtins(msgspec.convert(plain, Document)))


def canonical_json(value: object) -> str:
    """Return JSON in the one form that is hashed: sorted names, no spaces, UTF-8."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def read(text: str) -> Document:
    """Raises msgspec.ValidationError."""
    return msgspec.json.decode(text, type=Document)


def as_file(text: str) -> bytes:
    """Return the file of a report. text: canonical."""
    return f'{{"checksum":"{checksum(text)}","report":{text}}}\n'.encode()
