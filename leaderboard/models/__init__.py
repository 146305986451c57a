"""What the votes add up to: live Elo, tallies, the history of votes, runs and standings."""

from leaderboard.models.counting import EloRating, PairTally, VoterPairTally
from leaderboard.models.history import VoteChange
from leaderboard.models.snapshots import OVERALL, AggregationRun, AggregationRunQuerySet, Standing

__all__ = [
    "OVERALL",
    "AggregationRun",
    "AggregationRunQuerySet",
    "EloRating",
    "PairTally",
    "Standing",
    "VoteChange",
    "VoterPairTally",
]
