from django import template

from leaderboard.boards.table import format_percent

register = template.Library()


@register.filter
def points(value: float | None) -> str:
    return "–" if value is None else f"{value:.0f}"


@register.filter
def per_cent(share: float | None) -> str:
    return "–" if share is None else format_percent(share)
