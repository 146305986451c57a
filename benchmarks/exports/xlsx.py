"""A workbook written row by row, without formulas and links."""

import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain
from math import isfinite
from xml.sax.saxutils import escape

import msgspec
from xlsxwriter import Workbook
from xlsxwriter.format import Format
from xlsxwriter.utility import xl_col_to_name
from xlsxwriter.worksheet import Worksheet
from xlsxwriter.xmlwriter import XMLwriter

from benchmarks.errors import ExportTooLarge
from benchmarks.exports.answer_sheet import answer_batches, answer_table
from benchmarks.exports.description import METHOD_TEXT, described_run
from benchmarks.exports.run_export import RunExport
from benchmarks.statistics.payload import ReportPayload
from common.tables.writers import file_chunks

MAX_CELL = 32_767  # UTF-16 units
# Equal for all items, and so in Summary; facts of a case; or in the sheet of answers.
ELSEWHERE = {
    "run", "template", "version_digest", "errors_count", "relevant_difference", "case_digest", "case_weight",
    "cluster", "tags", "reply_text",
}  # fmt: skip
CUT = " … [cut]"
_CASES_AT_ONCE = 1_000
# Characters; a row shows at most MAX_LINES.
_WIDTH, _TEXT_WIDTH, MAX_LINES = 14, 45, 8
_WITH_HEADING = ("Pairs", "Items", "Cases")
# Characters that XML or Excel reads otherwise, and spaces at the ends.
_SPECIAL = re.compile(r"[\x00-\x1f&<>\ufffe\uffff]|_x|\A\s|\s\Z")

Rows = Iterable[Sequence[object]]
# The heading's, and that of other rows.
Formats = tuple[Format | None, Format | None]


def as_xlsx(export: RunExport) -> Iterator[bytes]:
    """Yield a file that is written to disk before the first chunk."""
    with tempfile.TemporaryFile() as file, tempfile.TemporaryDirectory() as folder:
        options = {
            "constant_memory": True, "strings_to_formulas": False, "strings_to_urls": False,
            "strings_to_numbers": False, "tmpdir": folder,
        }  # fmt: skip
        workbook = Workbook(file, options)
        wrap = {"text_wrap": True, "valign": "top"}
        bold, plain = workbook.add_format({**wrap, "bold": True}), workbook.add_format(wrap)
        _write_answers(workbook.add_worksheet("Answers", worksheet_class=PlainSheet), export, (bold, plain))
        for name, rows in _sheets(export):
            sheet = workbook.add_worksheet(name, worksheet_class=PlainSheet)
            sheet.set_column(0, sheet.xls_colmax - 1, _WIDTH)
            if name in _WITH_HEADING:
                sheet.freeze_panes(1, 0)
            sheet.write_rows(rows, (bold, None) if name in _WITH_HEADING else (None, None))
        workbook.close()
        file.seek(0)
        yield from file_chunks(file)


def _write_answers(sheet: "PlainSheet", export: RunExport, formats: Formats) -> None:
    columns = answer_table(export).columns
    widths = [_WIDTH, _TEXT_WIDTH, 2 * _WIDTH, *[_TEXT_WIDTH, _WIDTH, _WIDTH] * len(export.entrants)]
    for number, width in enumerate(widths):
        sheet.set_column(number, number, width)
    sheet.freeze_panes(1, 2)
    rows = sheet.write_rows(chain([columns], chain.from_iterable(answer_batches(export))), formats, widths)
    sheet.autofilter(0, 0, rows - 1, len(columns) - 1)


def _sheets(export: RunExport) -> Iterator[tuple[str, Rows]]:
    report = export.report
    yield "Summary", _summary(export, report)
    yield "Pairs", _pairs(report, export.names)
    yield "Items", _items(export)
    yield "Cases", _cases(export)
    yield "Method", [["method", report.method], ["digest", report.digest], [METHOD_TEXT]]


def _summary(export: RunExport, report: ReportPayload) -> Iterator[Sequence[object]]:
    yield from ([name, msgspec.to_builtins(value)] for name, value in described_run(export.run).items())
    yield []
    ranks = {rank.entrant: rank for rank in report.ranks}
    yield [
        "metric", "entrant", "mean", "low", "high", "se", "rank from", "rank to", "planned", "scored", "wrong",
        "missing", "unscored", "lowest", "highest",
    ]  # fmt: skip
    for metric in report.metrics:
        for mean in metric.means:
            rank = ranks.get(mean.entrant) if metric.is_primary else None
            yield [
                metric.metric, export.names[mean.entrant], mean.mean.value, mean.mean.low, mean.mean.high, mean.se,
                rank and rank.best, rank and rank.worst, mean.planned, mean.scored, mean.wrong, mean.missing,
                mean.unscored, mean.lowest, mean.highest,
            ]  # fmt: skip


def _pairs(report: ReportPayload, names: Mapping[str, str]) -> Iterator[Sequence[object]]:
    yield [
        "metric", "first", "second", "cases", "difference", "low", "high", "joint low", "joint high", "separable", "p",
        "Holm p", "cases needed",
    ]  # fmt: skip
    for metric in report.metrics:
        for pair in metric.pairs:
            joint = pair.joint
            yield [
                metric.metric, names[pair.first], names[pair.second], pair.cases, pair.difference.value,
                pair.difference.low, pair.difference.high, joint and joint.low, joint and joint.high,
                pair.is_separable, pair.p, pair.holm_p, pair.cases_needed,
            ]  # fmt: skip


def _items(export: RunExport) -> Iterator[Sequence[object]]:
    table = export.table
    shown = [place for place, name in enumerate(table.columns) if name not in ELSEWHERE]
    yield [table.columns[place] for place in shown]
    without_replies = RunExport(export.run, with_contents=False)
    for row in chain.from_iterable(without_replies.batches()):
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

    def write_rows(self, rows: Rows, formats: Formats = (None, None), widths: Sequence[int] = ()) -> int:
        """Return the number of rows; with widths, they are as high as their texts. Raises ExportTooLarge."""
        columns = [xl_col_to_name(column) for column in range(self.xls_colmax)]
        heading, style = (f' s="{form._get_xf_index()}"' if form else "" for form in formats)
        number = 0
        for number, row in enumerate(rows, start=1):
            if row and self._check_dimensions(number - 1, len(row) - 1):
                raise ExportTooLarge
            cells = "".join(
                _cell(f'r="{column}{number}"{heading if number == 1 else style}', value)
                for column, value in zip(columns, row, strict=False)
                if value is not None and value != ""
            )
            height = f' ht="{_height(row, widths)}" customHeight="1"' if widths else ""
            self.fh.write(f'<row r="{number}"{height}>{cells}</row>')
        return number


def _height(row: Sequence[object], widths: Sequence[int]) -> int:
    """Return points."""
    lines = (
        sum(len(line) // width + 1 for line in value[: MAX_LINES * width].splitlines())
        for value, width in zip(row, widths, strict=False)
        if isinstance(value, str)
    )
    return 15 * min(max(lines, default=1), MAX_LINES)


def _cell(place: str, value: object) -> str:
    if isinstance(value, bool):
        return f'<c {place} t="b"><v>{value:d}</v></c>'
    if isinstance(value, int) or (isinstance(value, float) and isfinite(value)):
        return f"<c {place}><v>{value:.16G}</v></c>"
    text = cut(_text(value))
    if _SPECIAL.search(text):
        text = escape(XMLwriter._escape_control_characters(text))
        return f'<c {place} t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'
    return f'<c {place} t="inlineStr"><is><t>{text}</t></is></c>'


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    return value.isoformat() if isinstance(value, datetime) else msgspec.json.encode(value).decode()


def cut(text: str) -> str:
    if len(text) <= MAX_CELL // 2 or len(text.encode("utf-16-le")) // 2 <= MAX_CELL:
        return text
    kept = text.encode("utf-16-le")[: 2 * (MAX_CELL - len(CUT))]
    return kept.decode("utf-16-le", errors="ignore") + CUT
