"""`{% mean_stars board as rows %}`: the mean stars of a board's models, as its page prints them."""

from django import template
from django.utils.formats import number_format

from leaderboard.payload_types import LeaderboardPayload

register = template.Library()


@register.simple_tag
def mean_stars(board: LeaderboardPayload) -> list[dict[str, str | int]]:
    """[{name, mean, interval, answers}], the most stars first; nothing on other boards. board: the API's object."""
    given = board["facts"].get("stars", {})
    names = {line["model"]["id"]: line["model"]["name"] for line in [*board["results"], *board["collecting"]]}
    shown = sorted((slug for slug in given if slug in names), key=lambda slug: -given[slug]["mean"])
    return [
        {
            "name": names[slug],
            "mean": number_format(given[slug]["mean"], 2),
            "interval": _interval(given[slug]["low"], given[slug]["high"]),
            "answers": given[slug]["answers"],
        }
        for slug in shown
    ]


def _interval(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"{number_format(low, 2)} – {number_format(high, 2)}"
