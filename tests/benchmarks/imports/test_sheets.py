"""Spreadsheets as people keep them: titles, empty rows, further sheets."""

import io

import pytest
import xlsxwriter

from benchmarks.imports.content import Case, Imported, Request
from benchmarks.imports.reading import read_import
from tests.benchmarks.imports import files

GERMAN = [
    ["Fragenkatalog 2026", "", ""],
    ["", "", ""],
    ["id", "question", "answer"],
    [1, "Hauptstadt von Frankreich?", "Paris"],
    ["", "", ""],
    [2, "Hauptstadt von Peru?", "Lima"],
    ["", "", ""],
]
CASES = [
    Case("1", {"question": "Hauptstadt von Frankreich?"}, ["Paris"]),
    Case("2", {"question": "Hauptstadt von Peru?"}, ["Lima"]),
]
LEFT_OUT = [("empty_rows", 2, {"count": 2}), ("title_row", 1, {"title": "Fragenkatalog 2026"})]


def left_out(imported: Imported) -> list[tuple[str, int, dict[str, object]]]:
    entries = [entry for entry in imported.entries if entry.action == "left_out"]
    return sorted((entry.code, entry.line, entry.values) for entry in entries)


def as_csv(separator: str) -> bytes:
    return "\r\n".join(separator.join(map(str, row)) for row in GERMAN).encode("utf-8-sig")


@pytest.mark.parametrize(("name", "content"), [
    ("fragen.xlsx", files.workbook(GERMAN)), ("fragen.csv", as_csv(";")), ("fragen.tsv", as_csv("\t")),
])  # fmt: skip
def test_german_sheet_is_read_below_its_title(name: str, content: bytes):
    imported = read_import(content, Request(name))
    assert (imported.template.cases, left_out(imported)) == (CASES, LEFT_OUT)
    assert imported.template.prompts[0].messages[0].text == "{{ question }}"


def test_further_sheets_are_named():
    out = io.BytesIO()
    with xlsxwriter.Workbook(out) as book:
        for name in ("Fragen", "Notizen", "Alt"):
            book.add_worksheet(name).write_column(0, 0, ["question", f"of {name}"])
    imported = read_import(out.getvalue(), Request("own.xlsx"))
    assert left_out(imported) == [("sheets_not_read", 0, {"sheet": "Fragen", "others": "Notizen, Alt"})]
    chosen = read_import(out.getvalue(), Request("own.xlsx", sheet="Alt"))
    assert chosen.template.cases == [Case("1", {"question": "of Alt"})]


@pytest.mark.parametrize("table", [
    b"q\nwhat, then?\nwhere, then?\n",
    b"q,\na,b\n",
    b",\n" + b"title,\n" * 8 + b"q,a\nx,y\nx,y\n",
], ids=["one column", "no row below", "many titles"])  # fmt: skip
def test_row_that_may_be_the_heading_is_no_title(table: bytes):
    imported = read_import(table, Request("own.csv"))
    assert (imported.counts.get("left_out", 0), imported.counts["refused"] > 0) == (0, True)
