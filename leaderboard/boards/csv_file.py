"""A board as a CSV file that a spreadsheet may open without running anything."""

import csv
import io
import re

from django.http import HttpResponse

from leaderboard.payload_types import ResultPayload

COLUMNS = (
    "rank", "rank_best", "rank_worst", "model", "name", "organization", "license", "license_kind", "status",
    "score", "ci_low", "ci_high", "preliminary", "votes", "wins", "losses", "ties", "both_bad", "win_rate",
    "elo", "price_input", "price_output", "median_first_token_ms",
)  # fmt: skip

# What starts a formula, in ASCII or full width, also behind what a reader does not see.
_FORMULA = re.compile(r"[\s\x00-\x1f\u200b-\u200f\u2060\ufeff]*[=+\-@＝＋－＠]")


def board_file(board: str, results: list[ResultPayload]) -> HttpResponse:
    """For the page and the API alike."""
    return HttpResponse(
        as_csv(results),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{board.replace(":", "-")}.csv"'},
    )


def as_csv(results: list[ResultPayload]) -> str:
    """The board's results, one line each."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, extrasaction="ignore")
    writer.writeheader()
    for line in results:
        cells: dict[str, object] = {**line["model"], **line, "model": line["model"]["id"]}
        writer.writerow({name: neutral(value) for name, value in cells.items()})
    return text.getvalue()


def neutral(value: object) -> object:
    """A text that a spreadsheet might take for a formula gets a quote before it; the rest stays as it is."""
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value
