"""Periods that pages of figures offer."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Protocol
from urllib.parse import urlencode

from django.utils.translation import ngettext

from metrics.catalogue import Bucket
from models_registry.models.ledger import today

# Days until today, and their buckets.
PERIODS = ((28, Bucket.DAY), (90, Bucket.DAY), (365, Bucket.WEEK), (1095, Bucket.MONTH))


class Period(Protocol):
    @property
    def first(self) -> date: ...
    @property
    def last(self) -> date: ...
    @property
    def bucket(self) -> Bucket: ...


@dataclass(frozen=True)
class PeriodLink:
    """label: such as 90 days."""

    label: str
    query: str
    is_current: bool


def period_parameters(first: date, last: date, bucket: Bucket) -> dict[str, str]:
    return {"from": first.isoformat(), "to": last.isoformat(), "bucket": bucket.value}


def period_links(chosen: Period, kept: Mapping[str, str]) -> list[PeriodLink]:
    """Return links to periods that end today. kept: further parameters of the address."""
    end, links = today(), []
    for days, bucket in PERIODS:
        period = end - timedelta(days=days - 1), end, bucket
        is_current = (chosen.first, chosen.last, chosen.bucket) == period
        links.append(PeriodLink(_label(days), urlencode({**period_parameters(*period), **kept}), is_current))
    return links


def _label(days: int) -> str:
    years, rest = divmod(days, 365)
    if rest:
        return ngettext("%(n)d day", "%(n)d days", days) % {"n": days}
    return ngettext("%(n)d year", "%(n)d years", years) % {"n": years}
