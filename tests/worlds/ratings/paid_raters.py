"""Votes of llmfao's crowd of paid raters, whose tie rates are between 0 and 70 %."""

import csv
from dataclasses import dataclass

import numpy as np
from django.conf import settings

from leaderboard.rating.anomalies.held_share import HeldVotes
from tests.worlds.ratings import reference_votes
from tests.worlds.ratings.simulations import LEFT, RIGHT, TIE, Ballots
from tests.worlds.ratings.voter_verdicts import verdicts

MAX_HELD = 0.05


@dataclass(frozen=True)
class HeldShares:
    """Shares of votes: of all flagged voters, and of those that are held before a review."""

    flagged: float
    held: float


def paid_raters() -> tuple[Ballots, int]:
    """Return (ballots in the order of the file, number of models)."""
    models = reference_votes.reference("llmfao_crowd")["models"]
    with reference_votes.table_path("llmfao_crowd").open() as lines:
        rows = list(csv.DictReader(lines))
    left, right = (np.array([models.index(row[side]) for row in rows]) for side in ("model_a", "model_b"))
    outcome = np.array([{"model_a": LEFT, "model_b": RIGHT}.get(row["winner"], TIE) for row in rows])
    voter = np.unique([row["judge"] for row in rows], return_inverse=True)[1]
    return Ballots(left, right, outcome, voter), len(models)


def held_shares(ballots: Ballots, models: int) -> HeldShares:
    """Judge all voters; hold the votes of flagged ones, strongest evidence first, as far as the caps allow."""
    found, votes, every = verdicts(ballots, models=models), np.bincount(ballots.voter), len(ballots.voter)
    crossed = np.flatnonzero(found.crossed)
    held = 0
    for number in votes[crossed[np.argsort(-found.log_e[crossed])]].tolist():
        room = HeldVotes(held, 0, every).leaves_room(number, is_group=False, caps=settings.ARENA_MAX_HELD_SHARE)
        held += number if room else 0
    return HeldShares(votes[crossed].sum() / every, held / every)
