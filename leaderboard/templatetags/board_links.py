from urllib.parse import quote

from django import template
from django.template import Context
from django.urls import reverse

from leaderboard.boards.places import BoardPlace
from leaderboard.boards.standings import model_label

register = template.Library()
register.filter(model_label)


@register.simple_tag(takes_context=True)
def votes_url(context: Context, ending: str, snapshot: str) -> str:
    place = context.get("board_place") or BoardPlace()
    return f"{reverse('api-export-votes', args=[ending])}?snapshot={snapshot}{place.more}"


@register.simple_tag(takes_context=True)
def board_url(context: Context, name: str, *args: str, board: str = "") -> str:
    place = context.get("board_place") or BoardPlace()
    address = reverse(f"leaderboard:{name}", args=args)
    return f"{address}?board={quote(board)}{place.more}" if board else f"{address}{place.only}"
