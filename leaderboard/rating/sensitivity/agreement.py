"""Scores with voters weighted by how well they agree, beside the published scores."""

import numpy as np

from leaderboard.rating.board_fit import SideBiasFit
from leaderboard.rating.bradley_terry import POINTS
from leaderboard.rating.clustering import VoterVotes
from leaderboard.rating.sensitivity.discrimination import discriminations
from leaderboard.rating.snapshot_facts import AgreementFacts

MIN_VOTERS = 2


def agreement_facts(
    voters: VoterVotes, fitted: SideBiasFit, names: list[str], *, offset: float
) -> AgreementFacts | None:
    """Fit the largest group. None for one voter or unknown ones."""
    board = fitted.board
    models = np.flatnonzero(board.established & (board.group == 0))
    votes = voters.among_models(models, size=len(names))
    number = len(np.unique(votes.voter))
    if number < MIN_VOTERS or votes.n.sum() < fitted.tally.subset(models).cells.sum():
        return None
    theta, agreement = discriminations(votes, (board.score[models] - offset) / POINTS, bias=fitted.tally.bias)
    scores = (offset + POINTS * theta).tolist()
    return {
        "scores": dict(zip([names[model] for model in models], scores, strict=True)),
        "voters": number,
        "spread": float(agreement.std()),
    }
