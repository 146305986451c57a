"""Counted figures into MetricDay: one transaction for a day's family, which can be repeated."""

from collections.abc import Mapping
from datetime import date
from typing import NamedTuple

from django.db import connection, transaction

from metrics.models import MetricDay
from metrics.rollup.families import Family, Figure, Key, Reveal

_FIELDS = ["metric", "team_id", "span", "dim", "key"]
# Id of the lock until COMMIT: runners take turns, so that each compares with what the other stored.
_LOCK = 460_092


class Difference(NamedTuple):
    """Stored figures that a recount changes. kept: those that it would lower, left alone as rows were deleted."""

    changed: dict[Key, Figure]
    gone: list[Key]
    kept: list[Key]
    counted: Mapping[Key, Figure]

    def __bool__(self) -> bool:
        return bool(self.changed or self.gone)


def _compare(stored: Mapping[Key, Figure], counted: Mapping[Key, Figure]) -> Difference:
    changed = {key: figure for key, figure in counted.items() if stored.get(key) != figure}
    return Difference(changed, [key for key in stored if key not in counted], [], counted)


def _without_losses(difference: Difference, stored: Mapping[Key, Figure]) -> Difference:
    lower = [key for key, figure in difference.changed.items() if key in stored and _is_lower(figure, stored[key])]
    changed = {key: figure for key, figure in difference.changed.items() if key not in {*lower}}
    return difference._replace(changed=changed, gone=[], kept=[*difference.gone, *lower])


def _unchanged(difference: Difference, stored: Mapping[Key, Figure]) -> Difference:
    kept = [key for key in difference.changed if key in stored]
    return difference._replace(changed={}, gone=[], kept=[*difference.gone, *kept])


def _is_lower(counted: Figure, stored: Figure) -> bool:
    # Savings may be negative, so that more rows may have a lower sum.
    return counted.n < stored.n or (counted.n == stored.n and counted.total < stored.total)


def stored_figures(family: Family, day: date) -> dict[Key, Figure]:
    rows = MetricDay.objects.filter(day=day, metric__in={metric for metric, _span in family.metrics})
    values = rows.values_list(*_FIELDS, "n", "total", "buckets")
    return {Key(*row[:5]): Figure(*row[5:]) for row in values if (row[0], row[2]) in family.metrics}


@transaction.atomic
def roll_up(family: Family, day: date, reveal: Reveal, *, only_compare: bool = False) -> Difference:
    """Store the figures of a day, and return what changed. only_compare: store nothing.

    Where rows that the stored figures were counted from are deleted, no figure is lowered or removed.
    """
    window = family.window(day)
    if not family.is_counted(window):
        return Difference({}, [], [], {})
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
    stored = stored_figures(family, window.day)
    difference = _compare(stored, family.count(window, reveal))
    if difference and stored and family.lost_rows(window):
        if not family.shifts:
            difference = _without_losses(difference, stored)
        elif window.is_settled:
            difference = _unchanged(difference, stored)
    if not only_compare:
        _store(window.day, difference)
    return difference


def _store(day: date, difference: Difference) -> None:
    rows = [
        MetricDay(day=day, **key._asdict(), n=figure.n, total=figure.total, buckets=figure.buckets)
        for key, figure in difference.changed.items()
    ]
    MetricDay.objects.bulk_create(
        rows, batch_size=2_000, update_conflicts=True, update_fields=["n", "total", "buckets"],
        unique_fields=["metric", "dim", "team", "span", "key", "day"],
    )  # fmt: skip
    for key in difference.gone:
        MetricDay.objects.filter(day=day, **key._asdict()).delete()
