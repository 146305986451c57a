"""Types of a fitted snapshot; pages import them without numpy and scipy."""

from typing import NotRequired, TypedDict


class MisfitFacts(TypedDict):
    chi2: float
    df: int
    ratio: float | None


class FlipFacts(TypedDict):
    votes: int
    winner: str
    loser: str
    first: str


class BallotKind(TypedDict):
    """Votes for one outcome between two models; outcome: left, right, or tie for a tie of either kind."""

    left: str
    right: str
    outcome: str
    votes: int


class DropFacts(TypedDict):
    votes: int
    first: str
    ballots: list[BallotKind]


class SideBiasFacts(TypedDict):
    points: float
    low: float
    high: float
    z: float
    design_effect: float
    applied: bool


class Interval(TypedDict):
    value: float
    low: float
    high: float


class ScalingFacts(TypedDict):
    mean: list[float]
    sd: list[float]


class StyleFacts(TypedDict):
    coefficients: dict[str, Interval]
    dropped: list[str]
    scaling: ScalingFacts
    separating: NotRequired[list[str]]
    side: NotRequired[Interval]


class Effect(Interval):
    """Logit per unit of a covariate; applied: whether style-controlled scores have it in their fit."""

    applied: bool


class ContextFacts(TypedDict):
    coefficients: dict[str, Effect]
    unidentified: list[str]


class ShareLossFacts(TypedDict):
    ties_half: float
    ties_dropped: float | None
    tie_factors: float


class OutcomeLossFacts(TypedDict):
    one_factor: float
    tie_factors: float


class ForecastFacts(TypedDict):
    """Mean held-out log-losses in nats, and models' factors."""

    held_out: int
    share_loss: ShareLossFacts
    outcome_loss: OutcomeLossFacts
    tie_factors: dict[str, float]


class AgreementFacts(TypedDict):
    """spread: standard deviation of voters' weights."""

    scores: dict[str, float]
    voters: int
    spread: float


class TasteFacts(TypedDict):
    """Standard deviation of people's tastes in points: as used, and as their votes alone say (null if they are few)."""

    sd: float
    estimate: float | None
    voters: int


class FitFacts(TypedDict):
    phi: list[float]
    misfit: MisfitFacts
    side_bias: SideBiasFacts | None
    largest_design_effect: float
    effective_voters: NotRequired[float]
    flips_first: NotRequired[FlipFacts | None]
    drops_first: NotRequired[DropFacts | None]
    style: NotRequired[StyleFacts]
    context: NotRequired[ContextFacts]
    forecast: NotRequired[ForecastFacts]
    agreement: NotRequired[AgreementFacts]
    taste: NotRequired[TasteFacts]


class StyleColumns(TypedDict, total=False):
    style_score: float | None
    style_ci_low: float | None
    style_ci_high: float | None
    style_rank: int | None
    style_rank_best: int | None
    style_rank_worst: int | None


class FitLine(StyleColumns):
    """Columns of a standing that the fit computes."""

    score: float | None
    ci_low: float | None
    ci_high: float | None
    design_effect: float
    group: int
    rank: int | None
    rank_best: int | None
    rank_worst: int | None
    tier: int | None
    votes: int
    wins: int
    losses: int
    ties: int
    both_bad: int
    both_bad_design_effect: float | None
    preliminary: bool
