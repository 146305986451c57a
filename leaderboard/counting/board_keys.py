"""Which boards a vote is filed under.

A blind one: Overall, one for each of its categories, and its language's. One cast side by side, with open names: a
board of its own.
"""

from collections.abc import Iterable

from battles.models import Battle
from leaderboard.models import COMPARE, OVERALL, SIDE_BY_SIDE

# What boards_of says, in SQL, beside a row `vote` with mode, categories and language: one row per board.
BOARDS_OF_VOTE = """
LATERAL (
    SELECT 'side-by-side' AS scope WHERE vote.mode = 'side_by_side'
    UNION ALL SELECT 'overall' WHERE vote.mode = 'blind'
    UNION ALL SELECT 'language:' || vote.language WHERE vote.mode = 'blind'
    UNION ALL SELECT 'category:' || category FROM unnest(vote.categories) AS category WHERE vote.mode = 'blind'
) AS board
"""


def boards_of(mode: str, categories: Iterable[str], language: str) -> list[str]:
    if mode == Battle.Mode.SIDE_BY_SIDE:
        return [SIDE_BY_SIDE]
    return [OVERALL, f"language:{language}", *(f"category:{category}" for category in categories)]


def is_blind(scope: str) -> bool:
    """Whether its votes were cast before the names were known: only such a board's models have a live Elo."""
    return scope == OVERALL or scope.startswith(("category:", "language:"))


def is_of_the_arena(scope: str) -> bool:
    """Whether people voted on it here."""
    return is_blind(scope) or scope in (SIDE_BY_SIDE, COMPARE)


def is_of_votes(scope: str) -> bool:
    """Whether its votes are battles.models.Vote, and not stars or another place's votes."""
    return is_blind(scope) or scope == SIDE_BY_SIDE
