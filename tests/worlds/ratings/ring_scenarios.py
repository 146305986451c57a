"""Scenarios of rings, riggers and honest people, with their bars; edit and add scenarios here."""

from dataclasses import dataclass, replace
from typing import Any

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
    networks: of the accounts, 0: unknown. is_drawn: whether they vote on all battles, and not mostly on the target's.
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
    is_drawn: bool = False


@dataclass(frozen=True)
class Crowd:
    """Honest accounts that vote together. taste: sd per model, shared by all of them; liking: of one model, by all.

    waited: days since an account's only earlier vote, 0: none. seeks: whether all their battles are with one model,
    with is_new one that appears on their first day. only_models: to which they limit the draw, 0: all.
    """

    accounts: int
    each: int
    days: int = 3
    taste: float = 0.0
    liking: float = 0.0
    waited: int = 0
    seeks: bool = False
    is_new: bool = False
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
    before: str = ""  # while each voter was tested against all others, or no accounts but new ones as a group


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
    RingScenario("12 × 9 for two models", Ring(12, 9, stays=True, targets=2)),
    RingScenario("30 sockpuppets × 5, a network each", Ring(30, 5, stays=True, networks=30)),
]
_OLD = Ring(20, 20, stays=True, past=1)


def _old(name: str, ring: Ring, before: str = "", **bars: Any) -> RingScenario:
    return RingScenario(f"old accounts: {name}", ring, before=before, looks=ring.days, found=0.9, **bars)


# Accounts with a past, and drips of new ones.
LATE_RINGS = [
    _old("20 × 20", _OLD, "0 % found"),
    _old("40 × 5", replace(_OLD, accounts=40, each=5), "0 % found"),
    _old("10 × 40", replace(_OLD, accounts=10, each=40)),
    _old("60 × 3", replace(_OLD, accounts=60, each=3)),
    _old("100 others each day × 1", replace(_OLD, accounts=100, each=1, stays=False), "0 % found"),
    _old("20 regulars turn, 20 a day", replace(_OLD, past=40, is_regular=True), "0 % found"),
    _old("20 × 20, 5 honest votes before", replace(_OLD, past=5)),
    _old("20 × 20, half honest, 20 honest votes before", replace(_OLD, past=20, honest=0.5)),
    _old("20 × 20, four of five honest", replace(_OLD, honest=0.8)),
    _old("20 × 20, awake on three days", replace(_OLD, staggered=3, days=5)),
    _old("20 × 20, demoting the best", replace(_OLD, promotes=False, rank=0.0)),
    _old("20 × 20, promoting the weakest", replace(_OLD, rank=1.0)),
    _old("12 × 9 for two models", replace(_OLD, accounts=12, each=9, targets=2)),
    _old("20 × 10, half of them new", replace(_OLD, each=10, newcomers=0.5)),
    RingScenario("drip of 3 new × 4 a day", Ring(3, 4, stays=False, days=10), looks=10, found=0.9, before="42 → 31"),
    RingScenario("drip of 3 × 4 a day, the same", Ring(3, 4, stays=True, days=10), looks=10, found=0.9),
    RingScenario("drip of 8 new × 3 a day", Ring(8, 3, stays=False, days=10), looks=10, found=0.9, before="75 → 9"),
    RingScenario(
        "drip of one network, 8 new × 5 a day", Ring(8, 5, stays=False, days=10, networks=1), looks=10, found=0.9,
        before="102 → 19",
    ),
    RingScenario("one network, 8 × 5 on one day", Ring(8, 5, stays=True, days=1, networks=1), found=0.9),
]  # fmt: skip


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
# Crowds of which none may be held.
CROWDS = {
    "class with a shared taste of .5": Crowd(40, 10, taste=0.5),
    "course of 40 two-week-old accounts, shared taste of .5": Crowd(40, 10, taste=0.5, waited=14),
    "40 fans of one model (174 points), old accounts": Crowd(40, 10, liking=1.0, waited=14),
    "40 who turn to a new model on its first day": Crowd(40, 10, seeks=True, is_new=True, taste=0.5, waited=14),
    "40 who limit the draw to five models, shared taste of .5": Crowd(40, 10, taste=0.5, waited=14, only_models=5),
}
# What honest people and rings share: old accounts whose battles are all with one model, and those who vote on all
# battles and favour one model.
LIKINGS = (0.25, 0.5, 1.0, 1.5)
RECOGNITIONS = (0.2, 0.4, 0.6, 0.8)
SEEKING, DRAWN = Crowd(20, 20, seeks=True, waited=14), Crowd(20, 20, waited=14)
SEEKING_RING, DRAWN_RING = _OLD, replace(_OLD, is_drawn=True)
# Model-days of honest people without a ring found: at most one false alarm in so many.
MODEL_DAYS = 6000
LLMFAO_ORDERS = 10
LLMFAO_BEFORE = "33 %"
