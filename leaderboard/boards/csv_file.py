import csv
import io

from django.http import HttpResponse

from common.tables.cells import escape_formula
from leaderboard.boards.columns import FIELDS
from leaderboard.payload_types import LeaderboardPayload


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
        if (energy := line["model"]["energy"]) is not None:
            cells |= energy | {"energy_wh_low": energy["wh_low"], "energy_wh_high": energy["wh_high"]}
        writer.writerow({name: escape_formula(value) for name, value in cells.items()})
    return text.getvalue()
