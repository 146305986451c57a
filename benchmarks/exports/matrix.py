"""Cases and repeats as rows, entrants as columns."""

from collections.abc import Iterator, Sequence

from benchmarks.exports.run_export import RunExport
from benchmarks.models import Case, ItemReply, RunItem
from benchmarks.reports.item_rows import entrant_key
from common.tables.table import Table

ITEMS_AT_ONCE = 2_000
_CASE_COLUMNS = ("case_key", "repeat", "cluster", "tags")
_Item = tuple[int, int, int, int, float | None, bool | None, str]


def matrix_table(export: RunExport) -> Table:
    parts = ["score", "passed", "error", *(["reply"] if export.with_contents else [])]
    names = [f"{entrant_key(entrant)} {entrant}" for entrant in export.entrants]
    return Table([*_CASE_COLUMNS, *(f"{name} {part}" for name in names for part in parts)], {}, tuple)


def matrix_batches(export: RunExport) -> Iterator[list[list[object]]]:
    """Yield rows in the order of the cases."""
    for cases in export.case_batches(max(1, ITEMS_AT_ONCE // max(1, len(export.entrants) * export.run.repeats))):
        yield list(_rows(export, cases))


def _rows(export: RunExport, cases: Sequence[Case]) -> Iterator[list[object]]:
    fields = ("entrant_id", "case_id", "repeat", "pk", "score", "passed", "error")
    items: dict[tuple[int, int, int], _Item] = {
        item[:3]: item
        for item in RunItem.objects.filter(entrant__in=export.entrants, case__in=cases).values_list(*fields)
    }
    replies: dict[int, str] = {}
    if export.with_contents:
        last = ItemReply.objects.filter(item__in=[item[3] for item in items.values()]).order_by("item", "turn")
        replies = dict(last.values_list("item_id", "reply__text"))
    for case in cases:
        for repeat in range(export.run.repeats):
            row: list[object] = [case.key, repeat, case.cluster, case.tags]
            for entrant in export.entrants:
                item = items.get((entrant.pk, case.pk, repeat))
                row += item[4:] if item else (None, None, "")
                if export.with_contents:
                    row.append(replies.get(item[3], "") if item else "")
            yield row
