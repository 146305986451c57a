from django import template

from leaderboard.boards.cells import format_percent
from leaderboard.boards.queries import BoardHead
from leaderboard.counting import reviews
from leaderboard.payload_types import SnapshotHeadPayload

register = template.Library()


@register.filter
def points(value: float | None) -> str:
    return "–" if value is None else f"{value:.0f}"


@register.filter
def per_cent(share: float | None) -> str:
    return "–" if share is None else format_percent(share)


@register.filter
def held_percent(head: BoardHead | SnapshotHeadPayload) -> float:
    return reviews.held_percent(head["votes_excluded"].get("anomaly", 0), counted=head["votes_counted"])
