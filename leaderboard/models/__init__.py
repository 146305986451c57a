from leaderboard.models.counting import EloRating, PairTally, TallyCopy, VoterPairTally
from leaderboard.models.elo_settings import EloSettings
from leaderboard.models.history import VoteChange
from leaderboard.models.imported import Contestant, ImportedBoard, ImportedVote
from leaderboard.models.listed import ListedBoard
from leaderboard.models.releases import DataPolicy, DataRelease, ReleasedText, ReleaseFile
from leaderboard.models.reviews import AnomalyReview, AnomalyReviewQuerySet
from leaderboard.models.sampling import SamplingPlan
from leaderboard.models.snapshots import (
    AUTO,
    COMPARE,
    OVERALL,
    REVIEW,
    SIDE_BY_SIDE,
    AggregationRun,
    AggregationRunQuerySet,
    Position,
    Standing,
)
from leaderboard.models.team_boards import TeamBoard

__all__ = [
    "AUTO",
    "COMPARE",
    "OVERALL",
    "REVIEW",
    "SIDE_BY_SIDE",
    "AggregationRun",
    "AggregationRunQuerySet",
    "AnomalyReview",
    "AnomalyReviewQuerySet",
    "Contestant",
    "DataPolicy",
    "DataRelease",
    "EloRating",
    "EloSettings",
    "ImportedBoard",
    "ImportedVote",
    "ListedBoard",
    "PairTally",
    "Position",
    "ReleaseFile",
    "ReleasedText",
    "SamplingPlan",
    "Standing",
    "TallyCopy",
    "TeamBoard",
    "VoteChange",
    "VoterPairTally",
]
