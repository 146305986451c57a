import hashlib
import json

from common.payload_types import JsonObject
from leaderboard.rating import elo

NAME = "bradley-terry-5"
# Name on boards whose scores are corrected for an advantage of the left side.
WITH_SIDES = f"{NAME}-sides"
VIRTUAL_TIES = 0.5
OFFSET = 1500.0
# Votes a model needs to get a score, and to lose the mark "preliminary".
LISTED_FROM_VOTES, ESTABLISHED_FROM_VOTES = 5, 30


def default_parameters() -> JsonObject:
    """The parameters of an arena where nobody changed the live Elo. Reads no database."""
    return {
        "listed_from_votes": LISTED_FROM_VOTES,
        "established_from_votes": ESTABLISHED_FROM_VOTES,
        "virtual_ties": VIRTUAL_TIES,
        "offset": OFFSET,
        "elo_start": elo.START,
        "elo_k": elo.K,
    }


def parameters() -> JsonObject:
    """The parameters of this arena, with the start and K of the live Elo chosen in the admin."""
    from leaderboard.models.elo_settings import elo_settings  # settings import this module before models exist

    live_elo = elo_settings()
    return {**default_parameters(), "elo_start": live_elo.start, "elo_k": live_elo.k}


def parameters_hash() -> str:
    """SHA-256, in hex, of the method's name and parameters as sorted JSON."""
    text = json.dumps({"method": NAME, **parameters()}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
