import csv
import io
from collections.abc import Iterable, Sequence

from django.http import HttpResponse

from common.tables.cells import inert_cell
from metrics.payload_types import MetricSeriesPayload
from metrics.series import CSV_COLUMNS, csv_rows


def csv_response(name: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> HttpResponse:
    """name: of the file, without its extension."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(columns)
    writer.writerows(map(inert_cell, row) for row in rows)
    headers = {"Content-Disposition": f'attachment; filename="{name.replace("_", "-")}.csv"'}
    return HttpResponse(text.getvalue(), content_type="text/csv; charset=utf-8", headers=headers)


def series_as_csv(series: MetricSeriesPayload) -> HttpResponse:
    return csv_response(series["metric"], CSV_COLUMNS, csv_rows(series))
