"""Spreadsheets as people keep them: titles, empty rows, further sheets, columns named in their language."""

import io

import odfdo
import pytest
import xlsxwriter

from benchmarks.imports.content import Case, Imported, Request
from benchmarks.imports.reading import read_import
from tests.benchmarks.imports import files

GERMAN = [
    ["Fragenkatalog 2026", "", ""],
    ["", "", ""],
    ["Nr.", "Frage", "Erwartete Antwort"],
    [1, "Hauptstadt von Frankreich?", "Paris"],
    ["", "", ""],
    [2, "Hauptstadt von Peru?", "Lima"],
    ["", "", ""],
]
CASES = [
    Case("1", {"Frage": "Hauptstadt von Frankreich?"}, ["Paris"]),
    Case("2", {"Frage": "Hauptstadt von Peru?"}, ["Lima"]),
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
    assert imported.template.prompts[0].messages[0].text == "{{ Frage }}"
    assert {entry.line for entry in imported.entries if entry.code == "column"} == {3}


def test_further_sheets_are_named():
    out = io.BytesIO()
    with xlsxwriter.Workbook(out) as book:
        for name in ("Fragen", "Notizen", "Alt"):
            book.add_worksheet(name).write_column(0, 0, ["question", f"of {name}"])
    imported = read_import(out.getvalue(), Request("own.xlsx"))
    assert left_out(imported) == [("sheets_not_read", 0, {"sheet": "Fragen", "others": "Notizen, Alt"})]
    chosen = read_import(out.getvalue(), Request("own.xlsx", sheet="Alt"))
    assert chosen.template.cases == [Case("1", {"question": "of Alt"})]


def test_open_document_sheet_is_read():
    table = odfdo.Table("Fragen")
    for row in GERMAN[2:4]:
        table.append_row(odfdo.Row())
        for column, cell in enumerate(row):
            table.set_value((column, table.height - 1), cell)
    document = odfdo.Document("spreadsheet")
    document.body.clear()
    document.body.append(table)
    out = io.BytesIO()
    document.save(out)
    assert read_import(out.getvalue(), Request("fragen.ods")).template.cases == CASES[:1]


def test_stray_value_and_hidden_sheet_do_not_hinder():
    out = io.BytesIO()
    with xlsxwriter.Workbook(out) as book:
        book.add_worksheet("Alt").hide()
        page = book.add_worksheet("Fragen")
        page.activate()
        page.set_first_sheet()
        page.write_row(0, 0, ["Frage", "Antwort"])
        page.write_row(1, 0, ["Hauptstadt von Peru?", "Lima"])
        page.write(1_048_575, 1, " ")
        page.write(900_000, 0, "Hauptstadt von Chile?")
        page.write(900_000, 700, "x")
    imported = read_import(out.getvalue(), Request("own.xlsx"))
    [first, second] = imported.template.cases if imported.template else [None, None]
    assert (first.expected, second.variables["Frage"]) == (["Lima"], "Hauptstadt von Chile?")
    assert left_out(imported) == [
        ("empty_rows", 3, {"count": 899_998}), ("sheets_not_read", 0, {"sheet": "Fragen", "others": "Alt"}),
    ]  # fmt: skip
    assert [entry.values for entry in imported.entries if entry.code == "column_named"] == [{"name": "column 3"}]


@pytest.mark.parametrize(("table", "names"), [
    (b"q\nwhat, then?\nwhere, then?\n", ["q"]),
    (b"q,\na,b\n", ["q", "column 2"]),
    (b"q;a;\nx;y;\nx;y;\nx;y;\n", ["q", "a"]),
    (b"q,a,note\nx,y,\nx,y,\nx,y,\nx,y,z\n", ["q", "a", "note"]),
    (b",\n" + b"title,\n" * 8 + b"q,a\nx,y\nx,y\n", ["title", "column 2"]),
], ids=["one column", "no row below", "empty end", "few values", "many titles"])  # fmt: skip
def test_row_that_may_be_the_heading_is_no_title(table: bytes, names: list[str]):
    imported = read_import(table, Request("own.csv"))
    assert [column.name for column in imported.columns] == names
    assert "title_row" not in [entry.code for entry in imported.entries]


@pytest.mark.parametrize(("heading", "prompt"), [
    ("Frage;Antwort", "Frage"), ("pregunta;respuesta", "pregunta"), ("Énoncé;Réponse attendue", "Énoncé"),
    ("Domanda:;Risposta", "Domanda"), ("Question;Expected answer", "Question"), ("вопрос;ответ", "вопрос"),
    ("问题;答案", "问题"),
])  # fmt: skip
def test_columns_are_guessed_in_other_languages(heading: str, prompt: str):
    imported = read_import(f"{heading};Notiz\nwhat?;so;x\n".encode(), Request("own.csv"))
    assert [column.role for column in imported.columns] == ["prompt", "expected", "variable"]
    assert imported.template.prompts[0].messages[0].text == f"{{{{ {prompt} }}}}"


def test_question_comes_before_weaker_names():
    imported = read_import(b"Eingabe,Frage,expected\na,b,c\n", Request("own.csv"))
    assert [column.role for column in imported.columns] == ["variable", "prompt", "expected"]


def test_prompt_is_made_of_columns_where_none_asks():
    imported = read_import(b"Land,Hauptstadt,expected\nPeru,Lima,yes\n", Request("own.csv"))
    assert imported.template.prompts[0].messages[0].text == "Land: {{ Land }}\n\nHauptstadt: {{ Hauptstadt }}"
    assert "prompt_made_of_columns" in [entry.code for entry in imported.entries if entry.action == "changed"]
