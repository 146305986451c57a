from django import template
from django.utils.formats import number_format

from leaderboard.boards.standings import model_label
from leaderboard.payload_types import LeaderboardPayload

register = template.Library()


@register.simple_tag
def mean_stars(board: LeaderboardPayload) -> list[dict[str, str | int]]:
    """Return [{name, mean, interval, answers}], highest mean first; empty without stars."""
    means = board["facts"].get("stars", {})
    names = {line["model"]["id"]: model_label(line["model"]) for line in [*board["results"], *board["collecting"]]}
    slugs = sorted((slug for slug in means if slug in names), key=lambda slug: -means[slug]["mean"])
    return [
        {
            "name": names[slug],
            "mean": number_format(means[slug]["mean"], 2),
            "interval": _interval(means[slug]["low"], means[slug]["high"]),
            "answers": means[slug]["answers"],
        }
        for slug in slugs
    ]


def _interval(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"{number_format(low, 2)} – {number_format(high, 2)}"
