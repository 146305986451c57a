"""Voters whose votes do not look like anyone's: one e-process each, which may be looked at as often as one likes.

The null hypothesis: a voter's vote t on (i, j) falls left, right or tied with the chances π_t, which come from other
people's votes alone (leaderboard.rating.expected_votes) and so do not depend on what this voter does. A bet against
it tilts each outcome o by how much of it goes the suspected way, s(o) = 0, ½ or 1:

    L_t = exp(η s(o_t)) / Σ_o π_t(o) exp(η s(o))

Under the null E[L_t | the votes before] = 1 whatever η and s were fixed beforehand. So the product of L over a
voter's votes is a nonnegative martingale that starts at 1, and so is a mean of such products with fixed weights: E.
By Ville's inequality P(E ever reaches 1/α) ≤ α: who crosses is flagged, no matter when and how often one looks.

The bets: toward and away from each model (½ of the weight; s is what the model got), with and against the favourite
(¼; s is what the likelier winner got), toward ties (⅛; s = 1 for a tie of either kind; not away from them, because
honest people differ in how readily they decide), and pressing the four buttons by chance (⅛; L is the ratio of ¼, ¼
and ½ to π). Tilts η are ± 0.75 and ± 1.5 with equal weights, and ± 3 for models: who serves one that mostly wins anyway
is otherwise found late. Of what is for models, one half is split evenly over all of them, and of the other the k-th
model a voter meets gets 1 / (k (k + 1)): whoever looks for one model meets it soon, and money for models not yet met
is still in hand, so that the order of meeting may decide about it.
Sources: Ville (1939); Ramdas, Grünwald, Vovk, Shafer, "Game-theoretic statistics and safe anytime-valid inference",
Statistical Science 38 (2023).
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from enum import StrEnum

import numpy as np

from leaderboard.rating.bradley_terry import Flags, Floats, Indices
from leaderboard.rating.expected_votes import BUTTONS, LEFT, RIGHT

ALPHA = 1e-4
TILTS = (-1.5, -0.75, 0.75, 1.5)
MODEL_TILTS = (-3.0, *TILTS, 3.0)
BLOCK = 1 << 17  # votes worked on at once


class Anomaly(StrEnum):
    MODEL = "model"
    FAVOURITE = "favourite"
    TIES = "ties"
    CHANCE = "chance"


KINDS = list(Anomaly)
WEIGHTS = {Anomaly.MODEL: 1 / 2, Anomaly.FAVOURITE: 1 / 4, Anomaly.TIES: 1 / 8, Anomaly.CHANCE: 1 / 8}


@dataclass(frozen=True)
class VoterLog:
    """Votes grouped by voter, each voter's in the order they were cast. Every array has shape (votes, …).

    voter: 0, 0, …, 1, …, every number at least once; left, right: models' places; outcome: LEFT, RIGHT or TIE;
    chances: (votes, 3), π of each outcome; NaN where nothing is known, a vote that then proves nothing.
    """

    voter: Indices
    left: Indices
    right: Indices
    outcome: Indices
    chances: Floats

    def part(self, which: slice | Flags) -> "VoterLog":
        return VoterLog(*(getattr(self, field.name)[which] for field in fields(self)))


@dataclass(frozen=True)
class Verdicts:
    """One line per voter, shape (voters,).

    log_e: ln E after the last vote. crossed: the number, from 1, of the vote at which E first reached 1/α; 0: never.
    kind (a place in KINDS), model and tilt: the bet that had won most by that vote, or by the last where E did not
    cross, and gained: ln of what it had made of 1. model is −1 for a bet on none, tilt 0 for CHANCE.
    """

    log_e: Floats
    crossed: Indices
    kind: Indices
    model: Indices
    tilt: Floats
    gained: Floats


def judge(log: VoterLog, *, models: int, alpha: float = ALPHA) -> Verdicts:
    """Each voter's E, where it crossed 1/α, and the bet that carries it."""
    judged = [_judge_block(block, models, alpha) for block in _whole_voters(log)]
    nobody = Verdicts(*(np.zeros(0, dtype) for dtype in (float, int, int, int, float, float)))
    return Verdicts(
        *(np.concatenate([getattr(one, field.name) for one in [nobody, *judged]]) for field in fields(Verdicts))
    )


def _whole_voters(log: VoterLog) -> Iterator[VoterLog]:
    """Blocks of about BLOCK votes, never only some of a voter's; voters are numbered from 0 in each."""
    begin = np.append(np.flatnonzero(np.diff(log.voter, prepend=-1)), len(log.voter))
    voter = 0
    while voter < len(begin) - 1:
        after = max(voter + 1, int(np.searchsorted(begin, begin[voter] + BLOCK, side="right")) - 1)
        block = log.part(slice(begin[voter], begin[after]))
        yield VoterLog(block.voter - voter, block.left, block.right, block.outcome, block.chances)
        voter = after


def _judge_block(log: VoterLog, models: int, alpha: float) -> Verdicts:
    begin = np.flatnonzero(np.diff(log.voter, prepend=-1))
    # A bet that alone is worth e/α has crossed before; with this ceiling no voter's riches cost the others in the
    # running sum their digits.
    ceiling = 1 - np.log(alpha)
    growth = np.zeros(len(log.voter))
    for bets in _all_bets(log, models):
        worth = np.log(bets.weight) + bets.gained
        growth += np.bincount(
            bets.vote,
            np.exp(np.minimum(worth, ceiling)) - np.exp(np.minimum(worth - bets.log_ratio, ceiling)),
            len(growth),
        )
    total = np.cumsum(growth)
    wealth = 1 + total - (total - growth)[begin][log.voter]
    over = np.flatnonzero(wealth >= 1 / alpha)
    who, soonest = np.unique(log.voter[over], return_index=True)
    number = np.arange(len(log.voter)) - begin[log.voter] + 1
    crossed = np.zeros(len(begin), dtype=np.int64)
    crossed[who] = number[over[soonest]]
    by_then = log.part((crossed == 0)[log.voter] | (number <= crossed[log.voter]))
    return Verdicts(_ends(log, models).log_e(), crossed, *_ends(by_then, models).leading())


@dataclass(frozen=True)
class _Bets:
    """Bets of one kind and tilt, votes sorted by bet and time; begin: where in these arrays a vote's bet began."""

    kind: Anomaly
    tilt: float
    weight: Floats
    vote: Indices
    model: Indices
    begin: Indices
    log_ratio: Floats

    @property
    def gained(self) -> Floats:
        """ln of what each bet has made of 1 after each of its votes."""
        total = np.cumsum(self.log_ratio)
        gained: Floats = total - (total - self.log_ratio)[self.begin]
        return gained


def _all_bets(log: VoterLog, models: int) -> Iterator[_Bets]:
    known = np.isfinite(log.chances[:, LEFT])
    chances = np.where(known[:, None], log.chances, BUTTONS)
    favoured = np.sign(chances[:, LEFT] - chances[:, RIGHT])

    def log_ratios(tilt: float, got: list[float]) -> Floats:
        tilted = tilt * np.array(got)
        return np.where(known, tilted[log.outcome] - np.log(chances @ np.exp(tilted)), 0)

    every, nobody, one = np.arange(len(known)), np.full(len(known), -1), np.ones(len(known))
    on_voters = (every, nobody, _begin(log.voter))
    # Each vote twice, in time: the left model's and the right one's.
    model = np.column_stack([log.left, log.right]).ravel()
    order = np.argsort(np.repeat(log.voter, 2) * models + model, kind="stable")
    vote, model = order // 2, model[order]
    on_models = (vote, model, _begin(log.voter[vote] * models + model))
    of_model = _part_of_model(log.voter[vote], order, on_models[-1], models)
    for tilt in MODEL_TILTS:
        left, right = log_ratios(tilt, [1, 0, 0.5]), log_ratios(tilt, [0, 1, 0.5])
        took = np.column_stack([left, right]).ravel()[order]
        yield _Bets(Anomaly.MODEL, tilt, WEIGHTS[Anomaly.MODEL] / len(MODEL_TILTS) * of_model, *on_models, took)
        if tilt not in TILTS:
            continue
        won = np.where(favoured > 0, left, np.where(favoured < 0, right, 0))
        yield _Bets(Anomaly.FAVOURITE, tilt, WEIGHTS[Anomaly.FAVOURITE] / len(TILTS) * one, *on_voters, won)
        if tilt > 0:
            tied = log_ratios(tilt, [0, 0, 1])
            yield _Bets(Anomaly.TIES, tilt, WEIGHTS[Anomaly.TIES] * 2 / len(TILTS) * one, *on_voters, tied)
    by_chance = np.where(known, np.log(BUTTONS[log.outcome] / chances[every, log.outcome]), 0)
    yield _Bets(Anomaly.CHANCE, 0, WEIGHTS[Anomaly.CHANCE] * one, *on_voters, by_chance)


def _part_of_model(voter: Indices, moment: Indices, begin: Indices, models: int) -> Floats:
    """What each bet on a model gets of all that is for models: (1 / models + 1 / (k (k + 1))) / 2.

    Arrays are sorted by bet, and by moment within each.
    """
    met = np.unique(begin)
    soonest = met[np.lexsort((moment[met], voter[met]))]
    k = np.zeros(len(begin))
    k[soonest] = 1 + np.arange(len(met)) - _begin(voter[soonest])
    k = k[begin]
    return (1 / models + 1 / (k * (k + 1))) / 2


def _begin(bet: Indices) -> Indices:
    """For each place of a sorted array, where its value begins."""
    begin = np.flatnonzero(np.diff(bet, prepend=-1))
    return np.repeat(begin, np.diff(np.append(begin, len(bet))))


@dataclass(frozen=True)
class _Ends:
    """What bets had made at their voter's last vote; shape (bets,)."""

    voter: Indices
    kind: Indices
    model: Indices
    tilt: Floats
    weight: Floats
    gained: Floats

    def log_e(self) -> Floats:
        worth = np.log(self.weight) + self.gained
        most = np.zeros(int(self.voter.max()) + 1)
        np.maximum.at(most, self.voter, worth)
        # Bets on models that a voter has not met are still worth their weight.
        unopened = np.maximum(1 - np.bincount(self.voter, self.weight), 0)
        log_e: Floats = most + np.log(
            np.bincount(self.voter, np.exp(worth - most[self.voter])) + unopened * np.exp(-most)
        )
        return log_e

    def leading(self) -> tuple[Indices, Indices, Floats, Floats]:
        """(kind, model, tilt, gained) of each voter's most valuable bet."""
        order = np.lexsort((np.log(self.weight) + self.gained, self.voter))
        first = order[np.flatnonzero(np.diff(self.voter[order], append=-1))]
        return self.kind[first], self.model[first], self.tilt[first], self.gained[first]


def _ends(log: VoterLog, models: int) -> _Ends:
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
                bets.gained[last],
            )
        )
    return _Ends(*(np.concatenate(column) for column in zip(*columns, strict=True)))
