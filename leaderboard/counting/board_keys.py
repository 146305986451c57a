"""Keys of the boards that count a vote.

Blind votes on drawn pairs count on Overall and on boards of categories and languages, those on pairs that auto mode
chose and side-by-side votes each on a board of their own.
"""

from collections.abc import Iterable

from battles.models import Battle
from leaderboard.models import AUTO, COMPARE, OVERALL, SIDE_BY_SIDE

# Results of pairs that were chosen by who may win depend on that choice, so these votes have boards of their own.
# board_keys in SQL: joined with a row `vote` that has mode, origin, categories and language, it gives one row a board.
BOARDS_OF_VOTE = """
LATERAL (
    SELECT 'side-by-side' AS scope WHERE vote.mode = 'side_by_side'
    UNION ALL SELECT 'auto' WHERE vote.mode = 'blind' AND vote.origin = 'router'
    UNION ALL SELECT 'overall' WHERE vote.mode = 'blind' AND vote.origin = 'draw'
    UNION ALL SELECT 'language:' || vote.language WHERE vote.mode = 'blind' AND vote.origin = 'draw'
    UNION ALL SELECT 'category:' || category FROM unnest(vote.categories) AS category
        WHERE vote.mode = 'blind' AND vote.origin = 'draw'
) AS board
"""

ON_OVERALL = "mode = 'blind' AND origin = 'draw'"

# The same in SQL for one board: condition on rows of battles_vote, by kind of board. Parameter: votes_on.
_VOTES_ON = {
    OVERALL: ON_OVERALL,
    "language": f"{ON_OVERALL} AND language = %(name)s",
    "category": f"{ON_OVERALL} AND categories @> ARRAY[%(name)s]::varchar[]",
    SIDE_BY_SIDE: "mode = 'side_by_side'",
    AUTO: "mode = 'blind' AND origin = 'router'",
}


def votes_on(scope: str) -> tuple[str, dict[str, str]]:
    """Return an SQL condition on rows of battles_vote, and its named parameters."""
    kind, _, name = scope.partition(":")
    return _VOTES_ON[kind], {"name": name}


def board_keys(mode: str, origin: str, categories: Iterable[str], language: str) -> list[str]:
    if mode == Battle.Mode.SIDE_BY_SIDE:
        return [SIDE_BY_SIDE]
    match origin:
        case Battle.Origin.DRAW:
            return [OVERALL, f"language:{language}", *(f"category:{category}" for category in categories)]
        case Battle.Origin.ROUTER:
            return [AUTO]
    return []


def has_live_elo(scope: str) -> bool:
    """Return whether the board counts blind votes on drawn pairs, which alone move the live Elo."""
    return scope == OVERALL or scope.startswith(("category:", "language:"))


def is_own_board(scope: str) -> bool:
    """Return whether the board counts the arena's votes or stars."""
    return counts_votes(scope) or scope == COMPARE


def counts_votes(scope: str) -> bool:
    """Return whether the board counts rows of battles.models.Vote."""
    return has_live_elo(scope) or scope in (SIDE_BY_SIDE, AUTO)
