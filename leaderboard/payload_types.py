"""Payloads of boards, snapshots and comparisons. Scores are points, shares are between 0 and 1."""

from typing import TypedDict

from battles.payload_types import SideName
from common.payload_types import JsonObject, Moment
from models_registry.payload_types import ModelCardPayload, ModelPayload


class MethodPayload(TypedDict):
    """Method of the scores: its name, its parameters, and the SHA-256 of both."""

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
    """Score controlled for length and formatting of the answers."""

    score: float
    ci_low: float | None
    ci_high: float | None
    rank: int | None
    rank_best: int | None
    rank_worst: int | None


class ResultPayload(TypedDict):
    """One model's line on a board. One bound of the interval is null when it won, or lost, every vote.

    All models of a tier are better than all of the next ones; null for preliminary models and with style control.
    agreement_score: with voters weighted by how well they agree; null for preliminary models.
    """

    rank: int | None
    rank_best: int | None
    rank_worst: int | None
    tier: int | None
    model: ModelPayload
    score: float | None
    ci_low: float | None
    ci_high: float | None
    elo: float | None
    votes: int
    # Votes including those since the last run; null in a snapshot and on boards without votes.
    live_votes: int | None
    wins: int
    losses: int
    ties: int
    both_bad: int
    both_bad_rate: float
    both_bad_low: float | None
    both_bad_high: float | None
    win_rate: float
    preliminary: bool
    median_first_token_ms: int | None
    group: int
    design_effect: float
    agreement_score: float | None
    style: StyleScorePayload | None


class CollectingPayload(TypedDict):
    """A model that has too few votes for a score. `live_votes` has those since the last run, too."""

    model: ModelPayload
    votes: int
    live_votes: int | None
    elo: float | None


class LivePayload(TypedDict):
    """Votes that no run has counted: those after number `counted_until`, up to `last_vote`.

    A young board is computed again once it has `next_run_votes`; `is_run_due`: it will be within a minute.
    """

    counted_until: int
    last_vote: int
    new_votes: int
    next_run_votes: int | None
    is_run_due: bool


class LeaderboardPayload(BoardHeadPayload):
    """The newest snapshot of a board. `style_control` is null if the board has no style-controlled scores; `facts` are
    results of the fit beside the scores. `judges` is 1 or 2 if nearly all votes, and so the intervals, are theirs.
    `live` is null in a snapshot by itself, and on boards without votes."""

    description: str
    method: MethodPayload
    results: list[ResultPayload]
    collecting: list[CollectingPayload]
    style_control: bool | None
    judges: int | None
    facts: JsonObject
    live: LivePayload | None


class OwnLinePayload(TypedDict):
    """Result of a model in your votes, or in your team's. Unknown figures are null.

    score: everyone else's, moved towards your votes; difference: your taste, which is what of the move is not an error
    of everyone else's score; differs: whether its 95 % interval leaves out 0.
    """

    model: ModelPayload
    votes: int
    wins: int
    losses: int
    ties: int
    both_bad: int
    score: float | None
    ci_low: float | None
    ci_high: float | None
    others_score: float | None
    difference: float | None
    difference_low: float | None
    difference_high: float | None
    differs: bool | None


class OwnBoardPayload(TypedDict):
    """Your own board (`mine`), or your team's taste (`taste`), beside Overall without these votes.

    votes: counted ones, of which scores need `votes_needed` more; voters: of the team; taste_sd: standard deviation of
    people's tastes.
    """

    board: str
    title: str
    snapshot: str | None
    computed_at: Moment | None
    votes: int
    votes_needed: int
    voters: int | None
    taste_sd: float | None
    results: list[OwnLinePayload]


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
    """A snapshot as it was published, with its inputs."""

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
    """A model's results against another on Overall, with the 95 % interval of its share."""

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
    """Figures of a model's last 1,000 answers: milliseconds, US dollars, counts."""

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
    """Number of votes that gave a model's answers this tag."""

    tag: str
    votes: int


class VersionPayload(TypedDict):
    """A version of the model: an earlier or later setup of the same family."""

    slug: str
    name: str
    version: int
    status: str


class ModelStandingsPayload(TypedDict):
    """One model on every board."""

    model: ModelPayload
    about: ModelCardPayload
    retired_at: Moment | None
    elo: float | None
    live_votes: int
    standings: list[ModelOnBoardPayload]
    opponents: list[OpponentPayload]
    calls: CallsPayload | None
    tags: list[TagPayload]
    versions: list[VersionPayload]


class PlacePayload(TypedDict):
    """Current standing of a side's model. Unknown figures are null."""

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
    """Standing of a model in a snapshot."""

    snapshot: str
    computed_at: Moment
    score: float
    ci_low: float | None
    ci_high: float | None
    rank: int | None
    votes: int
    preliminary: bool


class SeriesPayload(TypedDict):
    """One model's standings, oldest first."""

    model: str
    points: list[PointPayload]


class HistoryPayload(TypedDict):
    """History of models on a board."""

    board: str
    series: list[SeriesPayload]


class SharePayload(TypedDict):
    """Share of the votes that `a` wins, with its 95 % interval; if observed, as if every vote had its own voter."""

    share_a: float
    ci_low: float
    ci_high: float


class SeparationPayload(TypedDict):
    """Significance of the difference of two scores, and how many more votes it would take, with quartiles."""

    apart: bool
    difference: float
    more_votes: int | None
    more_votes_low: int | None
    more_votes_high: int | None


class MeetingsPayload(TypedDict):
    votes: int
    wins_a: int
    wins_b: int
    ties: int
    both_bad: int
    observed: SharePayload | None


class MeetingsOnBoardPayload(MeetingsPayload):
    """Results of the same two models on another board."""

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
    """Results between two models."""

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


class ReleaseFilePayload(TypedDict):
    """`rows` of a table. `url` is null for texts that a later release replaced."""

    name: str
    bytes: int
    sha256: str
    rows: int | None
    url: str | None


class ReleasePayload(TypedDict):
    """Dated set of files. `licence` as of its publication."""

    date: str
    published_at: Moment | None
    snapshot: str
    last_vote: int
    licence: str
    licence_url: str
    files: list[ReleaseFilePayload]
