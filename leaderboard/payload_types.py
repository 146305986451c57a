"""Boards, snapshots and comparisons as the API gives them. Scores are points, shares lie between 0 and 1."""

from typing import Any, TypedDict

from battles.payload_types import SideName
from common.api.schema import Moment
from models_registry.api.schema import Model


class Method(TypedDict):
    """How the scores were computed: the method's name, its parameters, and the SHA-256 of both."""

    name: str
    parameters: dict[str, Any]
    parameters_hash: str


class BoardHead(TypedDict):
    board: str
    title: str
    category: str | None
    snapshot: str | None
    computed_at: Moment | None
    next_due_at: Moment | None
    votes_counted: int
    votes_excluded: dict[str, int]
    models: int


class Board(BoardHead):
    """A board that exists; `models` counts those with a score."""


class StyleScore(TypedDict):
    """With length and formatting of the answers taken out."""

    score: float
    ci_low: float | None
    ci_high: float | None
    rank: int | None
    rank_best: int | None
    rank_worst: int | None


class Result(TypedDict):
    """One model's line on a board. Of the interval one bound alone is null when it won, or lost, everything."""

    rank: int | None
    rank_best: int | None
    rank_worst: int | None
    model: Model
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
    style: StyleScore | None


class Collecting(TypedDict):
    """A model that has too few votes for a score."""

    model: Model
    votes: int


class Leaderboard(BoardHead):
    """The newest snapshot of a board. `style_control` is null where the board has none; `facts` is what the fit found
    beside the scores."""

    description: str
    method: Method
    results: list[Result]
    collecting: list[Collecting]
    style_control: bool | None
    facts: dict[str, Any]


class SnapshotHead(TypedDict):
    """A snapshot in a list: which votes it counted, how, and the SHA-256 of their tallies."""

    id: str
    board: str
    computed_at: Moment
    method: Method
    tallies_checksum: str
    last_order: int
    last_change: int
    votes_taken: int
    votes_counted: int
    votes_excluded: dict[str, int]
    duration_ms: int


class Snapshot(Leaderboard):
    """A snapshot as it was published, and what it was made of."""

    id: str
    tallies_checksum: str
    last_order: int
    last_change: int
    votes_taken: int
    duration_ms: int
    votes_renamed_since: int


class ModelOnBoard(Result):
    """A model's line on one board."""

    board: str
    title: str
    snapshot: str
    computed_at: Moment


class Opponent(TypedDict):
    """What a model took from another on Overall, with the 95 % interval of its share."""

    model: Model
    votes: int
    wins: int
    losses: int
    ties: int
    both_bad: int
    share: float
    ci_low: float
    ci_high: float


class Calls(TypedDict):
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


class Tag(TypedDict):
    """How often a model's answers were tagged so."""

    tag: str
    votes: int


class Version(TypedDict):
    """A model under the same name, as it was set up at some time."""

    slug: str
    name: str
    version: int
    status: str


class ModelStandings(TypedDict):
    """One model on every board."""

    model: Model
    retired_at: Moment | None
    elo: float | None
    standings: list[ModelOnBoard]
    opponents: list[Opponent]
    calls: Calls | None
    tags: list[Tag]
    versions: list[Version]


class Place(TypedDict):
    """Where a side's model stands. What is not known, or not yet, is null."""

    side: SideName
    model: Model
    score: float | None
    rank: int | None
    preliminary: bool | None
    elo: float | None
    elo_change: float | None


class BattlePlaces(TypedDict):
    """A battle's models on Overall."""

    battle: str
    sides: list[Place]


class Point(TypedDict):
    """Where a model stood in a snapshot."""

    snapshot: str
    computed_at: Moment
    score: float
    ci_low: float | None
    ci_high: float | None
    rank: int | None
    votes: int
    preliminary: bool


class Series(TypedDict):
    """One model's points, the oldest first."""

    model: str
    points: list[Point]


class History(TypedDict):
    """How models moved on a board."""

    board: str
    series: list[Series]


class Share(TypedDict):
    """What `a` takes of the votes, with its 95 % interval."""

    share_a: float
    ci_low: float
    ci_high: float


class Separation(TypedDict):
    """Whether the difference of two scores is beyond doubt, and how many more votes would make it so."""

    apart: bool
    difference: float
    more_votes: int | None


class Meetings(TypedDict):
    votes: int
    wins_a: int
    wins_b: int
    ties: int
    both_bad: int
    observed: Share | None


class MeetingsOnBoard(Meetings):
    """The same two on another board."""

    board: str
    title: str


class HeadToHead(Meetings):
    """Two models compared."""

    a: Model
    b: Model
    snapshot: str | None
    expected: Share | None
    separation: Separation | None
    boards: list[MeetingsOnBoard]


class Pair(TypedDict):
    """How often two models met, and how it ended."""

    a: str
    b: str
    votes: int
    wins_a: int
    wins_b: int
    ties: int
    both_bad: int


class Matrix(TypedDict):
    """Every pair that met on a board."""

    board: str
    snapshot: str | None
    models: list[str]
    pairs: list[Pair]
