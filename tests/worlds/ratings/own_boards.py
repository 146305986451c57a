"""People with own tastes in a simulated arena, and how well their own boards find them."""

from collections import defaultdict
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.random import Generator

from leaderboard.rating.board_fit import DesignEffects, fit_side_counts
from leaderboard.rating.bradley_terry import POINTS, Floats
from leaderboard.rating.clustering import VoterVotes
from leaderboard.rating.counts import Counts, count_votes
from leaderboard.rating.personal.own_scores import OwnScores, fit_own_scores
from leaderboard.rating.personal.taste_spread import USUAL_SD, taste_facts
from tests.worlds.ratings.simulations import Ballots, cast, random_pairs, strengths

OWN_VOTES = (5, 20, 100)
PEOPLE = 6  # of each kind in an arena


@dataclass(frozen=True)
class OwnBoardDesign:
    """votes, voters: of everyone else. ties: sd between people of the log of their readiness for ties.

    known_sd: whether the board is told the true spread instead of estimating it.
    """

    name: str
    models: int = 12
    votes: int = 3000
    voters: int = 100
    sd: float = USUAL_SD
    tie_share: float = 0.3
    ties: float = 0.0
    known_sd: bool = False


DESIGNS = (
    OwnBoardDesign("usual"),
    OwnBoardDesign("few others", models=6, votes=300, voters=12),
    OwnBoardDesign("many models", models=40, votes=20_000, voters=500),
    OwnBoardDesign("weak tastes", sd=0.15, votes=10_000, voters=500),
    OwnBoardDesign("strong tastes", sd=0.7, votes=10_000, voters=500),
    OwnBoardDesign("many ties, readiness of its own", tie_share=0.6, ties=0.6),
    OwnBoardDesign("no ties", tie_share=0.0),
)


@dataclass
class OwnBoardCoverage:
    """Results by number of own votes: whether intervals hold the person's scores, and tastes.

    far: of people all of whose tastes are two standard deviations from 0. plain: whether a model is marked as different
    for people without tastes; marked: same for people from the prior; wrong: whether such a mark has the wrong sign.
    """

    scores: dict[int, list[bool]] = field(default_factory=lambda: defaultdict(list))
    tastes: dict[int, list[bool]] = field(default_factory=lambda: defaultdict(list))
    far: dict[int, list[bool]] = field(default_factory=lambda: defaultdict(list))
    plain: dict[int, list[bool]] = field(default_factory=lambda: defaultdict(list))
    wrong: dict[int, list[bool]] = field(default_factory=lambda: defaultdict(list))
    marked: dict[int, list[bool]] = field(default_factory=lambda: defaultdict(list))
    spreads: list[float] = field(default_factory=list)


def own_board_coverage(design: OwnBoardDesign, *, repetitions: int, seed: int) -> OwnBoardCoverage:
    rng, found = np.random.default_rng(seed), OwnBoardCoverage()
    for _ in range(repetitions):
        _add_arena(rng, design, found)
    return found


def _add_arena(rng: Generator, design: OwnBoardDesign, found: OwnBoardCoverage) -> None:
    theta, size = strengths(rng, design.models), design.models
    rate = rng.pareto(1.2, design.voters) + 1
    voter = rng.choice(design.voters, size=design.votes, p=rate / rate.sum())
    tastes = rng.normal(0, design.sd, (design.voters, size))
    vote = partial(_votes, rng, theta, tie_share=design.tie_share)
    readiness = np.exp(rng.normal(0, design.ties, design.voters))
    others = vote(tastes, voter, readiness)
    people = [
        (kind, n, own)
        for n in OWN_VOTES
        for kind, draw in (
            ("prior", lambda: rng.normal(0, design.sd, size)),
            ("far", lambda: 2 * design.sd * rng.choice([-1.0, 1.0], size)),
            ("plain", lambda: np.zeros(size)),
        )
        for own in (draw() for _ in range(PEOPLE))
    ]
    ones = np.ones(design.votes, dtype=np.int64)
    voters = VoterVotes(others.voter, others.left, others.right, others.outcome, ones)
    site = fit_side_counts(_counts(others, size).n, voters=voters)
    sd = design.sd if design.known_sd else taste_facts(voters, site, offset=1500)["sd"] / POINTS
    found.spreads.append(sd)
    effects = DesignEffects(site.board.design_effects)
    for kind, n, own in people:
        ready = np.exp(rng.normal(0, design.ties, 1))
        ballots = vote(own[None, :], np.zeros(n, dtype=np.int64), ready)
        counts = _counts(ballots, size)
        fitted = fit_own_scores(
            _counts(others, size).plus(counts), counts, counted=counts, sd=sd, design_effects=effects
        )
        _add_person(found, fitted, theta, own, kind=kind, n=n)


def _votes(
    rng: Generator, theta: Floats, tastes: Floats, voter: np.ndarray, readiness: Floats, *, tie_share: float
) -> Ballots:
    left, right = random_pairs(rng, len(theta), len(voter))
    logit = theta[left] - theta[right] + tastes[voter, left] - tastes[voter, right]
    return cast(rng, left, right, logit, tie_share=np.minimum(tie_share * readiness[voter], 1.0), voter=voter)


def _counts(ballots: Ballots, models: int) -> Counts:
    names = [f"m{number:03}" for number in range(models)]
    return count_votes(names, ballots.left, ballots.right, ballots.outcome, np.ones(len(ballots.left), dtype=np.int64))


def _add_person(found: OwnBoardCoverage, fitted: OwnScores, theta: Floats, own: Floats, *, kind: str, n: int) -> None:
    truth = 1500 + POINTS * (theta + own)
    for model in np.flatnonzero(np.isfinite(fitted.score)):
        holds = bool(fitted.low[model] <= truth[model] <= fitted.high[model])
        taste = POINTS * own[model]
        holds_taste = bool(fitted.taste_low[model] <= taste <= fitted.taste_high[model])
        mark = np.sign(fitted.taste_low[model]) + np.sign(fitted.taste_high[model])
        if kind == "prior":
            found.scores[n].append(holds)
            found.tastes[n].append(holds_taste)
            found.marked[n].append(bool(mark))
            if mark:
                found.wrong[n].append(bool(mark * taste < 0))
        elif kind == "far":
            found.far[n].append(holds)
        else:
            found.plain[n].append(bool(mark))
