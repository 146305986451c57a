"""A damaged file of any format is refused with a sentence of our own, and no text of a library reaches people."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from benchmarks.actions.import_sentences import SENTENCES, sentence_of
from benchmarks.imports import child
from benchmarks.imports.content import Entry, Imported, Request
from benchmarks.imports.guard import read_file
from benchmarks.imports.reading import read_import
from common.tables.parquet import NotParquet, read_rows
from tests.benchmarks.imports import damaged, files

ROOT = Path(__file__).parents[3]
# What libraries call themselves, their errors and their code.
FOREIGN = ("unwrap", "panic", "Err(", "arrow", "rror:", "0x", ".rs", "Traceback", "calamine")


def assert_own_sentence(code: str, values: dict[str, object]) -> None:
    assert code in SENTENCES
    assert code != "not_understood"
    sentence = sentence_of(Entry("refused", code, values))
    assert not [word for word in FOREIGN if word in sentence], sentence


@pytest.mark.processes
def test_damaged_files_are_read_or_refused_with_own_sentences():
    done = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.imports.damaged", "35", "20"], cwd=ROOT, capture_output=True,
        text=True, check=True, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert len({name for name, *_rest in lines}) > 15
    for name, damage, exit_code, refusals in lines:
        # Where a damaged size asks for more memory than there is, Rust aborts, and the guard says so.
        assert exit_code == 0 or (name.endswith("parquet") and exit_code == -6), (name, damage, exit_code)
        for code, values in refusals:
            assert_own_sentence(code, values)
    assert any(refusals for *_rest, refusals in lines)


@pytest.mark.processes
@pytest.mark.parametrize("cut", [5, 40, 400, -200, -9, -5, -1])
def test_cut_parquet_is_refused_by_the_guarded_child(cut: int):
    imported = read_file(damaged.samples()["own.parquet"][:cut], Request("own.parquet"))
    assert [(entry.code, entry.values) for entry in imported.entries] == [("not_parquet", {})]


class PanicException(BaseException):
    """Panic that is no Exception, as pyo3's."""


def panic(*_: object, **__: object) -> None:
    raise PanicException("called `Result::unwrap()` on an `Err` value")


def test_panic_of_a_reader_is_refused_as_damage(monkeypatch):
    monkeypatch.setattr("benchmarks.imports.readers.parquet.read_parquet", panic)
    monkeypatch.setattr(
        "uploads.reading.sheets.python_calamine",
        SimpleNamespace(CalamineWorkbook=SimpleNamespace(from_filelike=panic)),
    )
    for name, code in (("own.parquet", "not_parquet"), ("own.xlsx", "not_a_spreadsheet")):
        imported = read_import(damaged.samples()[name], Request(name))
        assert [(entry.code, entry.values) for entry in imported.entries] == [(code, {})]


def test_panic_elsewhere_does_not_end_the_child(monkeypatch):
    monkeypatch.setattr("benchmarks.imports.reading.read_import", panic)
    output = child._read_safely(b"q", Request("own.csv", format="table"))
    assert output == msgspec.msgpack.encode(Imported.refused("not_understood", "table"))


def test_archive_member_without_a_name_is_damage():
    content = files.archive({"a": b"question,expected\nx,y\n", "b.csv": b"q"}).replace(b"a", b"\0")
    imported = read_import(content, Request("own.zip"))
    assert [entry.code for entry in imported.entries] == ["damaged_archive"]


def test_panic_over_exported_parquet_is_told_as_damage(tmp_path: Path):
    path = tmp_path / "votes.parquet"
    path.write_bytes(damaged.samples()["own.parquet"][:-9])
    with pytest.raises(NotParquet, match=r"^it is damaged$"):
        list(read_rows(path))
