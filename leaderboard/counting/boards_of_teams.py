from collections.abc import Iterable

from leaderboard.counting.board_keys import Board
from leaderboard.models import OVERALL, TeamBoard


def boards_of_teams(teams: Iterable[int]) -> dict[int, list[Board]]:
    """Return {team: its boards}, Overall first."""
    boards = {team: [Board(OVERALL, team)] for team in teams}
    for team, name in TeamBoard.objects.filter(team__in=boards).order_by("name").values_list("team", "name"):
        boards[team].append(Board(name, team))
    return boards


def scopes_of_team(team: int) -> list[str]:
    return [board.scope for board in boards_of_teams([team])[team]]
