"""Detection of anomalous voters: one e-process per voter, valid however often it is inspected.

Null hypothesis: a voter's vote t on (i, j) falls left, right or tied with probabilities π_t, those of an honest person
with tastes of their own, from votes before it (rating.anomalies.expected_votes). A bet against it tilts each outcome o
by its share s(o) = 0, ½ or 1 in the suspected direction:

    L_t = exp(η s(o_t)) / Σ_o π_t(o) exp(η s(o))

Under the null, E[L_t | earlier votes] = 1 for any η and s fixed beforehand. So the product of L over a voter's votes
is a nonnegative martingale that starts at 1, and so is a mean of such products with fixed weights: E. By Ville's
inequality, P(E ever reaches 1/α) ≤ α: a voter whose E crosses 1/α is flagged, at any time of inspection.

Sources: Ville (1939); Ramdas, Grünwald, Vovk, Shafer, "Game-theoretic statistics and safe anytime-valid inference",
Statistical Science 38 (2023).
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from enum import StrEnum

import numpy as np

from leaderboard.rating.anomalies.earlier_fits import LEFT, RIGHT
from leaderboard.rating.anomalies.expected_votes import BUTTONS
from leaderboard.rating.bradley_terry import Flags, Floats, Indices

ALPHA = 1e-4
# Equal weights. For models also ± 3: support of a model that mostly wins is otherwise detected late.
TILTS = (-1.5, -0.75, 0.75, 1.5)
MODEL_TILTS = (-3.0, *TILTS, 3.0)
BLOCK_VOTES = 1 << 17  # votes processed at a time


class Anomaly(StrEnum):
    MODEL = "model"
    FAVOURITE = "favourite"
    TIES = "ties"
    CHANCE = "chance"


KINDS = list(Anomaly)
# Bets for and against each model (s is the model's share), for and against the favourite (s is the share of the
# likelier winner), for ties (s = 1 for a tie of either kind, beyond the voter's own earlier rate), and on random
# choice among the four buttons (L is the ratio of ¼, ¼ and ½ to π).
WEIGHTS = {Anomaly.MODEL: 1 / 2, Anomaly.FAVOURITE: 1 / 4, Anomaly.TIES: 1 / 8, Anomaly.CHANCE: 1 / 8}


@dataclass(frozen=True)
class VoterLog:
    """Votes grouped by voter, in order of casting; arrays of shape (votes, …).

    voter: 0, 0, …, 1, …, without gaps; left, right: indices of models; outcome: LEFT, RIGHT or TIE; probabilities:
    shape (votes, 3), π of each outcome, NaN where unknown: such a vote is no evidence.
    """

    voter: Indices
    left: Indices
    right: Indices
    outcome: Indices
    probabilities: Floats

    def subset(self, which: slice | Flags) -> "VoterLog":
        return VoterLog(*(getattr(self, field.name)[which] for field in fields(self)))


@dataclass(frozen=True)
class Verdicts:
    """Results of shape (voters,).

    log_e: ln E after the last vote. crossed: number, from 1, of the vote at which E first reached 1/α; 0: never.
    kind (index in KINDS), model (−1: none), tilt (0 for CHANCE), log_wealth (ln of the product of its L): the best bet
    when E crossed, or at the end.
    """

    log_e: Floats
    crossed: Indices
    kind: Indices
    model: Indices
    tilt: Floats
    log_wealth: Floats


def judge(log: VoterLog, *, models: int, alpha: float = ALPHA) -> Verdicts:
    empty = Verdicts(*(np.zeros(0, dtype) for dtype in (float, int, int, int, float, float)))
    parts = [empty, *(_judge_block(block, models, alpha) for block in _blocks_of_voters(log))]
    return Verdicts(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(Verdicts)))


def _blocks_of_voters(log: VoterLog) -> Iterator[VoterLog]:
    """Yield blocks of about BLOCK_VOTES votes of whole voters, numbered from 0 in each."""
    begin = np.append(np.flatnonzero(np.diff(log.voter, prepend=-1)), len(log.voter))
    voter = 0
    while voter < len(begin) - 1:
        after = max(voter + 1, int(np.searchsorted(begin, begin[voter] + BLOCK_VOTES, side="right")) - 1)
        block = log.subset(slice(begin[voter], begin[after]))
        yield VoterLog(block.voter - voter, block.left, block.right, block.outcome, block.probabilities)
        voter = after


def _judge_block(log: VoterLog, models: int, alpha: float) -> Verdicts:
    begin = np.flatnonzero(np.diff(log.voter, prepend=-1))
    # A bet worth e/α alone has crossed before. The ceiling keeps one voter's large values from costing the other voters
    # precision in the cumulative sum.
    ceiling = 1 - np.log(alpha)
    growth = np.zeros(len(log.voter))
    for bets in _all_bets(log, models):
        worth = np.log(bets.weight) + bets.log_wealth
        growth += np.bincount(
            bets.vote,
            np.exp(np.minimum(worth, ceiling)) - np.exp(np.minimum(worth - bets.log_ratio, ceiling)),
            len(growth),
        )
    total = np.cumsum(growth)
    wealth = 1 + total - (total - growth)[begin][log.voter]
    over = np.flatnonzero(wealth >= 1 / alpha)
    flagged, first = np.unique(log.voter[over], return_index=True)
    number = np.arange(len(log.voter)) - begin[log.voter] + 1
    crossed = np.zeros(len(begin), dtype=np.int64)
    crossed[flagged] = number[over[first]]
    until_crossing = log.subset((crossed == 0)[log.voter] | (number <= crossed[log.voter]))
    return Verdicts(_final_bets(log, models).log_e(), crossed, *_final_bets(until_crossing, models).leading())


@dataclass(frozen=True)
class _Bets:
    """Bets of one kind and tilt, votes sorted by bet and time; begin: index of the first vote of a vote's bet."""

    kind: Anomaly
    tilt: float
    weight: Floats
    vote: Indices
    model: Indices
    begin: Indices
    log_ratio: Floats

    @property
    def log_wealth(self) -> Floats:
        total = np.cumsum(self.log_ratio)
        log_wealth: Floats = total - (total - self.log_ratio)[self.begin]
        return log_wealth


def _all_bets(log: VoterLog, models: int) -> Iterator[_Bets]:
    known = np.isfinite(log.probabilities[:, LEFT])
    probabilities = np.where(known[:, None], log.probabilities, BUTTONS)
    favoured = np.sign(probabilities[:, LEFT] - probabilities[:, RIGHT])

    def log_ratios(tilt: float, shares: list[float]) -> Floats:
        tilted = tilt * np.array(shares)
        return np.where(known, tilted[log.outcome] - np.log(probabilities @ np.exp(tilted)), 0)

    all_votes, no_model, ones = np.arange(len(known)), np.full(len(known), -1), np.ones(len(known))
    on_voters = (all_votes, no_model, _group_starts(log.voter))
    # Each vote twice, in order of time: for the left model and for the right one.
    model = np.column_stack([log.left, log.right]).ravel()
    order = np.argsort(np.repeat(log.voter, 2) * models + model, kind="stable")
    vote, model = order // 2, model[order]
    on_models = (vote, model, _group_starts(log.voter[vote] * models + model))
    model_weights = _model_weights(log.voter[vote], order, on_models[-1], models)
    for tilt in MODEL_TILTS:
        left, right = log_ratios(tilt, [1, 0, 0.5]), log_ratios(tilt, [0, 1, 0.5])
        ratios = np.column_stack([left, right]).ravel()[order]
        weights = WEIGHTS[Anomaly.MODEL] / len(MODEL_TILTS) * model_weights
        yield _Bets(Anomaly.MODEL, tilt, weights, *on_models, ratios)
        if tilt not in TILTS:
            continue
        won = np.where(favoured > 0, left, np.where(favoured < 0, right, 0))
        yield _Bets(Anomaly.FAVOURITE, tilt, WEIGHTS[Anomaly.FAVOURITE] / len(TILTS) * ones, *on_voters, won)
        if tilt > 0:
            tied = log_ratios(tilt, [0, 0, 1])
            yield _Bets(Anomaly.TIES, tilt, WEIGHTS[Anomaly.TIES] * 2 / len(TILTS) * ones, *on_voters, tied)
    random = np.where(known, np.log(BUTTONS[log.outcome] / probabilities[all_votes, log.outcome]), 0)
    yield _Bets(Anomaly.CHANCE, 0, WEIGHTS[Anomaly.CHANCE] * ones, *on_voters, random)


def _model_weights(voter: Indices, moment: Indices, begin: Indices, models: int) -> Floats:
    """Return each bet's share of the weight for models; arrays are sorted by bet, and by moment within each."""
    # Half is split evenly; of the other half, the k-th model that a voter meets gets 1 / (k (k + 1)): a voter who seeks
    # one model meets it early. A model's weight is unused until it is met, so the order may determine it.
    first_votes = np.unique(begin)
    in_order_of_meeting = first_votes[np.lexsort((moment[first_votes], voter[first_votes]))]
    k = np.zeros(len(begin))
    k[in_order_of_meeting] = 1 + np.arange(len(first_votes)) - _group_starts(voter[in_order_of_meeting])
    k = k[begin]
    return (1 / models + 1 / (k * (k + 1))) / 2


def _group_starts(bet: Indices) -> Indices:
    """Return each element's index of the first equal one in a sorted array."""
    begin = np.flatnonzero(np.diff(bet, prepend=-1))
    return np.repeat(begin, np.diff(np.append(begin, len(bet))))


@dataclass(frozen=True)
class _FinalBets:
    """Values of bets after their voter's last vote, shape (bets,)."""

    voter: Indices
    kind: Indices
    model: Indices
    tilt: Floats
    weight: Floats
    log_wealth: Floats

    def log_e(self) -> Floats:
        worth = np.log(self.weight) + self.log_wealth
        largest = np.zeros(int(self.voter.max()) + 1)
        np.maximum.at(largest, self.voter, worth)
        # Bets on models that a voter has not met are still worth their weight.
        unused = np.maximum(1 - np.bincount(self.voter, self.weight), 0)
        log_e: Floats = largest + np.log(
            np.bincount(self.voter, np.exp(worth - largest[self.voter])) + unused * np.exp(-largest)
        )
        return log_e

    def leading(self) -> tuple[Indices, Indices, Floats, Floats]:
        """Return (kind, model, tilt, log_wealth) of each voter's best bet."""
        order = np.lexsort((np.log(self.weight) + self.log_wealth, self.voter))
        first = order[np.flatnonzero(np.diff(self.voter[order], append=-1))]
        return self.kind[first], self.model[first], self.tilt[first], self.log_wealth[first]


def _final_bets(log: VoterLog, models: int) -> _FinalBets:
    columns = []
    for bets in _all_bets(log, models):
        last = np.flatnonzero(np.diff(bets.begin, append=-1))
        columns.append(
            (
                log.voter[bets.vote[last]],
                np.full(len(last), KINDS.index(bets.kind)),
                bets.model[last],
                np.full(len(last), bets.tilt),
                bets.weight[last],
                bets.log_wealth[last],
            )
        )
    return _FinalBets(*(np.concatenate(column) for column in zip(*columns, strict=True)))
