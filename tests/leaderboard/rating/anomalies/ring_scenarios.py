"""Scenarios of rings, riggers and honest people, with their bars; edit and add scenarios here."""

from dataclasses import dataclass

MAX_POINTS_LEFT = 10


@dataclass(frozen=True)
class People:
    """Honest people. taste: sd per model; readiness: sd of the log of the tie rate; per_day: votes of a day."""

    models: int = 30
    days: int = 40
    per_day: int = 200
    taste: float = 0.35
    readiness: float = 0.3
    votes_each: float = 12.0


@dataclass(frozen=True)
class Ring:
    """Accounts that serve one model for `days`.

    each: votes of an account on a day; stays: the same accounts every day, or new ones; recognition: share of battles
    with the target in which they recognise it, the others are judged honestly; honest: share of votes that are honest
    on any models; rank: of the target, 0 is the best model. past: honest votes of an account in the arena's first
    days, `waited` days and more before the ring, or, for regulars, spread over all days before it. newcomers: share of
    accounts without a past. staggered: days on which accounts begin. targets: account i serves model i mod targets.
    networks: of the accounts, 0: unknown.
    """

    accounts: int
    each: int
    stays: bool
    days: int = 3
    recognition: float = 0.8
    honest: float = 0.0
    promotes: bool = True
    rank: float = 0.5
    past: int = 0
    is_regular: bool = False
    newcomers: float = 0.0
    staggered: int = 1
    targets: int = 1
    networks: int = 0


@dataclass(frozen=True)
class Crowd:
    """Honest accounts that vote together. taste: sd per model, shared by all of them; liking: of one model, by all.

    waited: days since an account's only earlier vote, 0: none. new_model: whether they vote only with a model that
    appears on their first day.
    """

    accounts: int
    each: int
    days: int = 3
    taste: float = 0.0
    liking: float = 0.0
    waited: int = 0
    new_model: bool = False
    only_models: int = 0


@dataclass(frozen=True)
class RingScenario:
    """looks: nightly looks within which the ring must be found; found: share of arenas in which it must be."""

    name: str
    ring: Ring
    people: People = People()
    looks: int = 2
    found: float = 0.95
    points_left: float = MAX_POINTS_LEFT
    before: str = ""  # while each voter was tested against all others


HALF_HONEST_BEFORE = "0 – 7 % found"
RINGS = [
    RingScenario("20 accounts × 20 a day", Ring(20, 20, stays=True), before="429 → 305"),
    RingScenario("40 accounts × 5 a day", Ring(40, 5, stays=True), before="never found"),
    RingScenario("100 new accounts × 1 a day", Ring(100, 1, stays=False), before="never found"),
    RingScenario("20 × 20, demoting the best", Ring(20, 20, stays=True, promotes=False, rank=0.0)),
    RingScenario("40 × 5, promoting the weakest", Ring(40, 5, stays=True, rank=1.0)),
    RingScenario(
        "20 × 20, half honest",
        Ring(20, 20, stays=True, honest=0.5, days=10),
        looks=10,
        found=0.9,
        before=HALF_HONEST_BEFORE,
    ),
    RingScenario(
        "40 × 5, half honest",
        Ring(40, 5, stays=True, honest=0.5, days=10),
        looks=10,
        found=0.9,
        before=HALF_HONEST_BEFORE,
    ),
    RingScenario("5 × 10, half honest", Ring(5, 10, stays=True, honest=0.5, days=10), looks=10, found=0.9),
]


@dataclass(frozen=True)
class HonestScenario:
    """Bars: shares of voters and votes held; found rings over all model-days."""

    name: str
    people: People
    voters_held: float = 0.01
    votes_held: float = 0.02
    rings: int = 1
    before: str = ""


HONEST = [
    HonestScenario("taste .35, readiness .3", People(days=60, taste=0.35, readiness=0.3), before="2.8 %"),
    HonestScenario("taste .35, readiness .6", People(days=60, taste=0.35, readiness=0.6), before="12 %"),
    HonestScenario("taste .5, readiness .6", People(days=60, taste=0.5, readiness=0.6)),
    HonestScenario("taste .35, readiness .6, 60 votes each", People(days=60, readiness=0.6, votes_each=60)),
]
# Model-days of honest people without a ring found: at most one false alarm in so many.
MODEL_DAYS = 6000
LLMFAO_ORDERS = 10
LLMFAO_BEFORE = "33 %"
