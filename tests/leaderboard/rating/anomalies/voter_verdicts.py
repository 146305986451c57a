from leaderboard.rating.anomalies.earlier_fits import Votes, sequential_forecast
from leaderboard.rating.anomalies.eprocess import ALPHA, Verdicts, VoterLog, judge
from leaderboard.rating.anomalies.expected_votes import expect
from tests.leaderboard.rating.simulations import Ballots


def verdicts(ballots: Ballots, *, models: int, alpha: float = ALPHA) -> Verdicts:
    """Return verdicts on ballots grouped by voter, cast in this order."""
    votes = Votes(ballots.voter, ballots.left, ballots.right, ballots.outcome)
    expectation, _ = expect(votes, sequential_forecast(votes, models=models), models=models)
    log = VoterLog(votes.voter, votes.left, votes.right, votes.outcome, expectation.probabilities())
    return judge(log, models=models, alpha=alpha)
