"""Which method computes the scores, and with which parameters: what every snapshot says of itself."""

import hashlib
import json

from common.payload_types import JsonObject
from leaderboard.rating import elo

NAME = "bradley-terry-2"
# Its version for boards on which the left side does so much better that scores are corrected for it.
WITH_SIDES = f"{NAME}-sides"
VIRTUAL_TIES = 0.5
OFFSET = 1500.0
# Votes before a model is on a board, and before it is no longer marked as preliminary.
LISTED_FROM_VOTES, ESTABLISHED_FROM_VOTES = 5, 30


def parameters() -> JsonObject:
    return {
        "listed_from_votes": LISTED_FROM_VOTES,
        "established_from_votes": ESTABLISHED_FROM_VOTES,
        "virtual_ties": VIRTUAL_TIES,
        "offset": OFFSET,
        "elo_start": elo.START,
        "elo_k": elo.K,
    }


def parameters_hash() -> str:
    """SHA-256, in hex, of the method's name and parameters as sorted JSON."""
    text = json.dumps({"method": NAME, **parameters()}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
