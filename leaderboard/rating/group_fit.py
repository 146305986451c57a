"""The fit of models that met each other: established ones among themselves, then the others beside them."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit

from leaderboard.rating.bradley_terry import (
    Flags,
    Floats,
    Tally,
    climb,
    inverse_on_contrasts,
    laplacian,
    likeliest,
    strong_pieces,
)
from leaderboard.rating.clustering import VoterVotes, inflation
from leaderboard.rating.intervals import uncertainty
from leaderboard.rating.one_sided import open_ends


@dataclass(frozen=True)
class GroupFit:
    """Arrays of shape (models,), natural-log units; covariance: shape (models, models).

    at_least, at_most: NaN where the end is finite (see open_ends). phi: of the votes between established models.
    """

    theta: Floats
    covariance: Floats
    established: Flags
    at_least: Floats
    at_most: Floats
    phi: float
    inflation: Floats


def fit_group(
    tally: Tally,
    voters: VoterVotes | None,
    *,
    established_from: int,
    kappa: float,
    bias_variance: float,
    deff: Floats,
    start: Floats | None,
) -> GroupFit:
    """Every model must have a vote. The mean strength of the established (of all, where none is) is 0.

    deff: shape (models,), what is believed of voters' tastes where there are no `voters` to tell.
    """
    size = len(tally.won)
    established = established_models(tally, at_least=established_from)
    free = ~established
    theta, covariance, follows = np.zeros(size), np.zeros((size, size)), np.zeros(size)
    deff, phi = deff.copy(), 1.0
    if established.any():
        inner = tally if established.all() else tally.among(established)
        theta[established] = likeliest(inner, start=None if start is None else start[established])
        p = inner.chances(theta[established])
        spread = inverse_on_contrasts(laplacian(inner.information(p)))
        if voters:
            everybody = np.ones(len(p), dtype=bool)
            deff[established] = inflation(
                voters.among(np.flatnonzero(established), size=size), p, spread, free=everybody
            )
        known = uncertainty(inner, p, spread, inflation=deff[established])
        covariance[np.ix_(established, established)], phi = known.covariance, known.phi
        follows[established] = -spread @ _pull_of_bias(inner, p)
    if free.any():
        theta = climb(tally, free=free, start=theta, kappa=kappa)
        p = tally.chances(theta)
        information = tally.information(p)
        spread = _spread_beside(information, theta, free=free, kappa=kappa)
        if not established.any():  # only differences are known: without this, the level's doubt would be everyone's
            centring = np.eye(size) - 1 / size
            theta, spread = centring @ theta, centring @ spread @ centring
        if voters:
            deff[free] = inflation(voters, p, spread, free=free)[free]
        own = uncertainty(tally, p, spread, inflation=deff)
        if not established.any():
            phi = own.phi
        moves = spread @ information  # how a free score follows the established ones
        moved = moves @ covariance
        covariance += own.covariance + moved + moved.T + moved @ moves.T
        follows += moves @ follows - spread @ _pull_of_bias(tally, p)
    covariance += bias_variance * np.outer(follows, follows)
    anchor = established if established.any() else _largest_of_one_piece(tally)
    at_least, at_most = open_ends(tally.taken, theta, anchor=anchor, free=free)
    return GroupFit(theta, covariance, established, at_least, at_most, phi, deff)


def established_models(tally: Tally, *, at_least: int) -> Flags:
    """The largest group in which everybody has `at_least` votes and can be reached from everybody.

    Votes are counted inside the group and an edge is "i took something from j" inside the group, so that
    leaving out one model can cost another its place: repeated until nobody leaves. Groups of equal size:
    the one with more votes.
    """
    places, inner = np.arange(len(tally.won)), tally
    while len(places):
        stays = inner.votes.sum(axis=1) >= at_least
        # Few votes first: a crowd of newcomers that beat each other must not outnumber the established.
        if stays.all():
            stays = _largest_of_one_piece(inner)
            if stays.all():
                break
        places, inner = places[stays], inner.among(stays)
    established = np.zeros(len(tally.won), dtype=bool)
    established[places] = len(places) > 1
    return established


def _largest_of_one_piece(tally: Tally) -> Flags:
    piece = strong_pieces(tally.taken)
    sizes, weight = np.bincount(piece), np.bincount(piece, weights=tally.votes.sum(axis=1))
    flags: Flags = piece == max(range(len(sizes)), key=lambda one: (sizes[one], weight[one]))
    return flags


def _spread_beside(information: Floats, theta: Floats, *, free: Flags, kappa: float) -> Floats:
    """Inverse information of the free models, shape (M, M); a fixed opponent's rows and columns are zero."""
    own = np.ix_(free, free)
    virtual = expit(theta[free])
    within = laplacian(information)[own] + np.diag(kappa * virtual * (1 - virtual))
    spread = np.zeros_like(information)
    spread[own] = cho_solve(cho_factor(within), np.eye(len(within)))
    return spread


def _pull_of_bias(tally: Tally, p: Floats) -> Floats:
    """The cross information of each strength and β: zero where everybody sat left as often as right."""
    weight = tally.cells * p * (1 - p)
    pull: Floats = weight.sum(axis=1) - weight.sum(axis=0)
    return pull
