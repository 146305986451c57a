import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TypedDict

import msgspec
from django import template
from django.db.models import QuerySet
from django.utils.formats import number_format
from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from accounts.actor import Actor
from accounts.models import Team
from battles.templatetags.battles import seconds
from benchmarks import access
from benchmarks.editing.text_diffs import Part
from benchmarks.models import Run, Template
from benchmarks.queries.matrix import SIGNS, Cell, Sign
from benchmarks.queries.run_progress import failure_message
from benchmarks.statistics.payload import Interval
from common.text.money import rounded_dollars

register = template.Library()

# Rows of each kind on a team's page.
LATEST = 5


@register.filter
def team_for(thing: Template | Run, actor: Actor) -> Team | None:
    return access.team_of(actor, thing)


class _Latest(TypedDict):
    runs: QuerySet[Run]
    templates: QuerySet[Template]


@register.simple_tag
def benchmarks_of(team: Team) -> _Latest:
    """Return the team's latest runs and templates."""
    runs = Run.objects.filter(team=team, is_judging=False).select_related("version__template", "owner")
    templates = Template.objects.filter(team=team, archived_at=None).exclude(kind=Template.Kind.JUDGING)
    templates = templates.select_related("owner_user").order_by("-pk")
    return {"runs": runs.order_by("-created_at", "-pk")[:LATEST], "templates": templates[:LATEST]}


_MARKS = re.compile(r"({{.*?}}|{%.*?%}|{#.*?#})", re.DOTALL)


@register.filter
def with_marks(text: str) -> SafeString:
    """Return a template as HTML with its variables marked."""
    parts = _MARKS.split(text)
    return format_html_join(
        "",
        "{}",
        ((format_html('<mark class="variable">{}</mark>', part) if at % 2 else part,) for at, part in enumerate(parts)),
    )


_TAGS = {"added": "ins", "removed": "del"}


@register.filter
def with_changes(parts: Sequence[Part]) -> SafeString:
    """Return texts with what was added and removed marked."""
    marked = (
        format_html("<{tag}>{text}</{tag}>", tag=mark_safe(_TAGS[part.kind]), text=part.text)  # noqa: S308
        if part.kind != "same"
        else part.text
        for part in parts
    )
    return format_html_join("", "{}", ((part,) for part in marked))


@register.filter
def as_text(value: object) -> str:
    """Return a text as it is, another value as JSON."""
    return value if isinstance(value, str) else as_json(value)


@register.filter
def as_json(value: object) -> str:
    return msgspec.json.encode(value).decode()


@register.filter
def cost(amount: Decimal | float | None) -> str:
    return "–" if amount is None else rounded_dollars(Decimal(str(amount)))


@register.filter
def percent(share: float | None) -> str:
    return "–" if share is None else _("%(number)s %%") % {"number": number_format(round(100 * share, 1), 1)}


@register.simple_tag
def interval_marks(interval: Interval) -> dict[str, float]:
    """Return x of low, value and high in a drawing 100 wide."""
    if interval.value is None or interval.low is None or interval.high is None:
        return {}
    marks = {"low": interval.low, "value": interval.value, "high": interval.high}
    return {name: round(100 * min(max(share, 0.0), 1.0), 1) for name, share in marks.items()}


@register.filter
def points(share: float | None) -> str:
    """Return a difference of shares in points of a hundred, with its sign."""
    if share is None:
        return "–"
    rounded = round(100 * share, 1)
    sign = "+" if rounded > 0 else "−" if rounded < 0 else ""
    return f"{sign}{number_format(abs(rounded), 1)}"


@register.simple_tag
def difference_marks(interval: Interval) -> dict[str, float]:
    """Return x of low, value and high in a drawing 100 wide with 0 in its middle."""
    if interval.value is None or interval.low is None or interval.high is None:
        return {}
    marks = {"low": interval.low, "value": interval.value, "high": interval.high}
    return {name: round(50 + 50 * min(max(share, -1.0), 1.0), 1) for name, share in marks.items()}


@register.filter
def milliseconds(number: float | None) -> str:
    return "–" if number is None else seconds(round(number))


@register.simple_tag
def sign(name: Sign) -> SafeString:
    """Return a sign, and its word for screen readers."""
    character, word = SIGNS[name]
    return format_html('<span aria-hidden="true">{}</span><span class="unseen">{}</span>', character, word)


@register.simple_tag
def matrix_cells(cells: Sequence[Cell | None], items_url: str) -> SafeString:
    """Return a row's cells. items_url: "" without links."""
    # Includes of templates, and format_html for each part, would take most of the page's time.
    signs: dict[Sign, SafeString] = {name: sign(name) for name in {cell.sign for cell in cells if cell is not None}}
    scores = {cell.score for cell in cells if cell is not None and cell.score is not None}
    values: dict[float | None, SafeString] = {score: escape(number_format(round(score, 2), 2)) for score in scores}
    return mark_safe("".join(_cell(cell, signs, values, items_url) for cell in cells))  # noqa: S308 - texts are escaped


def _cell(
    cell: Cell | None, signs: Mapping[Sign, SafeString], values: Mapping[float | None, SafeString], items_url: str
) -> str:
    if cell is None:
        return "<td></td>"
    passed = f' <span class="hint">{cell.passed}/{cell.repeats}</span>' if cell.repeats > 1 else ""
    content = f'<span class="verdict">{signs[cell.sign]} {values.get(cell.score, "")}{passed}</span>'
    if answer := cell.answer or [(failure_message(code), False) for code in cell.errors[:1]]:
        parts = [f"<mark>{escape(text)}</mark>" if is_own else escape(text) for text, is_own in answer]
        content += f'<p dir="auto">{"".join(parts)}</p>'
    if items_url:
        content = f'<a href="{items_url}{cell.item_id}/">{content}</a>'
    item = f' data-item="{cell.item_id}"' if cell.repeats == 1 else ""
    return f'<td data-sign="{cell.sign}"{item}>{content}</td>'
