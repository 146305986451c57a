import numpy as np

from leaderboard.rating.anomalies.earlier_fits import Votes, sequential_forecast
from leaderboard.rating.anomalies.eprocess import ALPHA, Verdicts, VoterLog, judge
from leaderboard.rating.anomalies.expected_votes import expect
from tests.worlds.ratings.simulations import Ballots


def verdicts(ballots: Ballots, *, models: int, alpha: float = ALPHA) -> Verdicts:
    """Return verdicts on the voters, in the order of their numbers."""
    votes = Votes(ballots.voter, ballots.left, ballots.right, ballots.outcome)
    expectation, _ = expect(votes, sequential_forecast(votes, models=models), models=models)
    order = np.argsort(votes.voter, kind="stable")
    own = votes.subset(order)
    log = VoterLog(own.voter, own.left, own.right, own.outcome, expectation.probabilities()[order])
    return judge(log, models=models, alpha=alpha)
