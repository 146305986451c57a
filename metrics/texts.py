"""Numbers and days of figures, as people read them."""

from datetime import date
from functools import lru_cache

from django.utils.formats import date_format, number_format
from django.utils.translation import get_language

from metrics.catalogue import Bucket
from metrics.charts import Drawing


def number_text(value: float) -> str:
    return _number_text(value, get_language())


@lru_cache(maxsize=10_000)
def _number_text(value: float, _language: str | None) -> str:
    """Return the number in the present language; tables have many of few different ones."""
    whole = int(value) == value
    return number_format(int(value) if whole else round(value, 2), use_l10n=True, force_grouping=whole)


def day_text(at: str, bucket: Bucket) -> str:
    """Return the first day of a bucket, or the month."""
    return _day_text(at, bucket, get_language())


@lru_cache(maxsize=10_000)
def _day_text(at: str, bucket: Bucket, _language: str | None) -> str:
    return date_format(date.fromisoformat(at), "F Y" if bucket is Bucket.MONTH else "j M Y")


def axis_dates(drawing: Drawing, days: list[str]) -> list[tuple[float, str, str]]:
    """Return x, text and anchor of the dates below a drawing. days: texts of all buckets."""
    last = len(days) - 1
    return [(x, days[index], "end" if index and index == last else "middle") for x, index in drawing.dates]
