"""Outcome probabilities of each vote by an honest person, from votes before it."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from leaderboard.rating.anomalies.earlier_fits import TIE, Forecast, Votes
from leaderboard.rating.bradley_terry import Flags, Floats, Indices

# An honest person's logit is θ_left − θ_right + u_left − u_right with tastes u ~ N(0, τ²), and their tie rate is ν ·
# 4pq with ν of their own. Both are learned from the voter's earlier votes: u by one Gaussian update per vote
# (Glickman 1999, "Parameter estimation in large dynamic paired comparison experiments"), ν by a Beta prior at the
# crowd's rate. τ and the prior's weight are those of a grid that predicted all voters' votes best before the block of
# the vote (Dawid 1984, "Statistical theory: the prequential approach").

Singles = NDArray[np.float32]
# A random choice among the four buttons, of which two are a tie.
BUTTONS = np.array([0.25, 0.25, 0.5])
# Share of votes assumed to be random: it limits the evidence of a single unlikely vote.
SLIP_RATE = 0.01
MAX_TIES = 0.9  # of the tie rate at which the weaker side would never win
# Sd of people's tastes, and of their discrimination: a factor on θ_left − θ_right with mean 1.
TASTES = (
    (0.0, 0.0), (0.2, 0.0), (0.35, 0.0), (0.5, 0.0), (0.7, 0.0), (0.35, 0.35), (0.5, 0.35), (0.7, 0.35), (1.0, 0.35)
)  # fmt: skip
# Votes that the crowd's tie rate weighs, and how many of the voter's last votes show their own.
ALWAYS = 1 << 40
TIE_WEIGHTS = (
    (256, ALWAYS), (64, ALWAYS), (16, ALWAYS), (8, ALWAYS), (4, ALWAYS), (2, ALWAYS), (8, 50), (4, 50), (8, 20), (4, 20)
)  # fmt: skip
# Choices until the crowd's votes decide. Those before them, with people more alike, must predict better by PROOF.
DEFAULT_TASTE, DEFAULT_TIE_WEIGHT = 2, 2
PROOF = np.log(1e4)
# A voter adds at most so much to or against a choice, so that a few do not decide for all.
MAX_VOICE = 1.0
STATE_SIZE = 1 << 21  # tastes in memory at a time


@dataclass(frozen=True)
class Expectation:
    """Expected votes of their voters; arrays of shape (votes,), NaN where a model is not established."""

    # Logit of the left side, flattened for its uncertainty.
    logit: Floats
    # ν of the voter's tie rate ν · 4pq.
    ties: Floats

    def subset(self, which: Flags | Indices) -> "Expectation":
        return Expectation(self.logit[which], self.ties[which])

    def probabilities(self, shift: float | Floats = 0.0) -> Floats:
        """Return P(LEFT, RIGHT, TIE), shape (votes, 3)."""
        p = expit(self.logit + shift)
        ties = np.minimum(self.ties * 4 * p * (1 - p), MAX_TIES * 2 * np.minimum(p, 1 - p))
        probabilities: Floats = np.column_stack([p - ties / 2, 1 - p - ties / 2, ties])
        probabilities += SLIP_RATE * (BUTTONS - probabilities)
        return probabilities


@dataclass(frozen=True)
class Crowd:
    """Differences of honest people: indices in TASTES and TIE_WEIGHTS."""

    taste: int = DEFAULT_TASTE
    tie_weight: int = DEFAULT_TIE_WEIGHT


@dataclass(frozen=True)
class Crowds:
    """The crowd as known before each vote; arrays of shape (votes,)."""

    taste: Indices
    tie_weight: Indices

    def before(self, vote: int) -> Crowd:
        return Crowd(int(self.taste[vote]), int(self.tie_weight[vote]))


def average_of(forecast: Forecast) -> Expectation:
    return Expectation(forecast.logit, forecast.ties)


def expect(votes: Votes, forecast: Forecast, *, models: int) -> tuple[Expectation, Crowds]:
    share, known = votes.share, np.isfinite(forecast.logit)
    # Single precision, because there is a row for each of TASTES.
    logits = [_logits_with_taste(votes, forecast, taste, models=models).astype(np.float32) for taste in TASTES]

    def score(logit: Singles) -> Floats:
        p = np.clip(expit(np.where(known, logit, 0).astype(np.float64)), 1e-6, 1 - 1e-6)
        log_score: Floats = known * (share * np.log(p) + (1 - share) * np.log(1 - p))
        return log_score

    taste = _best_before(votes.voter, map(score, logits), score(logits[DEFAULT_TASTE]), forecast.block, DEFAULT_TASTE)
    logit = np.choose(taste, logits).astype(np.float64)
    even = 4 * expit(logit) * expit(-logit)

    def score_ties(weight: tuple[int, int]) -> Floats:
        tied = np.clip(np.where(known, _own_ties(votes, forecast, logit, weight) * even, 0.5), 1e-6, 1 - 1e-6)
        log_score: Floats = known * np.where(votes.outcome == TIE, np.log(tied), np.log(1 - tied))
        return log_score

    default = score_ties(TIE_WEIGHTS[DEFAULT_TIE_WEIGHT])
    weight = _best_before(votes.voter, map(score_ties, TIE_WEIGHTS), default, forecast.block, DEFAULT_TIE_WEIGHT)
    ties = np.empty(len(votes))
    for number in np.unique(weight):
        chosen = weight == number
        ties[chosen] = _own_ties(votes, forecast, logit, TIE_WEIGHTS[number])[chosen]
    return Expectation(logit, ties), Crowds(taste, weight)


def expect_of(votes: Votes, forecast: Forecast, crowd: Crowd, *, models: int) -> Expectation:
    logit = _logits_with_taste(votes, forecast, TASTES[crowd.taste], models=models)
    return Expectation(logit, _own_ties(votes, forecast, logit, TIE_WEIGHTS[crowd.tie_weight]))


def _best_before(
    voter: Indices, scores: Iterable[Floats], default_scores: Floats, block: Indices, default: int
) -> Indices:
    """Return the row of `scores` with the largest sum over earlier blocks, for each vote."""
    order = np.argsort(voter, kind="stable")
    begin = np.flatnonzero(np.diff(voter[order], prepend=-1))
    lengths = np.diff(np.append(begin, len(voter)))
    blocks, sums = int(block.max(initial=-1)) + 1, []
    for row in scores:
        gained = (row - default_scores)[order]
        total = np.cumsum(gained)
        voice = np.clip(total - np.repeat((total - gained)[begin], lengths), -MAX_VOICE, MAX_VOICE)
        change = np.diff(voice, prepend=0.0)
        change[begin] = voice[begin]
        sums.append(np.append(0.0, np.bincount(block[order], change, minlength=blocks).cumsum()))
    table = np.stack(sums)
    table[:default] -= PROOF
    best: Indices = np.where(table.max(axis=0) <= 0, default, table.argmax(axis=0))[block]
    return best


def _logits_with_taste(votes: Votes, forecast: Forecast, taste: tuple[float, float], *, models: int) -> Floats:
    """Return logits with the voter's taste as earlier votes show it."""
    voter = np.unique(votes.voter, return_inverse=True)[1]
    order = np.argsort(voter, kind="stable")
    order = order[np.isfinite(forecast.logit[order])]
    number = np.bincount(voter[order], minlength=int(voter.max(initial=-1)) + 1)
    begin = np.cumsum(number) - number
    by_size = np.argsort(-number, kind="stable")
    by_size = by_size[number[by_size] > 0]
    logits = np.full(len(votes), np.nan)
    batch = max(1, STATE_SIZE // max(models, 1))
    for first in range(0, len(by_size), batch):
        voters = by_size[first : first + batch]
        _filter_tastes(votes, forecast, taste, order, begin[voters], number[voters], models, logits)
    return logits


def _filter_tastes(
    votes: Votes, forecast: Forecast, taste: tuple[float, float], order: Indices, begin: Indices, number: Indices,
    models: int, logits: Floats,
) -> None:  # fmt: skip
    """Write the logits of voters sorted by number of votes; a step is the t-th votes of all."""
    mean, variance = np.zeros(len(begin) * models), np.full(len(begin) * models, taste[0] ** 2)
    slope, slope_variance = np.ones(len(begin)), np.full(len(begin), taste[1] ** 2)
    row = np.arange(len(begin)) * models
    active, share = len(begin), votes.share
    for t in range(int(number[0])):
        while number[active - 1] <= t:
            active -= 1
        vote = order[begin[:active] + t]
        i, j = row[:active] + votes.left[vote], row[:active] + votes.right[vote]
        own_i, own_j, own_slope = variance[i], variance[j], slope_variance[:active]
        difference = forecast.logit[vote]
        centre = slope[:active] * difference + mean[i] - mean[j]
        spread = own_i + own_j + own_slope * difference**2 + forecast.variance[vote]
        # E σ(N(m, v)) ≈ σ(m / √(1 + πv/8)), MacKay (1992).
        flattened = centre / np.sqrt(1 + np.pi / 8 * spread)
        logits[vote] = flattened
        p = expit(flattened)
        information = p * (1 - p)
        gain = 1 / (1 + spread * information)
        step = gain * (share[vote] - p)
        mean[i] += own_i * step
        mean[j] -= own_j * step
        slope[:active] += own_slope * difference * step
        variance[i] -= own_i**2 * information * gain
        variance[j] -= own_j**2 * information * gain
        slope_variance[:active] -= (own_slope * difference) ** 2 * information * gain


def _own_ties(votes: Votes, forecast: Forecast, logit: Floats, weight: tuple[int, int]) -> Floats:
    """Return each vote's ν."""
    even = np.nan_to_num(4 * expit(logit) * expit(-logit))
    known = np.isfinite(forecast.logit)
    order = np.argsort(votes.voter, kind="stable")
    tied_before = _sums_before(votes.voter[order], ((votes.outcome == TIE) & known)[order], weight[1])
    even_before = _sums_before(votes.voter[order], even[order], weight[1])
    ties = np.empty(len(votes))
    ties[order] = (weight[0] * forecast.ties[order] + tied_before) / (weight[0] + even_before)
    return np.minimum(ties, 1.0)


def _sums_before(voter: Indices, values: Floats, last: int) -> Floats:
    """Return the sum of a voter's `last` values before each one; `voter` is sorted."""
    total = np.append(0.0, np.cumsum(values))
    begin = np.flatnonzero(np.diff(voter, prepend=np.nan) != 0)
    start = np.repeat(begin, np.diff(np.append(begin, len(voter))))
    here = np.arange(len(voter))
    sums: Floats = total[here] - total[np.maximum(start, here - last)]
    return sums
