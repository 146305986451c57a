"""Columns of a board: its table, the keys that sort its lines, and the fields of its files."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Literal

from django.utils.translation import gettext_lazy as _

from leaderboard.boards import cells

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise


@dataclass(frozen=True)
class Column:
    """A column of the table; keys and fields are values of a line or its model.

    name: key by which the head sorts, unless `first`, the order of the first click, is None. more_sorts: keys of the
    API alone. markup: HTML around a cell's text. fields: columns of a CSV file, sorted by `fields_place`.
    is_optional: left out where no line has a value. live: `data-live` of cells that new votes change.
    """

    name: str
    head: "_StrPromise"
    cell: Callable[[cells.Line], str]
    _: KW_ONLY
    kind: Literal["name", "number", "interval", "text"] = "number"
    markup: str = "{}"
    first: Literal["asc", "desc"] | None
    fields: tuple[str, ...]
    # A new column takes the next place, because programs may read files by position.
    fields_place: int
    more_sorts: tuple[str, ...] = ()
    is_optional: bool = False
    head_of_snapshot: "_StrPromise | None" = None
    live: str = ""


COLUMNS = (
    Column(
        "rank", _("Rank"), cells.rank_cell,
        first="asc", fields=("rank", "rank_best", "rank_worst"), fields_place=0,
    ),
    Column("name", _("Model"), cells.name_cell, kind="name", first="asc", fields=("model", "name"), fields_place=0),
    Column(
        "score", _("Score"), cells.score_cell, markup="<strong>{}</strong>",
        first="desc", fields=("score",), fields_place=2,
    ),
    Column(
        "interval", _("95 % interval"), cells.interval_cell, kind="interval",
        first=None, more_sorts=("ci_low", "ci_high"), fields=("ci_low", "ci_high", "preliminary"), fields_place=2,
    ),
    Column("tier", _("Tier"), cells.tier_cell, first="asc", fields=("tier",), fields_place=3, is_optional=True),
    Column(
        "votes", _("Votes"), cells.votes_cell,
        first="desc", more_sorts=("wins", "losses", "ties", "both_bad"),
        fields=("votes", "wins", "losses", "ties", "both_bad"), fields_place=2,
    ),
    Column("win_rate", _("Win rate"), cells.win_rate_cell, first="desc", fields=("win_rate",), fields_place=2),
    Column(
        "both_bad_rate", _("Both bad"), cells.both_bad_cell,
        first="desc", fields=("both_bad_rate", "both_bad_low", "both_bad_high", "judges"), fields_place=3,
    ),
    Column(
        "agreement_score", _("By agreement"), cells.agreement_cell,
        first="desc", fields=("agreement_score",), fields_place=3, is_optional=True,
    ),
    Column(
        "elo", _("Live Elo"), cells.elo_cell, head_of_snapshot=_("Elo then"), live="elo",
        first="desc", fields=("elo",), fields_place=2, is_optional=True,
    ),
    Column(
        "price", _("Price"), cells.price_cell,
        first="asc", fields=("price_input", "price_output"), fields_place=2, is_optional=True,
    ),
    Column(
        "median_first_token_ms", _("First token"), cells.first_token_cell,
        first="asc", fields=("median_first_token_ms",), fields_place=2, is_optional=True,
    ),
    Column(
        "organization", _("Organization"), cells.organization_cell, kind="text", markup="<bdi>{}</bdi>",
        first="asc", fields=("organization",), fields_place=1, is_optional=True,
    ),
    Column(
        "license", _("Licence"), cells.licence_cell, kind="text", markup="<bdi>{}</bdi>",
        first="asc", fields=("license", "license_kind", "status"), fields_place=1, is_optional=True,
    ),
)  # fmt: skip

SORTS = tuple(key for column in COLUMNS for key in (*((column.name,) if column.first else ()), *column.more_sorts))
FIELDS = tuple(field for column in sorted(COLUMNS, key=lambda column: column.fields_place) for field in column.fields)
