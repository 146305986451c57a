from collections.abc import Mapping

from django import template

from benchmarks.models import LiveDraw
from leaderboard.payload_types import LeaderboardPayload
from reviews.judged_board import JudgedBoardPayload, judged_board

register = template.Library()


@register.inclusion_tag("reviews/judged_board.html")
def judge_beside_board(board: LeaderboardPayload) -> Mapping[str, object]:
    """board: Overall of the site."""
    judged: JudgedBoardPayload | None = judged_board(board)
    reasons = dict(LiveDraw.LeftOut.choices)
    left_out = [] if judged is None else [(reasons[reason], n) for reason, n in judged["left_out"].items()]
    return {"judged": judged, "left_out": left_out}
