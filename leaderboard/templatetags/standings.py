"""`{% standing slug as place %}`: where a model stands, for the reveal."""

from typing import Any

from django import template

from leaderboard import boards

register = template.Library()


@register.simple_tag
def standing(slug: str) -> dict[str, Any]:
    """score, rank, preliminary and elo; None for what the model has not got yet."""
    return boards.standing_of(slug)
