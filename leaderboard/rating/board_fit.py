"""Fit of a board; groups of models that met are fitted separately."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse.csgraph import connected_components

from leaderboard.rating.bradley_terry import POINTS, Flags, Floats, Indices, Start, Tally
from leaderboard.rating.clustering import VoterVotes
from leaderboard.rating.group_fit import fit_group
from leaderboard.rating.intervals import Z
from leaderboard.rating.pairs import ListedPairs
from leaderboard.rating.side_bias import SideBias, estimate_side_bias


@dataclass(frozen=True)
class Board:
    """Fit of a board; arrays of shape (models,), scores and bounds in points.

    NaN for a model that is not listed: too few votes, or votes that place it nowhere. Where a model won
    or lost everything, a bound is ±inf and the score comes only from the virtual ties: show the other bound. Scores of
    different groups cannot be compared.
    """

    score: Floats
    low: Floats
    high: Floats
    listed: Flags
    established: Flags
    # Numbered by votes: group 0 has most.
    group: Indices
    # Shape (models, models), points²; 0 between groups.
    covariance: Floats
    # DEFF: factor on the variance for voters' own tastes; 1 without voters.
    design_effects: Floats
    # Shape (groups,): dispersion of the votes between established models, or of all where none is established.
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
    """Fit wins[i, j] of i over j and symmetric ties, shape (models, models), ignoring sides. See fit_tally."""
    return fit_tally(
        Tally.from_wins(wins, ties),
        voters=voters,
        listed_from=listed_from,
        established_from=established_from,
        kappa=kappa,
        offset=offset,
    )


@dataclass(frozen=True)
class DesignEffects:
    """DEFFs of an earlier fit, for a fit without voters. scores: shape (models,)."""

    scores: Floats
    side_bias: float = 1.0


@dataclass(frozen=True)
class SideBiasFit:
    """A board with its side bias, None without an estimate.

    corrected: whether the scores are corrected for the bias, tally.bias.
    """

    board: Board
    side_bias: SideBias | None
    corrected: bool
    tally: Tally


def fit_side_counts(
    counts: Floats | Indices,
    *,
    listed: ListedPairs | None = None,
    voters: VoterVotes | None = None,
    design_effects: DesignEffects | None = None,
    listed_from: int = 5,
    established_from: int = 30,
    kappa: float = 0.5,
    offset: float = 1500,
) -> SideBiasFit:
    """Fit counts[outcome, left, right] (left won, right won, tie, both bad), shape (4, models, models).

    With `listed` pairs, fit counts[outcome, pair]. See fit_tally.

    The side bias is corrected where |z| > 3. Without `voters`, `design_effects` are used.
    """
    tally, voters = Tally.from_side_counts(counts, listed=listed), voters and voters.renumbered()
    side_bias = estimate_side_bias(tally, voters, deff=design_effects.side_bias if design_effects else 1.0)
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
        deff=design_effects.scores if design_effects else None,
        start=side_bias.start if side_bias else None,
    )
    if side_bias:  # a start keeps matrices
        side_bias = SideBias(side_bias.points, side_bias.se, side_bias.design_effect, Start(side_bias.start.theta))
    return SideBiasFit(board, side_bias, corrected, tally)


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
    start: Start | None = None,
) -> Board:
    """Fit established models by maximum likelihood, then the others, which move no established score.

    kappa: virtual ties with an average opponent that keep preliminary scores finite. offset: mean score of a group's
    established models, or of all where none is established. voters: give the design effects; without them `deff` does,
    shape (models,). bias_variance: of tally.bias, natural-log units.
    """
    counts = tally.votes_per_model
    group = group_numbers(tally)
    theta, at_least, at_most = np.zeros_like(counts), np.full_like(counts, np.nan), np.full_like(counts, np.nan)
    covariance, effects = np.zeros((tally.models, tally.models)), np.ones_like(counts)
    established, phi = np.zeros(len(counts), dtype=bool), np.ones(group.max(initial=-1) + 1)
    for number in np.unique(group[counts > 0]):
        members = np.flatnonzero(group == number)
        is_only_group = len(members) == len(counts)
        fit = fit_group(
            tally if is_only_group else tally.subset(members),
            voters and (voters if is_only_group else voters.among_models(members, size=len(counts))),
            established_from=established_from,
            kappa=kappa,
            bias_variance=bias_variance,
            deff=np.ones(len(members)) if deff is None else deff[members],
            start=start if start is None or is_only_group else Start(start.theta[members]),
        )
        if is_only_group:
            covariance = fit.covariance
        else:
            covariance[np.ix_(members, members)] = fit.covariance
        theta[members], at_least[members], at_most[members] = fit.theta, fit.at_least, fit.at_most
        effects[members], established[members], phi[number] = fit.design_effects, fit.established, fit.phi
    half = Z * np.sqrt(np.diag(covariance))
    low = np.where(np.isnan(at_most), np.where(np.isnan(at_least), theta - half, at_least), -np.inf)
    high = np.where(np.isnan(at_least), np.where(np.isnan(at_most), theta + half, at_most), np.inf)
    is_unbounded = np.isinf(low) & np.isinf(high)
    listed = ((counts >= listed_from) | established) & ~is_unbounded
    nan_if_unlisted = np.where(listed, 0.0, np.nan)
    return Board(
        score=offset + POINTS * theta + nan_if_unlisted,
        low=offset + POINTS * low + nan_if_unlisted,
        high=offset + POINTS * high + nan_if_unlisted,
        listed=listed,
        established=established,
        group=group,
        covariance=np.multiply(covariance, POINTS**2, out=covariance),
        design_effects=effects,
        phi=phi,
    )


def group_numbers(tally: Tally) -> Indices:
    """Return each model's connected component, numbered by votes, most first (then by models, then by index)."""
    if not tally.components.any():  # nearly always; the fit needs them, too
        return np.zeros(tally.models, dtype=np.int64)
    met = tally.pairs.links(tally.cells > 0, tally.cells > 0)
    _, label = connected_components(met, directed=False)
    votes = np.bincount(label, weights=tally.votes_per_model)
    order = np.lexsort((-np.bincount(label), -votes))
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.arange(len(order))
    groups: Indices = number[label]
    return groups
