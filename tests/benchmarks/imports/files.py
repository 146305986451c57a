"""Files to import: the samples in tests/data/benchmarks, and those that are better made than kept."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import xlsxwriter
from arro3.core import Array, DataType, RecordBatch, RecordBatchReader, Schema
from arro3.io import write_parquet

from benchmarks.imports.content import Imported, Request
from benchmarks.imports.reading import read_import

SAMPLES = Path(__file__).parents[2] / "data/benchmarks"


def sample(name: str) -> tuple[bytes, str]:
    """Return a sample's content and name; a folder becomes an archive."""
    path = SAMPLES / name
    if path.is_dir():
        contents = {file.relative_to(path).as_posix(): file.read_bytes() for file in path.rglob("*") if file.is_file()}
        return archive(contents), f"{name}.zip"
    return path.read_bytes(), name


def read_sample(name: str, **choices: object) -> Imported:
    content, name = sample(name)
    return read_import(content, Request(name, **choices))


def archive(files: Mapping[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in files.items():
            packed.writestr(name, content)
    return out.getvalue()


def workbook(rows: Sequence[Sequence[object]], sheet: str = "Cases") -> bytes:
    """Return a workbook with a first sheet of its own; cells that begin with = are formulas whose value is 7."""
    out = io.BytesIO()
    with xlsxwriter.Workbook(out, {"in_memory": True}) as book:
        page = book.add_worksheet(sheet)
        for number, row in enumerate(rows):
            for column, cell in enumerate(row):
                if isinstance(cell, str) and cell.startswith("="):
                    page.write_formula(number, column, cell, value=7)
                else:
                    page.write(number, column, cell)
    return out.getvalue()


def parquet(columns: Mapping[str, Sequence[str]]) -> bytes:
    batch = RecordBatch(
        [Array(list(cells), DataType.string()) for cells in columns.values()],
        schema=Schema.from_arrow(Schema([_field(name) for name in columns])),
    )
    out = io.BytesIO()
    write_parquet(RecordBatchReader.from_batches(batch.schema, [batch]), out)
    return out.getvalue()


def _field(name: str) -> object:
    from arro3.core import Field

    return Field(name, DataType.string())
