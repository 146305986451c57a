"""Keys of the boards that count a vote.

Blind votes count on Overall and on boards of categories and languages, side-by-side votes on their own.
"""

from collections.abc import Iterable

from battles.models import Battle
from leaderboard.models import COMPARE, OVERALL, SIDE_BY_SIDE

# board_keys in SQL: joined with a row `vote` that has mode, categories and language, it gives one row per board.
BOARDS_OF_VOTE = """
LATERAL (
    SELECT 'side-by-side' AS scope WHERE vote.mode = 'side_by_side'
    UNION ALL SELECT 'overall' WHERE vote.mode = 'blind'
    UNION ALL SELECT 'language:' || vote.language WHERE vote.mode = 'blind'
    UNION ALL SELECT 'category:' || category FROM unnest(vote.categories) AS category WHERE vote.mode = 'blind'
) AS board
"""

# The same in SQL for one board: condition on rows of battles_vote, by kind of board. Parameter: votes_on.
_VOTES_ON = {
    OVERALL: "mode = 'blind'",
    "language": "mode = 'blind' AND language = %(name)s",
    "category": "mode = 'blind' AND categories @> ARRAY[%(name)s]::varchar[]",
    SIDE_BY_SIDE: "mode = 'side_by_side'",
}


def votes_on(scope: str) -> tuple[str, dict[str, str]]:
    """Return an SQL condition on rows of battles_vote, and its named parameters."""
    kind, _, name = scope.partition(":")
    return _VOTES_ON[kind], {"name": name}


def board_keys(mode: str, categories: Iterable[str], language: str) -> list[str]:
    if mode == Battle.Mode.SIDE_BY_SIDE:
        return [SIDE_BY_SIDE]
    return [OVERALL, f"language:{language}", *(f"category:{category}" for category in categories)]


def is_blind(scope: str) -> bool:
    """Return whether the board counts blind votes; only its models have a live Elo."""
    return scope == OVERALL or scope.startswith(("category:", "language:"))


def is_own_board(scope: str) -> bool:
    """Return whether the board counts the arena's votes or stars."""
    return is_blind(scope) or scope in (SIDE_BY_SIDE, COMPARE)


def counts_votes(scope: str) -> bool:
    """Return whether the board counts rows of battles.models.Vote."""
    return is_blind(scope) or scope == SIDE_BY_SIDE
