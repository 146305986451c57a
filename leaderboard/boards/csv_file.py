import csv
import io
import re

from django.http import HttpResponse

from leaderboard.boards.columns import FIELDS
from leaderboard.payload_types import LeaderboardPayload

# First character of a formula, in ASCII or full width, also after invisible characters.
_FORMULA = re.compile(r"[\s\x00-\x1f\u200b-\u200f\u2060\ufeff]*[=+\-@＝＋－＠]")


def csv_response(board: LeaderboardPayload) -> HttpResponse:
    return HttpResponse(
        results_as_csv(board),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{board["board"].replace(":", "-")}.csv"'},
    )


def results_as_csv(board: LeaderboardPayload) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, FIELDS, extrasaction="ignore")
    writer.writeheader()
    for line in board["results"]:
        cells: dict[str, object] = {**line["model"], **line, "model": line["model"]["id"], "judges": board["judges"]}
        writer.writerow({name: escape_formula(value) for name, value in cells.items()})
    return text.getvalue()


def escape_formula(value: object) -> object:
    """Prefix a quote to text that a spreadsheet might run as a formula."""
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value
