"""Rows and CSV file of an own board."""

import csv
import io
from typing import NamedTuple

from django.http import HttpResponse
from django.utils.translation import gettext as _

from common.tables.cells import escape_formula
from leaderboard.boards.table import MARGIN, WIDTH
from leaderboard.payload_types import OwnBoardPayload, OwnLinePayload

FIELDS = (
    "model", "name", "votes", "wins", "losses", "ties", "both_bad", "score", "ci_low", "ci_high", "others_score",
    "difference", "difference_low", "difference_high", "differs",
)  # fmt: skip


class OwnRow(NamedTuple):
    """whisker, point: SVG paths of the difference and its interval; zero: path of no difference."""

    line: OwnLinePayload
    ties: int
    difference: str
    interval: str
    verdict: str
    whisker: str
    point: str
    zero: str


def own_rows(board: OwnBoardPayload) -> list[OwnRow]:
    """Return rows whose drawings have one scale, with no difference in the middle."""
    bounds = [bound for line in board["results"] for bound in (line["difference_low"], line["difference_high"])]
    reach = max((abs(bound) for bound in bounds if bound is not None), default=0.0) + MARGIN
    return [_row(line, WIDTH / (2 * reach)) for line in board["results"]]


def own_board_csv(board: OwnBoardPayload) -> HttpResponse:
    text = io.StringIO()
    writer = csv.DictWriter(text, FIELDS, extrasaction="ignore")
    writer.writeheader()
    for line in board["results"]:
        cells: dict[str, object] = {**line["model"], **line, "model": line["model"]["id"]}
        writer.writerow({name: escape_formula(value) for name, value in cells.items()})
    return HttpResponse(
        text.getvalue(),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{board["board"]}.csv"'},
    )


def _row(line: OwnLinePayload, unit: float) -> OwnRow:
    difference, low, high = line["difference"], line["difference_low"], line["difference_high"]
    ties, middle = line["ties"] + line["both_bad"], WIDTH / 2
    if difference is None or low is None or high is None:
        return OwnRow(line, ties, "", "", "", "", "", "")
    return OwnRow(
        line,
        ties,
        signed(difference),
        f"{signed(low)} … {signed(high)}",
        "" if not line["differs"] else _("liked more") if difference > 0 else _("liked less"),
        f"M{middle + low * unit:.1f} 6H{middle + high * unit:.1f}",
        f"M{middle + difference * unit:.1f} 1V11",
        f"M{middle:.1f} 0V12",
    )


def signed(points: float) -> str:
    """Return whole points with a sign; a true minus, which is as wide as a plus."""
    whole = round(points)
    return f"+{whole}" if whole > 0 else f"−{-whole}" if whole < 0 else "0"
