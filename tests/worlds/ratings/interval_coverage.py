"""Coverage of intervals and rank ranges in simulated arenas."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.random import Generator

from leaderboard.rating.board_fit import Board, fit_board
from leaderboard.rating.bradley_terry import POINTS, Floats, maximum_likelihood
from leaderboard.rating.clustering import VoterVotes
from leaderboard.rating.ranks import rank_board
from tests.worlds.ratings.simulations import (
    Ballots,
    arena,
    arena_with_tastes,
    cast,
    newcomer_pairs,
    random_pairs,
    star_pairs,
    strengths,
    uneven_pairs,
)

TASTE = 0.35


@dataclass(frozen=True)
class Design:
    """Simulation design. newcomers: votes of each newcomer; voters: number of voters with own tastes."""

    name: str
    models: int
    votes: int
    newcomers: tuple[int, ...] = ()
    pairs: Callable[..., Any] = random_pairs
    tie_share: float = 0.3
    spread: float = 0.8
    voters: int | None = None


DESIGNS = [
    Design("small", 10, 400),
    Design("small, votes on some models only", 12, 600, pairs=uneven_pairs),
    Design("one model meets all", 8, 400, pairs=star_pairs),
    Design("none established", 10, 100),
    Design("far apart", 12, 600, spread=1.6),
    Design("no ties", 12, 600, tie_share=0),
    Design("mostly ties", 12, 600, tie_share=0.8),
    Design("larger", 30, 3000, pairs=uneven_pairs),
    Design("newcomers", 10, 600, newcomers=(5, 5, 8, 8, 12, 12, 25, 25)),
    Design("newcomers in a million", 20, 1_000_000, newcomers=(5, 5, 5, 12, 12, 12, 40, 40, 40)),
    Design("tastes, few voters", 12, 2000, voters=50),
    Design("tastes, many voters", 12, 2000, voters=500),
    Design("tastes, many votes each", 20, 20_000, voters=300),
    Design("tastes and newcomers", 12, 2000, newcomers=(8, 20, 40), voters=100),
]


@dataclass
class Coverage:
    """Coverage by kind of model ("established", or a newcomer's votes): whether each interval covers the truth.

    ranges: whether all rank ranges of an arena cover the true ranks simultaneously.
    """

    held: dict[str, list[bool]] = field(default_factory=lambda: defaultdict(list))
    ranges: list[bool] = field(default_factory=list)

    def share(self, kind: str) -> float:
        return float(np.mean(self.held[kind]))


def coverage(design: Design, *, repetitions: int, seed: int) -> Coverage:
    rng, result = np.random.default_rng(seed), Coverage()
    for _ in range(repetitions):
        theta = strengths(rng, design.models + len(design.newcomers), spread=design.spread)
        theta -= theta[: design.models].mean()
        board, truth = _fit_design(rng, design, theta), _limit_of_many_votes(theta, design)
        anchors = board.established if board.established.any() else board.listed
        points = 1500 + POINTS * (truth - truth[anchors].mean())
        for kind, model in _kinds(design, board):
            if board.listed[model]:
                result.held[kind].append(bool(board.low[model] <= points[model] <= board.high[model]))
        if board.established.any():
            result.ranges.append(_ranges_hold(board, truth))
    return result


def _fit_design(rng: Generator, design: Design, theta: Floats) -> Board:
    if design.voters:
        ballots = arena_with_tastes(rng, theta[: design.models], design.votes, voters=design.voters, taste=TASTE)
    else:
        ballots = arena(rng, theta[: design.models], design.votes, pairs=design.pairs, tie_share=design.tie_share)
    for newcomer, votes in enumerate(design.newcomers, start=design.models):
        left, right = newcomer_pairs(rng, newcomer=newcomer, among=design.models, votes=votes)
        own = rng.integers(design.voters, size=votes) if design.voters else None
        logit = theta[left] - theta[right]
        ballots = ballots.extended_by(cast(rng, left, right, logit, tie_share=design.tie_share, voter=own))
    return fit_board(*ballots.counts(len(theta)), voters=voter_votes_of(ballots) if design.voters else None)


def voter_votes_of(ballots: Ballots) -> VoterVotes:
    return VoterVotes(
        ballots.voter, ballots.left, ballots.right, ballots.outcome, np.ones(len(ballots.left), dtype=int)
    )


def _limit_of_many_votes(theta: Floats, design: Design) -> Floats:
    """Return the strengths that infinitely many votes would give: tastes flatten the average shares slightly."""
    if not design.voters:
        return theta
    node, weight = np.polynomial.hermite_e.hermegauss(31)
    gap = (theta[:, None] - theta)[..., None] + TASTE * np.sqrt(2) * node
    shares = (1 / (1 + np.exp(-gap))) @ (weight / weight.sum())
    np.fill_diagonal(shares, 0)
    return maximum_likelihood(shares, np.zeros_like(shares))


def _kinds(design: Design, board: Board) -> Iterator[tuple[str, int]]:
    for model in range(design.models):
        yield ("established" if board.established[model] else "preliminary"), model
    for newcomer, votes in enumerate(design.newcomers, start=design.models):
        yield f"{votes} votes", newcomer


def _ranges_hold(board: Board, truth: Floats) -> bool:
    ranks, known = rank_board(board), board.established
    true = 1 + (truth[known][:, None] < truth[known]).sum(axis=1)
    return bool(((ranks.best[known] <= true) & (true <= ranks.worst[known])).all())
