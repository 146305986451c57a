"""Four models of known strength, and honest votes on them."""

import random
from collections.abc import Callable
from datetime import datetime

from models_registry.models import LanguageModel
from tests.leaderboard.vote_factory import ballot, cast_all, contestants

STRENGTH = {"gold": 1.5, "silver": 0.7, "bronze": 0.0, "tin": -1.0}


def make_models() -> dict[str, LanguageModel]:
    return {model.slug: model for model in contestants(*STRENGTH)}


def cast_honest_votes(
    models: dict[str, LanguageModel], number: int, *, voters: int, at: Callable[[int], datetime] | None = None
) -> None:
    """Cast votes of as many voters, in turns. at: time of the vote with a number; without it, now."""
    rng, ballots = random.Random(4), []
    for vote in range(number):
        left, right = rng.sample(sorted(STRENGTH), 2)
        wins = rng.random() < 1 / (1 + 2.718 ** (STRENGTH[right] - STRENGTH[left]))
        time = {"created_at": at(vote)} if at else {}
        # No member has such an id.
        voter = f"user:{1_000_000 + vote % voters}"
        ballots.append(ballot(models[left], models[right], "left" if wins else "right", voter=voter, **time))
    cast_all(ballots)
