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
    API alone. explanation: shown at the head. markup: HTML around a cell's text. fields: columns of a CSV file, sorted
    by `fields_place`.
    is_optional: left out where no line has a value. live: `data-live` of cells that new votes change.
    """

    name: str
    head: "_StrPromise"
    cell: Callable[[cells.Line], str]
    _: KW_ONLY
    kind: Literal["name", "number", "interval", "text"] = "number"
    markup: str = "{}"
    first: Literal["asc", "desc"] | None
    explanation: "_StrPromise"
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
        explanation=_("One plus the number of models whose whole interval is higher. In brackets: possible ranks."),
        first="asc", fields=("rank", "rank_best", "rank_worst"), fields_place=0,
    ),
    Column(
        "name", _("Model"), cells.name_cell,
        explanation=_("A grey line is preliminary: it has few votes, or only wins or only losses."),
        kind="name", first="asc", fields=("model", "name"), fields_place=0,
    ),
    Column(
        "score", _("Score"), cells.score_cell, markup="<strong>{}</strong>",
        explanation=_("Strength, from all counted votes. 100 points more: preferred in 64 of 100 comparisons."),
        first="desc", fields=("score",), fields_place=2,
    ),
    Column(
        "interval", _("95 % interval"), cells.interval_cell, kind="interval",
        explanation=_("The true score lies in between, 19 times out of 20. More votes make the interval shorter."),
        first=None, more_sorts=("ci_low", "ci_high"), fields=("ci_low", "ci_high", "preliminary"), fields_place=2,
    ),
    Column(
        "tier", _("Tier"), cells.tier_cell,
        explanation=_(
            "Every model of a tier is better than all models of later tiers, 19 times out of 20. "
            "With one tier for all, the votes cannot divide them yet."
        ),
        first="asc", fields=("tier",), fields_place=3, is_optional=True,
    ),
    Column(
        "votes", _("Votes"), cells.votes_cell,
        explanation=_("Counted votes on this model’s answers. After a plus: votes since the scores were computed."),
        first="desc", more_sorts=("wins", "losses", "ties", "both_bad"),
        fields=("votes", "wins", "losses", "ties", "both_bad"), fields_place=2,
    ),
    Column(
        "win_rate", _("Win rate"), cells.win_rate_cell,
        explanation=_("Votes won plus half of the ties, of all its votes. Unlike the score, it depends on opponents."),
        first="desc", fields=("win_rate",), fields_place=2,
    ),
    Column(
        "both_bad_rate", _("Both bad"), cells.both_bad_cell,
        explanation=_("In how many of its votes both answers were found bad. In brackets: the interval of 95 %."),
        first="desc", fields=("both_bad_rate", "both_bad_low", "both_bad_high", "judges"), fields_place=3,
    ),
    Column(
        "agreement_score", _("By agreement"), cells.agreement_cell,
        explanation=_("The score with more weight for people who agree with others: a cross-check, not a better one."),
        first="desc", fields=("agreement_score",), fields_place=3, is_optional=True,
    ),
    Column(
        "elo", _("Live Elo"), cells.elo_cell, head_of_snapshot=_("Elo then"), live="elo",
        explanation=_("Moves with every vote and depends on their order: a first impression, never the ranking."),
        first="desc", fields=("elo",), fields_place=2, is_optional=True,
    ),
    Column(
        "price", _("Price"), cells.price_cell,
        explanation=_("US dollars per million tokens: of the prompt / of the answer."),
        first="asc", fields=("price_input", "price_output"), fields_place=2, is_optional=True,
    ),
    Column(
        "median_first_token_ms", _("First token"), cells.first_token_cell,
        explanation=_("The usual wait until an answer begins: half of the last answers began sooner."),
        first="asc", fields=("median_first_token_ms",), fields_place=2, is_optional=True,
    ),
    Column(
        "organization", _("Organization"), cells.organization_cell, kind="text", markup="<bdi>{}</bdi>",
        explanation=_("The company or group that made the model."),
        first="asc", fields=("organization",), fields_place=1, is_optional=True,
    ),
    Column(
        "license", _("Licence"), cells.licence_cell, kind="text", markup="<bdi>{}</bdi>",
        explanation=_("The terms under which the model may be used."),
        first="asc", fields=("license", "license_kind", "status"), fields_place=1, is_optional=True,
    ),
    Column(
        "energy", _("Energy"), cells.energy_cell,
        explanation=_("Electricity for an answer of 1,000 tokens: estimated from the model’s size, not measured."),
        first="asc", fields=("energy_wh_low", "energy_wh_high", "co2e_g_low", "co2e_g_high"), fields_place=4,
        is_optional=True,
    ),
)  # fmt: skip

SORTS = tuple(key for column in COLUMNS for key in (*((column.name,) if column.first else ()), *column.more_sorts))
FIELDS = tuple(field for column in sorted(COLUMNS, key=lambda column: column.fields_place) for field in column.fields)
