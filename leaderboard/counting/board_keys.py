"""Keys of boards: names, on boards of teams and reviews with a prefix.

Blind votes on drawn pairs count on Overall and on boards of categories and languages, those on pairs that auto mode
chose and side-by-side votes each on a board of their own. Votes of a review count on its board alone.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from accounts.models import Team
from battles.models import Battle
from battles.models.categories import TEAM_MARK
from leaderboard.models import AUTO, COMPARE, OVERALL, REVIEW, SIDE_BY_SIDE

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
# The same for boards of the vote's team, which has categories of its own; the vote has team_categories, too.
BOARDS_OF_TEAMS_VOTE = BOARDS_OF_VOTE.replace(
    ") AS board",
    f"""
    UNION ALL SELECT 'category:{TEAM_MARK}' || category FROM unnest(vote.team_categories) AS category
        WHERE vote.mode = 'blind' AND vote.origin = 'draw'
) AS board""",  # noqa: S608 (constants)
)
# Key of a board of `vote`'s team, from the one that BOARDS_OF_TEAMS_VOTE gives.
SCOPE_OF_TEAM = "'team:' || vote.team_id || '/' || board.scope"
# Condition on rows with a key: the boards of the site. Reviews have no tallies.
ARE_OF_SITE = "scope NOT LIKE 'team:%%'"
# Condition on rows of votes outside of reviews, or stars. Parameter: id of a team, or NULL for the site.
ARE_OF_PLACE = "CASE WHEN %(team)s::bigint IS NULL THEN on_site_boards ELSE team_id = %(team)s END"

DRAWN_PAIRS = "mode = 'blind' AND origin = 'draw'"
ON_OVERALL = f"on_site_boards AND {DRAWN_PAIRS}"

# The same in SQL for one board: condition on rows of battles_vote, by kind of board. Parameter: votes_on.
_VOTES_ON = {
    OVERALL: DRAWN_PAIRS,
    "language": f"{DRAWN_PAIRS} AND language = %(name)s",
    "category": f"{DRAWN_PAIRS} AND categories @> ARRAY[%(name)s]::varchar[]",
    f"category:{TEAM_MARK}": f"{DRAWN_PAIRS} AND team_categories @> ARRAY[%(name)s]::varchar[]",
    SIDE_BY_SIDE: "mode = 'side_by_side'",
    AUTO: "mode = 'blind' AND origin = 'router'",
}
_OF_TEAM = re.compile(r"team:([0-9]{1,18})/(.+)")


class Board(NamedTuple):
    """series: of a review's board, whose name is its key."""

    name: str
    team: int | None = None
    series: str = ""

    @classmethod
    def of_review(cls, series: str) -> "Board":
        return cls(f"{REVIEW}{series}", series=series)

    @classmethod
    def of(cls, name: str, team: Team | None) -> "Board":
        return cls(name, None if team is None else team.pk)

    @classmethod
    def parse(cls, scope: str) -> "Board":
        if scope.startswith(REVIEW):
            return cls.of_review(scope.removeprefix(REVIEW))
        of_team = _OF_TEAM.fullmatch(scope)
        return cls(of_team[2], int(of_team[1])) if of_team else cls(scope)

    @property
    def scope(self) -> str:
        """Return "", which no board has, if a name looks like a team's or a review's key, or is a team's category."""
        if self.series:
            return self.name
        if self.team is None:
            return "" if _OF_TEAM.fullmatch(self.name) or self.is_teams_category or self.named_review else self.name
        return f"team:{self.team}/{self.name}"

    @property
    def kind(self) -> str:
        return self.name.partition(":")[0]

    @property
    def label(self) -> str:
        return self.name.partition(":")[2]

    @property
    def named_review(self) -> str:
        """Return the review that the name means, which the reader may not know of; "" for other boards."""
        return self.name.removeprefix(REVIEW) if self.name.startswith(REVIEW) else ""

    @property
    def is_teams_category(self) -> bool:
        return self.name.startswith(f"category:{TEAM_MARK}")


def votes_on(scope: str) -> tuple[str, dict[str, str | int | None]]:
    """Return an SQL condition on rows of battles_vote, and its named parameters."""
    board = Board.parse(scope)
    if board.series:
        return "series = %(name)s", {"name": board.series}
    place = "on_site_boards" if board.team is None else "team_id = %(team)s"
    kind = f"category:{TEAM_MARK}" if board.is_teams_category else board.kind
    return f"{place} AND {_VOTES_ON[kind]}", {"name": board.label.removeprefix(TEAM_MARK), "team": board.team}


def board_keys(mode: str, origin: str, categories: Iterable[str], language: str) -> list[str]:
    if mode == Battle.Mode.SIDE_BY_SIDE:
        return [SIDE_BY_SIDE]
    if mode == Battle.Mode.REVIEW:
        return []
    match origin:
        case Battle.Origin.DRAW:
            return [OVERALL, f"language:{language}", *(f"category:{category}" for category in categories)]
        case Battle.Origin.ROUTER:
            return [AUTO]
    return []


def counts_drawn_pairs(scope: str) -> bool:
    """Return whether the board counts blind votes on drawn pairs, which have an Elo."""
    return Board.parse(scope).kind in (OVERALL, "category", "language")


def has_live_elo(scope: str) -> bool:
    return Board.parse(scope).team is None and counts_drawn_pairs(scope)


def is_own_board(scope: str) -> bool:
    """Return whether the board counts the arena's votes or stars."""
    return counts_votes(scope) or Board.parse(scope).name == COMPARE


def counts_votes(scope: str) -> bool:
    """Return whether the board counts rows of battles.models.Vote."""
    board = Board.parse(scope)
    return counts_drawn_pairs(scope) or board.name in (SIDE_BY_SIDE, AUTO) or bool(board.series)
