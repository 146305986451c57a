"""A board as a CSV file that a spreadsheet may open without running anything."""

import csv
import io
from typing import Any

COLUMNS = (
    "rank", "rank_best", "rank_worst", "model", "name", "organization", "license", "license_kind", "status",
    "score", "ci_low", "ci_high", "preliminary", "votes", "wins", "losses", "ties", "both_bad", "win_rate",
    "elo", "price_input", "price_output", "median_first_token_ms",
)  # fmt: skip

# What starts a formula, in ASCII and full width.
_FORMULA = tuple("=+-@＝＋－＠")


def as_csv(results: list[dict[str, Any]]) -> str:
    """The board's results, one line each."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, extrasaction="ignore")
    writer.writeheader()
    for line in results:
        cells = {**line["model"], **line, "model": line["model"]["id"]}
        writer.writerow({name: neutral(value) for name, value in cells.items()})
    return text.getvalue()


def neutral(value: Any) -> Any:
    """A text that a spreadsheet would take for a formula, also behind blanks, tabs or line ends, behind a quote."""
    if isinstance(value, str) and value.strip().startswith(_FORMULA):
        return f"'{value}"
    return value
