"""CSV as programs and people write it: encodings, separators, titles, columns of row numbers, ragged rows."""

import pytest

from benchmarks.imports.content import Case, Request
from benchmarks.imports.reading import read_import

ROWS = "Frage;Antwort\r\nDarf die Kündigung mündlich sein?;Nein\r\n"
CASES = [Case("1", {"Frage": "Darf die Kündigung mündlich sein?"}, ["Nein"])]
PLAIN = "Frage,Antwort\nWas?,Ja\nWer?,Nein\n"
TWO = [Case("1", {"Frage": "Was?"}, ["Ja"]), Case("2", {"Frage": "Wer?"}, ["Nein"])]
# sentence: (content, cases, codes of what was changed or left out)
SHAPES = {
    "Windows-1252": (ROWS.encode("cp1252"), CASES, {"encoding_assumed"}),
    "Mac Roman": (ROWS.encode("mac_roman"), CASES, {"encoding_assumed"}),
    "UTF-8 with a mark": (ROWS.encode("utf-8-sig"), CASES, set()),
    "UTF-16, as Excel's Unicode text": (ROWS.replace(";", "\t").encode("utf-16"), CASES, set()),
    "lines in two encodings": (
        "Frage,Antwort\nTür?,Ja\n".encode() + "Öl?,Nein\n".encode("cp1252"),
        [Case("1", {"Frage": "Tür?"}, ["Ja"]), Case("2", {"Frage": "Öl?"}, ["Nein"])], {"lines_in_other_encoding"},
    ),
    "NUL": (PLAIN.replace("Was", "W\0as").encode(), TWO, {"controls_left_out"}),
    "separator of Excel": (b"sep=;\r\n" + PLAIN.replace(",", ";").encode(), TWO, set()),
    "tabs": (PLAIN.replace(",", "\t").encode(), TWO, set()),
    "vertical lines": (PLAIN.replace(",", "|").encode(), TWO, set()),
    "carriage returns only": (PLAIN.replace("\n", "\r").encode(), TWO, set()),
    "commas in the answers": (b"Frage;Antwort\nWas?;Ja, ja, ja\nWer?;Nein\n",
                              [Case("1", {"Frage": "Was?"}, ["Ja, ja, ja"]), TWO[1]], set()),
    "line break in quotes": (b'Frage,Antwort\n"Was\nnun?",Ja\nWer?,Nein\n',
                             [Case("1", {"Frage": "Was\nnun?"}, ["Ja"]), TWO[1]], set()),
    "title of one cell": (f"Fragen zum Mietrecht\n\n{PLAIN}".encode(), TWO, {"title_row", "empty_rows"}),
    "title of two cells": (b"Mietrecht,Stand 2026\na,b,c,d\n1,2,3,x\n4,5,6,y\n", [
        Case("1", {"a": "1", "b": "2", "c": "3", "d": "x"}), Case("2", {"a": "4", "b": "5", "c": "6", "d": "y"}),
    ],
                           {"title_row", "prompt_made_of_columns"}),
    "title without empty cells": (f"Mietrecht,2026\n{PLAIN}".encode(), TWO, {"title_row"}),
    "empty rows": (PLAIN.replace("Wer", "\n,\nWer").encode(), TWO, {"empty_rows"}),
    "row numbers of pandas": (b",Frage,Antwort\n0,Was?,Ja\n1,Wer?,Nein\n", TWO, {"index_column"}),
    "row numbers of R": (b'"Frage","Antwort"\n"1","Was?","Ja"\n"2","Wer?","Nein"\n', TWO, {"index_column"}),
    "column without a name": (b"Frage,,Antwort\nWas?,x,Ja\nWer?,y,Nein\n", [
        Case("1", {"Frage": "Was?", "column_2": "x"}, ["Ja"]), Case("2", {"Frage": "Wer?", "column_2": "y"}, ["Nein"]),
    ], {"column_named", "column_renamed"}),
    "column twice": (b"Frage,Antwort,Antwort\nWas?,Ja,Doch\nWer?,Nein,Nie\n", [
        Case("1", {"Frage": "Was?", "Antwort_2": "Doch"}, ["Ja"]),
        Case("2", {"Frage": "Wer?", "Antwort_2": "Nie"}, ["Nein"]),
    ], {"column_made_unique", "column_renamed"}),
    "short row": (b"Frage,Antwort\nWas?,Ja\nWer?\n", [TWO[0], Case("2", {"Frage": "Wer?"})], {"row_filled"}),
    "decimal comma": (b"Frage;Antwort;Gewicht\nWas?;Ja;0,5\nWer?;Nein;2\n", [
        Case("1", {"Frage": "Was?"}, ["Ja"], weight=0.5), Case("2", {"Frage": "Wer?"}, ["Nein"], weight=2),
    ], set()),
}  # fmt: skip


@pytest.mark.parametrize("sentence", SHAPES)
def test_shape_of_table_is_read_and_named(sentence: str):
    content, cases, codes = SHAPES[sentence]
    imported = read_import(content, Request("own.csv"))
    assert imported.template is not None, imported.entries
    assert imported.template.cases == cases
    told = {entry.code for entry in imported.entries if entry.action in ("changed", "left_out")}
    assert told - {"comparison_assumed"} == codes


def test_lines_in_the_report_are_those_of_the_file():
    imported = read_import("sep=;\nq;a\nx;é\ny;z;1\n".encode("cp1252"), Request("own.csv"))
    assert [(entry.code, entry.line) for entry in imported.entries if entry.action == "refused"] == [("ragged_row", 4)]


def test_given_encoding_is_used_for_every_text():
    content = "Frage;Antwort\nCafé?;Ja\n".encode("cp1252")
    assumed = read_import(content, Request("own.csv"))
    assert assumed.encodings[0].encoding == "Windows-1252"
    assert assumed.encodings[0].line == "Café?;Ja"
    given = read_import(content, Request("own.csv", encoding="IBM850"))
    assert given.template.cases[0].variables == {"Frage": content.splitlines()[1].decode("cp850").partition(";")[0]}
    for name, text in {
        "own.jsonl": '{"input": "Größe", "target": "ja"}\n', "own.json": '[{"input": "Größe", "target": "ja"}]',
        "own.yaml": "prompts: ['{{ q }}']\ntests:\n  - vars: {q: Größe}\n",
    }.items():  # fmt: skip
        imported = read_import(text.encode("cp1252"), Request(name))
        assert imported.template is not None
        assert "Größe" in imported.template.cases[0].variables.values()
