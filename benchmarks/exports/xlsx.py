"""A workbook written row by row, without formulas and links."""

import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import chain
from math import isfinite
from xml.sax.saxutils import escape

import msgspec
from xlsxwriter import Workbook
from xlsxwriter.utility import xl_col_to_name
from xlsxwriter.worksheet import Worksheet
from xlsxwriter.xmlwriter import XMLwriter

from benchmarks.errors import ExportTooLarge
from benchmarks.exports.description import METHOD_TEXT, described_run
from benchmarks.exports.matrix import matrix_batches, matrix_table
from benchmarks.exports.run_export import RunExport
from benchmarks.statistics.payload import ReportPayload
from common.tables.writers import file_chunks

MAX_CELL = 32_767  # UTF-16 units
# Equal for all items, and so in Summary; or facts of a case.
ELSEWHERE = {
    "run", "template", "version_digest", "errors_count", "relevant_difference", "case_digest", "case_weight",
    "cluster", "tags",
}  # fmt: skip
CUT = " … [cut]"
_CASES_AT_ONCE = 1_000
# Characters that XML or Excel reads otherwise, and spaces at the ends.
_SPECIAL = re.compile(r"[\x00-\x1f&<>\ufffe\uffff]|_x|\A\s|\s\Z")

Rows = Iterable[Sequence[object]]


def as_xlsx(export: RunExport) -> Iterator[bytes]:
    """Yield a file that is written to disk before the first chunk."""
    with tempfile.TemporaryFile() as file, tempfile.TemporaryDirectory() as folder:
        options = {
            "constant_memory": True, "strings_to_formulas": False, "strings_to_urls": False,
            "strings_to_numbers": False, "tmpdir": folder,
        }  # fmt: skip
        workbook = Workbook(file, options)
        for name, rows in _sheets(export):
            workbook.add_worksheet(name, worksheet_class=PlainSheet).write_rows(rows)
        workbook.close()
        file.seek(0)
        yield from file_chunks(file)


def _sheets(export: RunExport) -> Iterator[tuple[str, Rows]]:
    report = export.report
    yield "Summary", _summary(export, report)
    yield "Pairs", _pairs(report)
    scores = RunExport(export.run, with_contents=False)
    yield "Matrix", chain([matrix_table(scores).columns], chain.from_iterable(matrix_batches(scores)))
    yield "Items", _items(export)
    yield "Cases", _cases(export)
    yield "Method", [["method", report.method], ["digest", report.digest], [METHOD_TEXT]]


def _summary(export: RunExport, report: ReportPayload) -> Iterator[Sequence[object]]:
    yield from ([name, msgspec.to_builtins(value)] for name, value in described_run(export.run).items())
    yield []
    names = {header.entrant: f"{header.entrant} {header.model} {header.prompt_label}" for header in report.entrants}
    ranks = {rank.entrant: rank for rank in report.ranks}
    yield [
        "metric", "entrant", "mean", "low", "high", "se", "rank from", "rank to", "planned", "scored", "wrong",
        "missing", "unscored", "lowest", "highest",
    ]  # fmt: skip
    for metric in report.metrics:
        for mean in metric.means:
            rank = ranks.get(mean.entrant) if metric.is_primary else None
            yield [
                metric.metric, names[mean.entrant], mean.mean.value, mean.mean.low, mean.mean.high, mean.se,
                rank and rank.best, rank and rank.worst, mean.planned, mean.scored, mean.wrong, mean.missing,
                mean.unscored, mean.lowest, mean.highest,
            ]  # fmt: skip


def _pairs(report: ReportPayload) -> Iterator[Sequence[object]]:
    yield [
        "metric", "first", "second", "cases", "difference", "low", "high", "joint low", "joint high", "separable", "p",
        "Holm p", "cases needed",
    ]  # fmt: skip
    for metric in report.metrics:
        for pair in metric.pairs:
            joint = pair.joint
            yield [
                metric.metric, pair.first, pair.second, pair.cases, pair.difference.value, pair.difference.low,
                pair.difference.high, joint and joint.low, joint and joint.high, pair.is_separable, pair.p, pair.holm_p,
                pair.cases_needed,
            ]  # fmt: skip


def _items(export: RunExport) -> Iterator[Sequence[object]]:
    table = export.table
    shown = [place for place, name in enumerate(table.columns) if name not in ELSEWHERE]
    yield [table.columns[place] for place in shown]
    for row in chain.from_iterable(export.batches()):
        cells = table.cells(row)
        yield [cells[place] for place in shown]


def _cases(export: RunExport) -> Iterator[Sequence[object]]:
    contents = ["variables", "expected"] if export.with_contents else []
    yield ["key", "digest", "weight", "cluster", "tags", *contents]
    for case in chain.from_iterable(export.case_batches(_CASES_AT_ONCE)):
        shown = [case.variables, case.expected] if export.with_contents else []
        yield [case.key, case.digest, case.weight, case.cluster, case.tags, *shown]


class PlainSheet(Worksheet):  # type: ignore[misc]
    """Worksheet of plain values. Cell by cell, a row would take five times as long, and "<r>…</r>" would be XML."""

    def write_rows(self, rows: Rows) -> None:
        """Raises ExportTooLarge."""
        columns = [xl_col_to_name(column) for column in range(self.xls_colmax)]
        for number, row in enumerate(rows, start=1):
            if row and self._check_dimensions(number - 1, len(row) - 1):
                raise ExportTooLarge
            cells = "".join(
                _cell(f"{column}{number}", value)
                for column, value in zip(columns, row, strict=False)
                if value is not None and value != ""
            )
            self.fh.write(f'<row r="{number}">{cells}</row>')


def _cell(place: str, value: object) -> str:
    if isinstance(value, bool):
        return f'<c r="{place}" t="b"><v>{value:d}</v></c>'
    if isinstance(value, int) or (isinstance(value, float) and isfinite(value)):
        return f'<c r="{place}"><v>{value:.16G}</v></c>'
    text = cut(_text(value))
    if _SPECIAL.search(text):
        text = escape(XMLwriter._escape_control_characters(text))
        return f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'
    return f'<c r="{place}" t="inlineStr"><is><t>{text}</t></is></c>'


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    return value.isoformat() if isinstance(value, datetime) else msgspec.json.encode(value).decode()


def cut(text: str) -> str:
    if len(text) <= MAX_CELL // 2 or len(text.encode("utf-16-le")) // 2 <= MAX_CELL:
        return text
    kept = text.encode("utf-16-le")[: 2 * (MAX_CELL - len(CUT))]
    return kept.decode("utf-16-le", errors="ignore") + CUT
