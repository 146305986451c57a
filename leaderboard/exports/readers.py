import csv
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from common.tables.cells import unquote
from leaderboard.export_rows import VoteRow
from leaderboard.exports.columns import nested


class NotAnExport(ValueError):
    """Raised with a message for people that names the invalid row."""


def read_rows(path: Path) -> Iterator[VoteRow]:
    """Yield rows of JSON lines, CSV or Parquet, by suffix. Raises NotAnExport, also after some rows, and OSError."""
    read = _READERS.get(path.suffix)
    if read is None:
        raise NotAnExport(f"An export ends in {', '.join(_READERS)}; this is {path.name}.")
    number = 0
    try:
        for number, row in enumerate(read(path), start=1):  # noqa: B007 (used in the error)
            yield row
    except (msgspec.MsgspecError, KeyError, UnicodeDecodeError, csv.Error) as error:
        raise NotAnExport(f"{path.name}, row {number + 1}: {error}.") from error


def _from_jsonl(path: Path) -> Iterator[VoteRow]:
    decoder = msgspec.json.Decoder(VoteRow)
    with path.open("rb") as lines:
        for line in lines:
            if not line.isspace():
                yield decoder.decode(line)


def _from_csv(path: Path) -> Iterator[VoteRow]:
    with path.open(encoding="utf-8-sig", newline="") as lines:
        for cells in csv.DictReader(lines):
            plain = {name: _value(name, cell) for name, cell in cells.items() if name is not None}
            yield msgspec.convert(nested(plain), VoteRow, strict=False)


def _value(name: str, cell: str | None) -> str | list[str] | None:
    text = unquote(cell or "")
    if name == "categories":
        return text.split(";") if text else []
    # Only these two columns may hold empty texts; elsewhere an empty cell is null.
    return text if text or name in ("voter", "language") else None


def _from_parquet(path: Path) -> Iterator[VoteRow]:
    from common.tables import parquet

    try:
        for cells in parquet.read_rows(path):
            yield msgspec.convert(nested(cells), VoteRow)
    except parquet.NotParquet as error:
        raise NotAnExport(f"{path.name} cannot be read as Parquet: {error}.") from error


_READERS: dict[str, Callable[[Path], Iterator[VoteRow]]] = {
    ".jsonl": _from_jsonl,
    ".csv": _from_csv,
    ".parquet": _from_parquet,
}
