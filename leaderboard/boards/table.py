"""Rows of a board's table, formatted here: template filters are slower.

Rows are dicts, because templates look up dict keys first.
"""

from collections.abc import Sequence
from itertools import chain, groupby
from operator import itemgetter
from typing import NamedTuple, TypedDict

from django.urls import reverse
from django.utils.formats import get_format
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from common.text.money import dollars
from leaderboard.payload_types import ResultPayload
from models_registry.payload_types import ModelPayload
from models_registry.payloads import licence_label
from models_registry.templatetags.model_cards import model_icon

WIDTH = 110.0  # width of the drawn scale, in SVG units
MARGIN = 10.0  # beyond the outermost bounds, in points
# Slug in a model page's URL that each row replaces, because 300 calls of reverse() take milliseconds.
_PLACEHOLDER = "a"


class Row(TypedDict):
    line: ResultPayload
    name: str
    icon: SafeString
    url: str
    is_preliminary: bool
    is_retired: bool
    rank: str
    range: str
    tier: str
    score: str
    interval: str
    whisker: str
    point: str
    votes: str
    new_votes: str
    win_rate: str
    both_bad: str
    both_bad_interval: str
    agreement: str
    elo: str
    price: str
    first_token: str
    organization: str
    license: str


class Table(NamedTuple):
    """Models of one comparable group. absent: CSS classes that hide columns without values."""

    group: int
    rows: list[Row]
    absent: str


def tables(results: Sequence[ResultPayload], *, link: bool = True) -> list[Table]:
    """Return one table per comparable group, all on one scale.

    link: link to models' pages, which imported contestants do not have.
    """
    by_group = groupby(sorted(results, key=itemgetter("group")), key=itemgetter("group"))
    scale = _Scale(results)
    before, after = reverse("leaderboard:model", args=[_PLACEHOLDER]).rsplit(_PLACEHOLDER, 1)
    absent = _absent(results)
    return [
        Table(
            group,
            [_row(line, scale, f"{before}{line['model']['id']}{after}" if link else "") for line in lines],
            absent,
        )
        for group, lines in by_group
    ]


def _absent(results: Sequence[ResultPayload]) -> str:
    known = {
        "tier": any(line["tier"] is not None for line in results),
        "agreement": any(line["agreement_score"] is not None for line in results),
        "elo": any(line["elo"] is not None for line in results),
        "price": any(line["model"]["price_output"] is not None for line in results),
        "first-token": any(line["median_first_token_ms"] is not None for line in results),
        "organization": any(line["model"]["organization"] for line in results),
        "license": any(line["model"]["license"] or line["model"]["license_kind"] for line in results),
    }
    return " ".join(f"no-{column}" for column, is_known in known.items() if not is_known)


def _row(line: ResultPayload, scale: "_Scale", url: str) -> Row:
    model, score, first_token = line["model"], line["score"], line["median_first_token_ms"]
    has_range = line["rank_best"] != line["rank_worst"]
    return {
        "line": line,
        "name": model["name"],
        "icon": model_icon(model["name"], model["icon"]),
        "url": url,
        "is_preliminary": line["preliminary"],
        "is_retired": model["status"] == "retired",
        "rank": "–" if line["rank"] is None else str(line["rank"]),
        "range": f"{line['rank_best']}–{line['rank_worst']}" if has_range else "",
        "tier": "–" if line["tier"] is None else str(line["tier"]),
        "score": score_text(line),
        "interval": interval_text(line),
        "whisker": "" if score is None else scale.whisker(line),
        "point": "" if score is None else f"M{scale.at(score):.1f} 1V11",
        "votes": format_integer(line["votes"]),
        "new_votes": _new_votes(line),
        "win_rate": format_percent(line["win_rate"]),
        "both_bad": format_percent(line["both_bad_rate"]),
        "both_bad_interval": _both_bad_interval(line),
        "agreement": "–" if line["agreement_score"] is None else f"{line['agreement_score']:.0f}",
        "elo": "–" if line["elo"] is None else f"{line['elo']:.0f}",
        "price": price_text(model),
        "first_token": "–" if first_token is None else f"{format_integer(first_token)} ms",
        "organization": model["organization"],
        "license": model["license"] or licence_label(model["license_kind"]),
    }


class _Scale:
    """Scale from points to SVG units; an unbounded interval reaches the end."""

    def __init__(self, results: Sequence[ResultPayload]) -> None:
        bounds = chain.from_iterable((line["ci_low"], line["ci_high"], line["score"]) for line in results)
        ends = [bound for bound in bounds if bound is not None]
        self.low = min(ends, default=0.0) - MARGIN
        self.unit = WIDTH / (max(ends, default=0.0) + MARGIN - self.low)

    def at(self, points: float) -> float:
        return (points - self.low) * self.unit

    def whisker(self, line: ResultPayload) -> str:
        left = 0.0 if line["ci_low"] is None else self.at(line["ci_low"])
        right = WIDTH if line["ci_high"] is None else self.at(line["ci_high"])
        return f"M{left:.1f} 6H{right:.1f}"


def score_text(line: ResultPayload) -> str:
    """Format the score, or the only finite bound."""
    score, low, high = line["score"], line["ci_low"], line["ci_high"]
    if score is None:
        return "–"
    if low is None and high is not None:
        return _("at most %(points)s") % {"points": f"{high:.0f}"}
    if high is None and low is not None:
        return _("at least %(points)s") % {"points": f"{low:.0f}"}
    return f"{score:.0f}"


def interval_text(line: ResultPayload) -> str:
    low, high = line["ci_low"], line["ci_high"]
    return "" if low is None or high is None else f"{low:.0f}–{high:.0f}"


def _new_votes(line: ResultPayload) -> str:
    new = (line["live_votes"] or 0) - line["votes"]
    return f"+{format_integer(new)}" if new > 0 else ""


def _both_bad_interval(line: ResultPayload) -> str:
    low, high = line["both_bad_low"], line["both_bad_high"]
    return "" if low is None or high is None else f"{100 * low:.0f}–{100 * high:.0f}"


def price_text(model: ModelPayload) -> str:
    """Format input and output price in US dollars per million tokens."""
    if model["price_input"] is None or model["price_output"] is None:
        return "–"
    return f"{dollars(model['price_input'])} / {dollars(model['price_output'])}"


def format_integer(number: float) -> str:
    """Format like `intcomma`, which takes ten times as long."""
    return f"{round(number):,}".replace(",", get_format("THOUSAND_SEPARATOR"))


def format_percent(share: float) -> str:
    return f"{100 * share:.0f} %"
