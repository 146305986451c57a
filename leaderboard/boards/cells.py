"""Texts and HTML of a board's cells, formatted in Python: template filters are slower."""

from typing import NamedTuple

from django.utils.formats import get_format
from django.utils.html import format_html
from django.utils.translation import gettext as _

from common.text.money import dollars
from leaderboard.boards.standings import model_label
from leaderboard.payload_types import ResultPayload
from models_registry.payloads import licence_label
from models_registry.templatetags.energy import watt_hours
from models_registry.templatetags.model_cards import model_icon

UNKNOWN = "–"


class Line(NamedTuple):
    """A model's line. url: of its page, or ""; whisker, point: SVG paths of its interval and score."""

    result: ResultPayload
    url: str
    whisker: str
    point: str


def rank_cell(line: Line) -> str:
    return format_html("<strong>{}</strong>{}", rank_text(line.result), _hint(rank_range(line.result)))


def name_cell(line: Line) -> str:
    model = line.result["model"]
    name = format_html("<bdi>{}</bdi>", model_label(model))
    return format_html(
        "{} {}{}{}",
        model_icon(model["name"], model["icon"], model["organization"]),
        format_html('<a href="{}">{}</a>', line.url, name) if line.url else name,
        _badge(_("preliminary")) if line.result["preliminary"] else "",
        _badge(_("retired")) if model["status"] == "retired" else "",
    )


def score_cell(line: Line) -> str:
    return score_text(line.result)


def interval_cell(line: Line) -> str:
    drawing = (
        '<svg viewBox="0 0 110 12" width="110" height="12" aria-hidden="true"><path class="whisker" d="{}"/>'
        '<path class="point" d="{}"/></svg><span class="hint">{}</span>'
    )
    return format_html(drawing, line.whisker, line.point, interval_text(line.result))


def tier_cell(line: Line) -> str:
    tier = line.result["tier"]
    return UNKNOWN if tier is None else str(tier)


def votes_cell(line: Line) -> str:
    votes = line.result["votes"]
    new = (line.result["live_votes"] or 0) - votes
    new_votes = f"+{format_integer(new)}" if new > 0 else ""
    return format_html('{} <span class="new-votes" data-live="new">{}</span>', format_integer(votes), new_votes)


def win_rate_cell(line: Line) -> str:
    return format_percent(line.result["win_rate"])


def both_bad_cell(line: Line) -> str:
    low, high = line.result["both_bad_low"], line.result["both_bad_high"]
    interval = "" if low is None or high is None else f"{100 * low:.0f}–{100 * high:.0f}"
    return format_html("{}{}", format_percent(line.result["both_bad_rate"]), _hint(interval))


def agreement_cell(line: Line) -> str:
    return _points(line.result["agreement_score"])


def elo_cell(line: Line) -> str:
    return _points(line.result["elo"])


def price_cell(line: Line) -> str:
    """Format input and output price in US dollars per million tokens."""
    model = line.result["model"]
    if model["price_input"] is None or model["price_output"] is None:
        return UNKNOWN
    return f"{dollars(model['price_input'])} / {dollars(model['price_output'])}"


def energy_cell(line: Line) -> str:
    energy = line.result["model"]["energy"]
    return UNKNOWN if energy is None else watt_hours(energy)


def first_token_cell(line: Line) -> str:
    milliseconds = line.result["median_first_token_ms"]
    return UNKNOWN if milliseconds is None else f"{format_integer(milliseconds)} ms"


def organization_cell(line: Line) -> str:
    return line.result["model"]["organization"]


def licence_cell(line: Line) -> str:
    model = line.result["model"]
    return model["license"] or licence_label(model["license_kind"])


def rank_text(result: ResultPayload) -> str:
    return UNKNOWN if result["rank"] is None else str(result["rank"])


def rank_range(result: ResultPayload) -> str:
    best, worst = result["rank_best"], result["rank_worst"]
    return "" if best == worst else f"{best}–{worst}"


def score_text(result: ResultPayload) -> str:
    """Format the score, or the only finite bound."""
    score, low, high = result["score"], result["ci_low"], result["ci_high"]
    if score is None:
        return UNKNOWN
    if low is None and high is not None:
        return _("at most %(points)s") % {"points": f"{high:.0f}"}
    if high is None and low is not None:
        return _("at least %(points)s") % {"points": f"{low:.0f}"}
    return f"{score:.0f}"


def interval_text(result: ResultPayload) -> str:
    low, high = result["ci_low"], result["ci_high"]
    return "" if low is None or high is None else f"{low:.0f}–{high:.0f}"


def format_integer(number: float) -> str:
    """Format like `intcomma`, which takes ten times as long."""
    return f"{round(number):,}".replace(",", get_format("THOUSAND_SEPARATOR"))


def format_percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _points(points: float | None) -> str:
    return UNKNOWN if points is None else f"{points:.0f}"


def _hint(text: str) -> str:
    return format_html(' <span class="hint">({})</span>', text) if text else ""


def _badge(text: str) -> str:
    return format_html(' <span class="badge">{}</span>', text)
