import csv
import io

from django.http import HttpResponse

from common.tables.cells import inert_cell
from metrics.payload_types import MetricSeriesPayload
from metrics.series import CSV_COLUMNS, csv_rows


def csv_response(series: MetricSeriesPayload) -> HttpResponse:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(CSV_COLUMNS)
    writer.writerows(map(inert_cell, row) for row in csv_rows(series))
    name = f"{series['metric'].replace('_', '-')}.csv"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(text.getvalue(), content_type="text/csv; charset=utf-8", headers=headers)
