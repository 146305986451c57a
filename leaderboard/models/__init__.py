"""What the votes add up to: live Elo, tallies, aggregation runs and standings."""

from leaderboard.models.counting import EloRating, PairTally, VoterPairTally
from leaderboard.models.snapshots import OVERALL, AggregationRun, AggregationRunQuerySet, Standing

__all__ = [
    "OVERALL",
    "AggregationRun",
    "AggregationRunQuerySet",
    "EloRating",
    "PairTally",
    "Standing",
    "VoterPairTally",
]
