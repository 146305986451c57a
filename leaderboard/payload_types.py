"""Boards, snapshots and comparisons as the API gives them. Scores are points, shares lie between 0 and 1."""

from typing import TypedDict

from battles.payload_types import SideName
from common.payload_types import JsonObject, Moment
from models_registry.payload_types import ModelPayload


class MethodPayload(TypedDict):
    """How the scores were computed: the method's name, its parameters, and the SHA-256 of both."""

    name: str
    parameters: JsonObject
    parameters_hash: str


class BoardHeadPayload(TypedDict):
    board: str
    title: str
    category: str | None
    snapshot: str | None
    computed_at: Moment | None
    next_due_at: Moment | None
    votes_counted: int
    votes_excluded: dict[str, int]
    models: int


class BoardPayload(BoardHeadPayload):
    """A board that exists; `models` counts those with a score."""


class StyleScorePayload(TypedDict):
    """With length and formatting of the answers taken out."""

    score: float
    ci_low: float | None
    ci_high: float | None
    rank: int | None
    rank_best: int | None
    rank_worst: int | None


class ResultPayload(TypedDict):
    """One model's line on a board. Of the interval one bound alone is null when it won, or lost, everything."""

    rank: int | None
    rank_best: int | None
    rank_worst: int | None
    model: ModelPayload
    score: float | None
    ci_low: float | None
    ci_high: float | None
    elo: float | None
    votes: int
    wins: int
    losses: int
    ties: int
    both_bad: int
    win_rate: float
    preliminary: bool
    median_first_token_ms: int | None
    group: int
    design_effect: float
    style: StyleScorePayload | None


class CollectingPayload(TypedDict):
    """A model that has too few votes for a score."""

    model: ModelPayload
    votes: int


class LeaderboardPayload(BoardHeadPayload):
    """The newest snapshot of a board. `style_control` is null where the board has none; `facts` is what the fit found
    beside the scores."""

    description: str
    method: MethodPayload
    results: list[ResultPayload]
    collecting: list[CollectingPayload]
    style_control: bool | None
    facts: JsonObject


class SnapshotHeadPayload(TypedDict):
    """A snapshot in a list: which votes it counted, how, and the SHA-256 of their tallies."""

    id: str
    board: str
    computed_at: Moment
    method: MethodPayload
    tallies_checksum: str
    last_order: int
    last_change: int
    votes_taken: int
    votes_counted: int
    votes_excluded: dict[str, int]
    duration_ms: int


class SnapshotPayload(LeaderboardPayload):
    """A snapshot as it was published, and what it was made of."""

    id: str
    tallies_checksum: str
    last_order: int
    last_change: int
    votes_taken: int
    duration_ms: int
    votes_renamed_since: int


class ModelOnBoardPayload(ResultPayload):
    """A model's line on one board."""

    board: str
    title: str
    snapshot: str
    computed_at: Moment


class OpponentPayload(TypedDict):
    """What a model took from another on Overall, with the 95 % interval of its share."""

    model: ModelPayload
    votes: int
    wins: int
    losses: int
    ties: int
    both_bad: int
    share: float
    ci_low: float
    ci_high: float


class CallsPayload(TypedDict):
    """How a model's last 1,000 answers went: milliseconds, US dollars, counts."""

    calls: int
    first_token_p50_ms: int | None
    first_token_p95_ms: int | None
    total_p50_ms: int | None
    total_p95_ms: int | None
    mean_tokens: int | None
    mean_cost: str | None
    refused: int
    cut_short: int
    failed: int


class TagPayload(TypedDict):
    """How often a model's answers were tagged so."""

    tag: str
    votes: int


class VersionPayload(TypedDict):
    """A model under the same name, as it was set up at some time."""

    slug: str
    name: str
    version: int
    status: str


class ModelStandingsPayload(TypedDict):
    """One model on every board."""

    model: ModelPayload
    retired_at: Moment | None
    elo: float | None
    standings: list[ModelOnBoardPayload]
    opponents: list[OpponentPayload]
    calls: CallsPayload | None
    tags: list[TagPayload]
    versions: list[VersionPayload]


class PlacePayload(TypedDict):
    """Where a side's model stands. What is not known, or not yet, is null."""

    side: SideName
    model: ModelPayload
    score: float | None
    rank: int | None
    preliminary: bool | None
    elo: float | None
    elo_change: float | None


class BattlePlacesPayload(TypedDict):
    """A battle's models on Overall."""

    battle: str
    sides: list[PlacePayload]


class PointPayload(TypedDict):
    """Where a model stood in a snapshot."""

    snapshot: str
    computed_at: Moment
    score: float
    ci_low: float | None
    ci_high: float | None
    rank: int | None
    votes: int
    preliminary: bool


class SeriesPayload(TypedDict):
    """One model's points, the oldest first."""

    model: str
    points: list[PointPayload]


class HistoryPayload(TypedDict):
    """How models moved on a board."""

    board: str
    series: list[SeriesPayload]


class SharePayload(TypedDict):
    """What `a` takes of the votes, with its 95 % interval."""

    share_a: float
    ci_low: float
    ci_high: float


class SeparationPayload(TypedDict):
    """Whether the difference of two scores is beyond doubt, and how many more votes would make it so."""

    apart: bool
    difference: float
    more_votes: int | None


class MeetingsPayload(TypedDict):
    votes: int
    wins_a: int
    wins_b: int
    ties: int
    both_bad: int
    observed: SharePayload | None


class MeetingsOnBoardPayload(MeetingsPayload):
    """The same two on another board."""

    board: str
    title: str


class HeadToHeadPayload(MeetingsPayload):
    """Two models compared."""

    a: ModelPayload
    b: ModelPayload
    snapshot: str | None
    expected: SharePayload | None
    separation: SeparationPayload | None
    boards: list[MeetingsOnBoardPayload]


class PairPayload(TypedDict):
    """How often two models met, and how it ended."""

    a: str
    b: str
    votes: int
    wins_a: int
    wins_b: int
    ties: int
    both_bad: int


class MatrixPayload(TypedDict):
    """Every pair that met on a board."""

    board: str
    snapshot: str | None
    models: list[str]
    pairs: list[PairPayload]
