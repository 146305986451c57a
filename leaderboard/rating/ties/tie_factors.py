"""Rao–Kupper model of ties (1967) around given expected shares, with a tie factor exp(η) per model.

Notation: p expected share of the left, q = 1 − p; u half the probability of a tie, so the left wins with p − u.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from leaderboard.rating.bradley_terry import Floats, Tally
from leaderboard.rating.pairs import symmetrized

_MAX_STEPS = 50
_TOLERANCE = 1e-6
# Bounds of log η: from hardly any ties to nearly as many as the shares allow.
_LOWEST, _HIGHEST = -7.0, 2.0
# Standard deviation of the prior of log η around a common value.
_PRIOR_SD = 0.5


class Forecast(NamedTuple):
    """Probabilities of the outcomes, shape (models, models); rows are the left models."""

    left: Floats
    right: Floats
    tie: Floats


def forecast(p: Floats, eta: Floats) -> Forecast:
    """Return probabilities, at least 1e-12, with expected shares p; eta: log tie factors, shape (models,)."""
    # Rao–Kupper's model says logit(p − u) + logit(q − u) = −2 (η_i + η_j), a quadratic equation in u.
    slope = np.tanh(eta[:, None] + eta)
    tie = (1 - np.sqrt(1 - 4 * slope**2 * p * (1 - p))) / slope
    return Forecast(*(np.maximum(share, 1e-12) for share in (p - tie / 2, 1 - p - tie / 2, tie)))


def fit_tie_factors(tally: Tally, p: Floats, *, common: bool = False) -> Floats:
    """Return η, shape (models,), given the expected shares p; common: one value for all models."""
    # The prior of log η holds models with few votes near the common value.
    models = len(p)
    everyone = np.ones((models, 1))
    level = _maximize(tally, p, np.full(models, -1.0), basis=everyone, center=None)
    if common:
        return np.exp(level)
    return np.exp(_maximize(tally, p, level, basis=np.eye(models), center=level))


def _maximize(tally: Tally, p: Floats, log_eta: Floats, *, basis: Floats, center: Floats | None) -> Floats:
    """Return log η by Fisher scoring in the space of `basis`, shape (models, parameters)."""
    precision = 0.0 if center is None else _PRIOR_SD**-2
    for _ in range(_MAX_STEPS):
        gradient, information = _score(tally, p, log_eta)
        gradient = basis.T @ (gradient - precision * (log_eta - (0 if center is None else center)))
        information = basis.T @ (information + (precision + 1e-9) * np.eye(len(p))) @ basis
        step = np.clip(basis @ cho_solve(cho_factor(information), gradient), -1, 1)
        following = np.clip(log_eta + step, _LOWEST, _HIGHEST)
        if np.abs(following - log_eta).max() <= _TOLERANCE:
            return following
        log_eta = following
    return log_eta


def _score(tally: Tally, p: Floats, log_eta: Floats) -> tuple[Floats, Floats]:
    """Return gradient and expected information of the log-likelihood in log η."""
    eta = np.exp(log_eta)
    won, lost, tied = forecast(p, eta)
    # Change of half the tie's probability with η_i + η_j.
    change = 2 / (1 / (won * (1 - won)) + 1 / (lost * (1 - lost)))
    residual = change * (2 * tally.tied / tied - tally.won / won - tally.lost / lost)
    weight = symmetrized(tally.cells * change**2 * (1 / won + 1 / lost + 4 / tied))
    gradient: Floats = eta * symmetrized(residual).sum(axis=1)
    return gradient, eta[:, None] * (weight + np.diag(weight.sum(axis=1))) * eta
