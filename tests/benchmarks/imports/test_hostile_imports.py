"""Bombs end with the child process, and not with the worker that waits for it."""

import gzip
import io
import zipfile
from pathlib import Path

import pytest
from xlsxwriter.utility import xl_col_to_name

from benchmarks.imports.content import Request
from benchmarks.imports.guard import read_file
from tests.benchmarks.imports import files

pytestmark = pytest.mark.processes
ZEROS = 60_000_000


def zip_bomb() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed, packed.open("own.csv", "w") as file:
        for _ in range(ZEROS // 1_000_000):
            file.write(b" " * 1_000_000)
    return out.getvalue()


def gzip_bomb() -> bytes:
    out = io.BytesIO()
    with gzip.open(out, "wb", compresslevel=1) as file:
        for _ in range(ZEROS // 1_000_000):
            file.write(b" " * 1_000_000)
    return out.getvalue()


def sheet_bomb() -> bytes:
    """Return a workbook whose cells are on the diagonal of a very large area."""
    book = files.workbook([["q"]])
    parts = {
        part.filename: zipfile.ZipFile(io.BytesIO(book)).read(part)
        for part in zipfile.ZipFile(io.BytesIO(book)).infolist()
    }
    name = "xl/worksheets/sheet1.xml"
    parts[name] = parts[name].replace(
        b"</sheetData>",
        b"".join(
            b'<row r="%d"><c r="%s%d"><v>1</v></c></row>' % (n * 60, xl_col_to_name(n).encode(), n * 60)
            for n in range(1, 16_000)
        )
        + b"</sheetData>",
    )
    return files.archive(parts)


# sentence: (file's name, content, code)
BOMBS = {
    "zip": ("own.zip", zip_bomb, {"unpacks_too_large"}),
    "gzip": ("own.csv.gz", gzip_bomb, {"unpacks_too_large"}),
    "aliases": ("own.yaml", lambda: b"a: &a [x]\n" + b"".join(
        b"b%d: &%s [%s]\n" % (n, b"a" * (n + 2), b", ".join([b"*" + b"a" * (n + 1)] * 30)) for n in range(20)
    ), {"too_many_nodes"}),
    "deep YAML": ("own.yaml", lambda: b"a: " + b"[" * 50_000, {"too_deep", "too_demanding", "not_yaml"}),
    "deep JSON": ("own.json", lambda: b"[" * 5_000_000, {"too_deep"}),
    "cell of 10 MB": ("own.csv", lambda: b"q,a\nx," + b"a" * 10_000_000, {"text_too_long"}),
    "5,000 columns": ("own.csv", lambda: b",".join(b"c%d" % n for n in range(5_000)) + b"\n", {"too_many_columns"}),
    "sheet of 256 million cells": ("own.xlsx", sheet_bomb, {"too_demanding", "too_many_columns"}),
    "list of 5 million numbers": ("own.jsonl", lambda: b'{"q": [' + b"1," * 5_000_000 + b"1]}\n",
                                   {"too_many_nodes"}),
}  # fmt: skip


@pytest.mark.parametrize("sentence", BOMBS)
def test_bomb_is_refused_with_memory_flat(sentence: str):
    name, make_content, codes = BOMBS[sentence]
    content = make_content()
    before = _peak_mb()
    imported = read_file(content, Request(name))
    assert imported.is_refused
    assert {entry.code for entry in imported.entries} <= codes
    assert _peak_mb() - before < 60


def test_file_over_the_limit_starts_no_child(monkeypatch):
    monkeypatch.setattr("benchmarks.imports.guard.run_once", None)
    imported = read_file(b"q" * 50_000_001, Request("own.csv"))
    assert [entry.code for entry in imported.entries] == ["file_too_large"]


def test_child_gives_the_same_as_reading_here():
    content, name = files.sample("promptfoo.yaml")
    assert read_file(content, Request(name)) == files.read_sample("promptfoo.yaml")


def _peak_mb() -> float:
    """Return the most memory this process has had, without that of its children."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024
