"""One fit of a whole board: each group of models that met is fitted by itself."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse.csgraph import connected_components

from leaderboard.rating.bradley_terry import POINTS, Flags, Floats, Places, Tally, reached
from leaderboard.rating.clustering import VoterVotes
from leaderboard.rating.group_fit import fit_group
from leaderboard.rating.intervals import Z
from leaderboard.rating.side_bias import SideBias, estimate_side_bias


@dataclass(frozen=True)
class Board:
    """One fit of a board; arrays have shape (models,) where nothing else is said; scores and bounds are in points.

    A model that is not listed has NaN: too few votes, or votes that place it neither above nor below anything.
    One that won (lost) everything has no upper (lower) bound: ±inf; its score is then only what the virtual ties
    make of it, and the other bound is what to show. Scores of different groups cannot be compared.
    """

    score: Floats
    low: Floats
    high: Floats
    listed: Flags
    established: Flags
    # Separate groups are numbered by their votes: 0 has most.
    group: Places
    # (models, models), points²: what the intervals are made of; 0 between groups.
    covariance: Floats
    # DEFF: how much wider, in variance, voters' own tastes make the interval; 1 without voters.
    inflation: Floats
    # Shape (groups,): dispersion of the votes between established models (of all, where none is).
    phi: Floats

    @property
    def preliminary(self) -> Flags:
        return ~self.established


def fit_board(
    wins: Floats,
    ties: Floats,
    *,
    voters: VoterVotes | None = None,
    listed_from: int = 5,
    established_from: int = 30,
    kappa: float = 0.5,
    offset: float = 1500,
) -> Board:
    """fit_tally where seats do not matter: wins[i, j] of i over j; ties, symmetric; shape (models, models)."""
    return fit_tally(
        Tally.without_seats(wins, ties),
        voters=voters,
        listed_from=listed_from,
        established_from=established_from,
        kappa=kappa,
        offset=offset,
    )


@dataclass(frozen=True)
class Tastes:
    """What an earlier fit learned of voters' tastes, for one that does not see them: its DEFFs.

    inflation: shape (models,), that of the scores.
    """

    inflation: Floats
    of_side_bias: float = 1.0


@dataclass(frozen=True)
class SeatedFit:
    """A board, and what sitting left is worth (None where it cannot be told); `corrected`: the scores allow for it.

    tally: the votes as they were fitted, with the bias that was corrected.
    """

    board: Board
    side_bias: SideBias | None
    corrected: bool
    tally: Tally


def fit_seats(
    counts: Floats,
    *,
    voters: VoterVotes | None = None,
    tastes: Tastes | None = None,
    listed_from: int = 5,
    established_from: int = 30,
    kappa: float = 0.5,
    offset: float = 1500,
) -> SeatedFit:
    """fit_tally from counts[outcome, left, right] (left won, right won, tie, both bad), shape (4, models, models).

    The side bias is always estimated, and corrected only where it is beyond doubt: |z| > 3. `tastes` are believed
    where no voters are given.
    """
    tally, voters = Tally.of_seats(counts), voters and voters.numbered()
    side_bias = estimate_side_bias(tally, voters, inflation=tastes.of_side_bias if tastes else 1.0)
    corrected = side_bias is not None and side_bias.applies
    if side_bias and corrected:
        tally = replace(tally, bias=side_bias.theta)
    board = fit_tally(
        tally,
        voters=voters,
        listed_from=listed_from,
        established_from=established_from,
        kappa=kappa,
        offset=offset,
        bias_variance=side_bias.variance if side_bias and corrected else 0,
        deff=tastes.inflation if tastes else None,
        start=side_bias.strengths if side_bias else None,
    )
    return SeatedFit(board, side_bias, corrected, tally)


def fit_tally(
    tally: Tally,
    *,
    voters: VoterVotes | None = None,
    listed_from: int = 5,
    established_from: int = 30,
    kappa: float = 0.5,
    offset: float = 1500,
    bias_variance: float = 0,
    deff: Floats | None = None,
    start: Floats | None = None,
) -> Board:
    """Established models by maximum likelihood among themselves; then the others, with those held fixed.

    `kappa` virtual ties with an average opponent keep a preliminary model's score finite. Nothing a preliminary
    model does moves an established score. The mean of each group's established models (of all its models, where
    none is) is `offset`. With `voters`, intervals allow for their tastes; without, `deff` may say by how much, as an
    earlier fit's `inflation` did. `bias_variance` is that of tally.bias; `start` is where the
    search for established strengths begins. Both in natural-log units.
    """
    counts = tally.votes.sum(axis=1)
    group = separate_groups(tally)
    theta, at_least, at_most = np.zeros_like(counts), np.full_like(counts, np.nan), np.full_like(counts, np.nan)
    covariance, inflation = np.zeros_like(tally.won), np.ones_like(counts)
    established, phi = np.zeros(len(counts), dtype=bool), np.ones(group.max(initial=-1) + 1)
    for number in np.unique(group[counts > 0]):
        members = np.flatnonzero(group == number)
        alone = len(members) == len(counts)
        fit = fit_group(
            tally if alone else tally.among(members),
            voters and (voters if alone else voters.among(members, size=len(counts))),
            established_from=established_from,
            kappa=kappa,
            bias_variance=bias_variance,
            deff=np.ones(len(members)) if deff is None else deff[members],
            start=None if start is None else start[members],
        )
        theta[members], at_least[members], at_most[members] = fit.theta, fit.at_least, fit.at_most
        covariance[np.ix_(members, members)], inflation[members] = fit.covariance, fit.inflation
        established[members], phi[number] = fit.established, fit.phi
    half = Z * np.sqrt(np.diag(covariance))
    low = np.where(np.isnan(at_most), np.where(np.isnan(at_least), theta - half, at_least), -np.inf)
    high = np.where(np.isnan(at_least), np.where(np.isnan(at_most), theta + half, at_most), np.inf)
    nowhere = np.isinf(low) & np.isinf(high)
    listed = ((counts >= listed_from) | established) & ~nowhere
    unlisted = np.where(listed, 0.0, np.nan)
    return Board(
        score=offset + POINTS * theta + unlisted,
        low=offset + POINTS * low + unlisted,
        high=offset + POINTS * high + unlisted,
        listed=listed,
        established=established,
        group=group,
        covariance=POINTS**2 * covariance,
        inflation=inflation,
        phi=phi,
    )


def separate_groups(tally: Tally) -> Places:
    """Which models met, if only through others: numbered by votes (then models, then place), most first."""
    met = tally.votes > 0
    if not len(met) or reached(met, 0).all():
        return np.zeros(len(met), dtype=np.int64)
    _, label = connected_components(met, directed=False)
    votes = np.bincount(label, weights=tally.votes.sum(axis=1))
    order = np.lexsort((-np.bincount(label), -votes))
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.arange(len(order))
    groups: Places = number[label]
    return groups
