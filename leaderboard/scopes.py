"""Which boards a vote is filed under: Overall, one for each of its categories, and its language's."""

from collections.abc import Iterable

from battles.models import Vote, VoteQuerySet
from leaderboard.models import OVERALL

# What boards_of says, in SQL, beside a row `vote` with categories and language: one row per board.
BOARDS_OF_VOTE = """
LATERAL (
    SELECT 'overall' AS scope UNION ALL SELECT 'language:' || vote.language
    UNION ALL SELECT 'category:' || category FROM unnest(vote.categories) AS category
) AS board
"""


def boards_of(categories: Iterable[str], language: str) -> list[str]:
    return [OVERALL, f"language:{language}", *(f"category:{category}" for category in categories)]


def is_of_the_arena(scope: str) -> bool:
    """Whether its votes were cast in blind battles here."""
    return scope == OVERALL or scope.startswith(("category:", "language:"))


def votes_on(scope: str) -> VoteQuerySet:
    """The blind votes filed under a board, whether they count or not."""
    kind, _, name = scope.partition(":")
    match kind:
        case "category":
            return Vote.objects.filter(categories__contains=[name])
        case "language":
            return Vote.objects.filter(language=name)
    return Vote.objects.all()
