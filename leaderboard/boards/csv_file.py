import csv
import io

from django.http import HttpResponse

from common.tables.cells import escape_formula
from leaderboard.payload_types import LeaderboardPayload

COLUMNS = (
    "rank", "rank_best", "rank_worst", "model", "name", "organization", "license", "license_kind", "status",
    "score", "ci_low", "ci_high", "preliminary", "votes", "wins", "losses", "ties", "both_bad", "win_rate",
    "elo", "price_input", "price_output", "median_first_token_ms",
    "tier", "both_bad_rate", "both_bad_low", "both_bad_high", "judges", "agreement_score",
)  # fmt: skip


def csv_response(board: LeaderboardPayload) -> HttpResponse:
    return HttpResponse(
        results_as_csv(board),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{board["board"].replace(":", "-")}.csv"'},
    )


def results_as_csv(board: LeaderboardPayload) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, extrasaction="ignore")
    writer.writeheader()
    for line in board["results"]:
        cells: dict[str, object] = {**line["model"], **line, "model": line["model"]["id"], "judges": board["judges"]}
        writer.writerow({name: escape_formula(value) for name, value in cells.items()})
    return text.getvalue()
