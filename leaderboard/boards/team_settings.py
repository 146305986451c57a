from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from django.db import connection

from accounts.models import Team, User
from battles.models import Category, StarRating
from leaderboard.boards.evidence import evidence_text
from leaderboard.boards.queries import board_order
from leaderboard.boards.titles import board_titles
from leaderboard.counting import reviews
from leaderboard.counting.board_keys import BOARDS_OF_TEAMS_VOTE
from leaderboard.models import COMPARE, OVERALL, AnomalyReview, TeamBoard

_NAMES = f"""
SELECT DISTINCT board.scope FROM battles_vote AS vote CROSS JOIN {BOARDS_OF_TEAMS_VOTE} WHERE vote.team_id = %s
"""  # noqa: S608 (constants)


class BoardChoice(NamedTuple):
    name: str
    title: str
    is_on: bool


class HeldReview(NamedTuple):
    """subject: member or kind of group."""

    pk: int
    subject: str
    evidence: str
    votes: int
    opened_at: datetime
    is_over_cap: bool


class TeamBoardSettings(NamedTuple):
    choices: list[BoardChoice]
    held_percent: float
    reviews: list[HeldReview]


def read_settings(team: Team) -> TeamBoardSettings:
    return TeamBoardSettings(board_choices(team), reviews.held_percent_of_overall(team.pk), list(_held_reviews(team)))


def board_choices(team: Team) -> list[BoardChoice]:
    """Return boards beside Overall."""
    on = set(TeamBoard.objects.filter(team=team).values_list("name", flat=True))
    with connection.cursor() as cursor:
        cursor.execute(_NAMES, [team.pk])
        names = {name for (name,) in cursor.fetchall()} | on
    categories = Category.of_every_owner.filter(team=team, is_active=True)
    names |= {f"category:{category.key}" for category in categories}
    if StarRating.objects.filter(team=team).exists():
        names.add(COMPARE)
    titles = board_titles(names - {OVERALL}, team.pk)
    ordered = sorted(titles, key=lambda name: (*board_order(name), titles[name]))
    return [BoardChoice(name, titles[name], name in on) for name in ordered]


def _held_reviews(team: Team) -> Iterator[HeldReview]:
    opened = list(AnomalyReview.objects.in_place(team.pk).filter(state=AnomalyReview.State.OPEN).select_related("team"))
    keys = {review.voter.removeprefix("user:") for review in opened if review.voter}
    people = User.objects.in_bulk([int(key) for key in keys if key.isdecimal()])
    for review in opened:
        key = review.voter.removeprefix("user:")
        person = people.get(int(key)) if key.isdecimal() else None
        subject = review.get_group_display() if review.group else str(person or "–")
        yield HeldReview(
            review.pk, subject, evidence_text(review), len(review.orders), review.opened_at, review.over_cap
        )
