"""Tables inside read-only pages of the administration."""

from collections.abc import Iterable, Sequence

from django.utils.functional import Promise
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString


def table(caption: str | Promise, head: Sequence[str | Promise], rows: Iterable[Sequence[object]]) -> SafeString:
    """Return a table whose rows begin with their heading; it scrolls where it is wider than the page."""
    titles = format_html_join("", '<th scope="col">{}</th>', ((title,) for title in head))
    return format_html(
        '<div class="table-scroll" tabindex="0" role="region" aria-label="{0}">'
        "<table><caption>{0}</caption><thead><tr>{1}</tr></thead><tbody>{2}</tbody></table></div>",
        caption, titles, format_html_join("", "{}", ((_row(row),) for row in rows)),
    )  # fmt: skip


def _row(cells: Sequence[object]) -> SafeString:
    first, *others = cells
    return format_html(
        '<tr><th scope="row">{}</th>{}</tr>', first, format_html_join("", "<td>{}</td>", ((cell,) for cell in others))
    )


def number(value: object, digits: int = 3) -> str:
    return f"{value:.{digits}f}" if isinstance(value, int | float) else "–"


def percent(value: object) -> str:
    return f"{100 * value:.0f} %" if isinstance(value, int | float) else "–"
