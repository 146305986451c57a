import numpy as np

from leaderboard.rating.anomalies.eprocess import ALPHA, Verdicts, VoterLog, judge
from leaderboard.rating.anomalies.expected_votes import held_out_probabilities
from leaderboard.rating.board_fit import fit_board
from leaderboard.rating.bradley_terry import POINTS
from tests.leaderboard.rating.simulations import Ballots


def verdicts(ballots: Ballots, *, models: int, alpha: float = ALPHA) -> Verdicts:
    """Return verdicts on ballots grouped by voter."""
    board = fit_board(*ballots.counts(models))
    probabilities = held_out_probabilities(
        ballots.voter, ballots.left, ballots.right, ballots.outcome,
        theta=np.nan_to_num((board.score - 1500) / POINTS), placed=board.established,
    )  # fmt: skip
    log = VoterLog(ballots.voter, ballots.left, ballots.right, ballots.outcome, probabilities)
    return judge(log, models=models, alpha=alpha)
