"""A decision report as a file."""

from benchmarks.reports.document import as_html_file
from reviews.reports.document import as_file
from reviews.reports.page import ReportPage

CONTENT_TYPES = {"json": "application/json", "html": "text/html"}


def content_of(page: ReportPage, ending: str) -> bytes:
    """ending: a key of CONTENT_TYPES."""
    if ending == "json":
        return as_file(page.text)
    return as_html_file("reviews/report_body.html", page.document.question, {"page": page}).encode()
