import hashlib
import json

from common.payload_types import JsonObject

NAME = "bradley-terry-4"
# Name on boards whose scores are corrected for an advantage of the left side.
WITH_SIDES = f"{NAME}-sides"
VIRTUAL_TIES = 0.5
OFFSET = 1500.0
# Votes a model needs to get a score, and to lose the mark "preliminary".
LISTED_FROM_VOTES, ESTABLISHED_FROM_VOTES = 5, 30


def parameters() -> JsonObject:
    from leaderboard.models.elo_settings import elo_settings  # settings import this module before models exist

    live_elo = elo_settings()
    return {
        "listed_from_votes": LISTED_FROM_VOTES,
        "established_from_votes": ESTABLISHED_FROM_VOTES,
        "virtual_ties": VIRTUAL_TIES,
        "offset": OFFSET,
        "elo_start": live_elo.start,
        "elo_k": live_elo.k,
    }


def parameters_hash() -> str:
    """SHA-256, in hex, of the method's name and parameters as sorted JSON."""
    text = json.dumps({"method": NAME, **parameters()}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
