"""Fit of one connected group: established models, then the others against them."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, log_expit

from leaderboard.rating.bradley_terry import (
    CONVERGED,
    Flags,
    Floats,
    Start,
    Tally,
    fit_strengths,
    inverse,
    inverse_on_contrasts,
    maximize,
    reachable,
)
from leaderboard.rating.clustering import VoterVotes, design_effects
from leaderboard.rating.intervals import uncertainty

_LOG_LEVEL = np.log(0.025)


@dataclass(frozen=True)
class GroupFit:
    """Fit of a group; arrays of shape (models,), natural-log units; covariance: shape (models, models).

    at_least, at_most: one-sided bounds, NaN where the interval is finite (see one_sided_bounds). phi: dispersion of the
    votes between established models.
    """

    theta: Floats
    covariance: Floats
    established: Flags
    at_least: Floats
    at_most: Floats
    phi: float
    design_effects: Floats


def fit_group(
    tally: Tally,
    voters: VoterVotes | None,
    *,
    established_from: int,
    kappa: float,
    bias_variance: float,
    deff: Floats,
    start: Start | None,
) -> GroupFit:
    """Every model needs a vote. deff: design effects without `voters`."""
    size = tally.models
    established = established_models(tally, min_votes=established_from)
    free = ~established
    theta, covariance, bias_response = np.zeros(size), np.zeros((size, size)), np.zeros(size)
    deff, phi = deff.copy(), 1.0
    if established.any():
        inner = tally if established.all() else tally.subset(established)
        if start and start.p is not None and start.spread is not None and established.all() and _has_bias(start, tally):
            theta, p, spread, forms = start.theta - start.theta.mean(), start.p, start.spread, start.forms
        else:
            theta[established] = fit_strengths(inner, start=start.theta[established] if start else None)
            p = inner.win_probabilities(theta[established])
            spread, forms = inverse_on_contrasts(inner.information(p), overwrite=True), None
        if voters:
            votes = voters.among_models(np.flatnonzero(established), size=size)
            deff[established] = design_effects(votes, inner.pairs.matrix(p), spread, free=np.ones(len(p), dtype=bool))
        inner_uncertainty = uncertainty(inner, p, spread, deff=deff[established], forms=forms)
        phi = inner_uncertainty.phi
        if bias_variance:
            bias_response[established] = -spread @ _bias_cross_information(inner, p)
        del spread, start, forms
        if free.any():
            covariance[np.ix_(established, established)] = inner_uncertainty.covariance
        else:
            covariance = inner_uncertainty.covariance
        del inner_uncertainty
    if free.any():
        theta = maximize(tally, free=free, start=theta, kappa=kappa)
        p = tally.win_probabilities(theta)
        information = tally.information(p)[free]
        spread = _inverse_information(information, theta, free=free, kappa=kappa)
        if not established.any():
            # Only differences are identified: centring keeps the variance of the common level out of each score.
            centring = np.eye(size) - 1 / size
            theta, spread = centring @ theta, centring @ spread @ centring
        if voters:
            deff[free] = design_effects(voters, tally.pairs.matrix(p), spread, free=free)[free]
        own = uncertainty(tally, p, spread, deff=deff)
        if not established.any():
            phi = own.phi
        # Derivative of the free scores with respect to the established ones. information[i, j] is −Σ n p q there.
        response = -spread[np.ix_(free, free)] @ information
        moved = response @ covariance
        within = own.covariance[np.ix_(free, free)] + moved @ response.T
        covariance[free] += moved
        covariance[:, free] += moved.T
        covariance[np.ix_(free, free)] += within
        bias_response[free] += response @ bias_response - spread[free] @ _bias_cross_information(tally, p)
    if bias_variance:
        _add_outer(covariance, bias_response, times=bias_variance)
    at_least, at_most = np.full((2, size), np.nan)
    if free.any():
        anchor = established if established.any() else _largest_component(tally)
        at_least, at_most = one_sided_bounds(tally.effective_wins, theta, anchor=anchor, free=free)
    return GroupFit(theta, covariance, established, at_least, at_most, phi, deff)


def _has_bias(start: Start, tally: Tally) -> bool:
    return abs(start.bias - tally.bias) <= CONVERGED


def established_models(tally: Tally, *, min_votes: int) -> Flags:
    """Return the largest strongly connected set in which each model has `min_votes` votes.

    Votes and edges ("i won or tied against j") count inside the set only, so removing one model can disqualify
    another: repeated until stable. Of components of equal size, the one with more votes.
    """
    indices, inner = np.arange(tally.models), tally
    while len(indices):
        kept = inner.votes_per_model >= min_votes
        # Models with few votes go first: many newcomers that beat each other must not outnumber the established.
        if kept.all():
            kept = _largest_component(inner)
            if kept.all():
                break
        indices, inner = indices[kept], inner.subset(kept)
    established = np.zeros(tally.models, dtype=bool)
    established[indices] = len(indices) > 1
    return established


def _largest_component(tally: Tally) -> Flags:
    component = tally.components
    sizes, votes = np.bincount(component), np.bincount(component, weights=tally.votes_per_model)
    is_largest: Flags = component == max(range(len(sizes)), key=lambda number: (sizes[number], votes[number]))
    return is_largest


def _inverse_information(information: Floats, theta: Floats, *, free: Flags, kappa: float) -> Floats:
    """Return the inverse information of the free models, 0 elsewhere; information: their rows."""
    virtual = expit(theta[free])
    within = information[:, free] + np.diag(kappa * virtual * (1 - virtual))
    spread = np.zeros((len(free), len(free)))
    spread[np.ix_(free, free)] = inverse(within)
    return spread


def _bias_cross_information(tally: Tally, p: Floats) -> Floats:
    """Return the cross information of the strengths and β, shape (models,)."""
    weight = tally.expected_squares(p)
    cross: Floats = tally.pairs.row_sums(weight) - tally.pairs.column_sums(weight)
    return cross


def _add_outer(matrix: Floats, vector: Floats, *, times: float) -> None:
    # Rows are added one by one, which needs no second matrix.
    for row, value in zip(matrix, times * vector, strict=True):
        row += value * vector


def one_sided_bounds(wins: Floats, theta: Floats, *, anchor: Flags, free: Flags) -> tuple[Floats, Floats]:
    """Return (at_least, at_most) of infinite strengths, natural-log units, shape (models,): NaN where one is finite.

    wins[i, j]: wins of i over j, ties ½. A set of models that won every vote against the others is shifted by t to
    where such a record has a probability of 2.5 %: Σ W log σ(θ_winner + t − θ_loser) = ln 0.025; losing every vote is
    the mirror image. anchor: the set that others are measured against; a model connected to it in neither direction
    has −∞ and ∞.
    """
    won_all = free & (wins.sum(axis=0) == 0) & (wins.sum(axis=1) > 0)
    lost_all = free & (wins.sum(axis=1) == 0) & (wins.sum(axis=0) > 0)
    links, reference = wins > 0, int(np.argmax(anchor))
    is_unbounded_above = free & ~reachable(links, reference)
    is_unbounded_below = free & ~reachable(links.T, reference)
    is_unplaced = is_unbounded_above & is_unbounded_below & ~won_all & ~lost_all
    at_least, at_most = np.where(is_unplaced, -np.inf, np.nan), np.where(is_unplaced, np.inf, np.nan)
    for model in np.flatnonzero(won_all | (is_unbounded_above & ~is_unbounded_below)):
        at_least[model] = _lower_bound(int(model), wins, theta)
    for model in np.flatnonzero(lost_all | (is_unbounded_below & ~is_unbounded_above)):
        at_most[model] = -_lower_bound(int(model), wins.T, -theta)
    return at_least, at_most


def _lower_bound(model: int, wins: Floats, theta: Floats) -> float:
    winners = reachable(wins.T > 0, model)
    won = wins[np.ix_(winners, ~winners)]
    ahead = (theta[winners][:, None] - theta[~winners])[won > 0]
    won = won[won > 0]
    shift = brentq(
        lambda t: won @ log_expit(ahead + t) - _LOG_LEVEL, -ahead.max() - 10, -ahead.min() + 10 + np.log(won.sum())
    )
    return float(theta[model] + shift)
