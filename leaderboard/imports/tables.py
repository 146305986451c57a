"""Foreign tables: one vote per line, or counts per pair; CSV, TSV or JSON lines."""

import csv
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from numpy.linalg import LinAlgError

from leaderboard.export_rows import STYLE_COUNTS

# Values of the column `winner`; model_a is the left side.
OUTCOMES = {
    "model_a": "left",
    "model_b": "right",
    "tie": "tie",
    "both_bad": "both_bad",
    "tie (bothbad)": "both_bad",
}
COUNTS = {"wins_a": "left", "wins_b": "right", "ties": "tie", "both_bad": "both_bad"}
# Prefixes of the columns of style counts; the side follows: tokens_a, headers_b.
STYLE_COLUMNS = dict(zip(STYLE_COUNTS, ("tokens", "headers", "bold", "lists"), strict=True))

MAX_NAME_LENGTH = 200
MAX_WORD_LENGTH = 100
MAX_COUNT = 2**31 - 1  # of one count, and of all votes
# Separator by the file's ending; None: the one that gives the heading most cells.
SEPARATORS = {".csv": None, ".tsv": "\t"}
ENDINGS = (*SEPARATORS, ".jsonl")

Cells = Mapping[str, Any]
Style = dict[str, dict[str, int]]


class TableVote(NamedTuple):
    """`n` equal votes. Missing values are "" or None."""

    left: str
    right: str
    outcome: str
    n: int
    voter: str
    created_at: datetime | None
    category: str
    style: Style | None


@dataclass(frozen=True)
class BadLine:
    """Line that cannot be imported; lines count from 1, with the header."""

    line: int
    sentence: str


class NotATable(ValueError):
    """Raised when the file as a whole cannot be read as votes."""


class InvalidLine(ValueError):
    """Raised with the reason why a line cannot be imported."""


@contextmanager
def refusing_without_fit(path: Path) -> Iterator[None]:
    """Raise NotATable where the votes cannot be fitted in floating-point numbers."""
    try:
        yield
    except (LinAlgError, ArithmeticError) as error:
        raise NotATable(f"The votes of {path.name} cannot be fitted: their counts differ too much.") from error


def read_table(path: Path) -> Iterator[list[TableVote] | BadLine]:
    """Yield each line's votes or error. Raises NotATable and OSError."""
    if path.suffix.lower() not in ENDINGS:
        raise NotATable(f"A table of votes ends in .csv, .tsv or .jsonl; this is {path.name}.")
    rows = _json_rows if path.suffix.lower() == ".jsonl" else _csv_rows
    read: Callable[[Cells], list[TableVote]] | None = None
    total = 0
    for line, cells in rows(path):
        try:
            if isinstance(cells, InvalidLine):
                raise cells
            read = read or line_reader(cells)
            votes = read(cells)
            total += sum(vote.n for vote in votes)
            if total > MAX_COUNT:
                yield BadLine(line, f"with this line the table has {total:,} votes; {MAX_COUNT:,} is the most.")
                return
            yield votes
        except InvalidLine as refusal:
            yield BadLine(line, str(refusal))
    if read is None:
        raise NotATable(f"{path.name} has no votes.")


@dataclass(frozen=True)
class Heading:
    """Columns of a CSV file; unnamed ones are "". line: its number."""

    columns: list[str]
    separator: str
    line: int


def read_heading(path: Path) -> Heading:
    """Return the first line with text. Raises NotATable and OSError."""
    with path.open(encoding="utf-8-sig", newline="") as lines:
        number, text = next(((n, line) for n, line in enumerate(lines, start=1) if line.strip()), (0, ""))
    if not number:
        raise NotATable(f"{path.name} is empty.")
    separator = SEPARATORS[path.suffix.lower()] or max(
        ",;\t", key=lambda sign: len(next(csv.reader([text], delimiter=sign)))
    )
    columns = [cell.strip() for cell in next(csv.reader([text], delimiter=separator))]
    for column, times in Counter(columns).items():
        if column and times > 1:
            raise NotATable(f"{path.name} has {times} columns named {column}.")
    return Heading(columns, separator, number)


def _csv_rows(path: Path) -> Iterator[tuple[int, Cells | InvalidLine]]:
    line = 0
    try:
        heading = read_heading(path)
        width = len(heading.columns)
        with path.open(encoding="utf-8-sig", newline="") as lines:
            reader = csv.reader(lines, delimiter=heading.separator)
            for row in reader:
                line = reader.line_num
                if not row or line <= heading.line:
                    continue
                if len(row) > width:
                    yield line, InvalidLine(f"{len(row)} cells under a heading of {width}.")
                else:
                    yield line, dict(zip(heading.columns, row, strict=False))
    except (UnicodeDecodeError, csv.Error) as error:
        raise NotATable(f"{path.name} cannot be read as CSV after line {line}: {error}.") from error


def _json_rows(path: Path) -> Iterator[tuple[int, Cells | InvalidLine]]:
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if line.isspace():
                continue
            try:
                cells = json.loads(line)
            except (ValueError, RecursionError) as error:
                yield number, InvalidLine(f"not JSON: {error}.")
                continue
            yield number, cells if isinstance(cells, dict) else InvalidLine("not an object.")


def line_reader(cells: Cells) -> Callable[[Cells], list[TableVote]]:
    """Return the reader for the columns of the first line. Raises NotATable."""
    if not {"model_a", "model_b"} <= cells.keys():
        raise NotATable("A table of votes has the columns model_a and model_b.")
    if "winner" in cells:
        return _single_vote
    if {"wins_a", "wins_b"} <= cells.keys():
        return read_counts
    raise NotATable("A table of votes has the column winner, or counts in wins_a, wins_b, ties and both_bad.")


def _single_vote(cells: Cells) -> list[TableVote]:
    left, right = _names(cells)
    moment, style = time(cells.get("tstamp")), _style(cells)
    return [TableVote(left, right, outcome(cells), 1, word(cells, "judge"), moment, category(cells), style)]


def outcome(cells: Cells) -> str:
    winner = cells.get("winner")
    choice = OUTCOMES.get(winner) if isinstance(winner, str) else None
    if choice is None:
        raise InvalidLine(f"winner is one of {', '.join(OUTCOMES)}; not {winner!r}.")
    return choice


def category(cells: Cells) -> str:
    name = word(cells, "category")
    if ";" in name:
        raise InvalidLine("a category has no semicolon.")
    return name


def read_counts(cells: Cells) -> list[TableVote]:
    left, right = _names(cells)
    counts = {outcome: number(cells.get(column), column) for column, outcome in COUNTS.items()}
    if not any(counts.values()):
        raise InvalidLine("all counts are 0.")
    return [TableVote(left, right, outcome, n, "", None, "", None) for outcome, n in counts.items() if n]


def _names(cells: Cells) -> tuple[str, str]:
    left, right = (word(cells, column, MAX_NAME_LENGTH) for column in ("model_a", "model_b"))
    if not left or not right:
        raise InvalidLine("model_a and model_b need a name.")
    if left == right:
        raise InvalidLine(f"{left} against itself.")
    return left, right


def word(cells: Cells, column: str, max_length: int = MAX_WORD_LENGTH) -> str:
    value = cells.get(column)
    text = "" if value is None else str(value).strip()
    if len(text) > max_length:
        raise InvalidLine(f"{column} has {len(text)} characters; {max_length} is the most.")
    if not text.isprintable():
        raise InvalidLine(f"{column} has characters that cannot be shown.")
    return text


def words(column: str, cells: list[str | None], max_length: int = MAX_WORD_LENGTH) -> list[str]:
    """Check all cells at once where possible."""
    texts = [cell or "" for cell in cells]
    if "".join(texts).isprintable() and max(map(len, texts), default=0) <= max_length:
        return [text.strip() for text in texts]
    return [word({column: cell}, column, max_length) for cell in cells]


def number(value: Any, column: str) -> int:
    """Return a count; an empty value is 0."""
    if value is None or value == "":
        return 0
    try:
        count = int(value) if isinstance(value, str) and value.isdecimal() else float(value)
        if count != int(count) or not 0 <= count <= MAX_COUNT:
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        raise InvalidLine(f"{column} is a count; not {value!r}.") from None
    return int(count)


def time(value: Any) -> datetime | None:
    """Parse ISO 8601 or seconds since 1970; UTC without a zone."""
    if value is None or value == "":
        return None
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError:
        try:
            moment = datetime.fromtimestamp(float(value), UTC)
        except (TypeError, ValueError, OverflowError, OSError):
            raise InvalidLine(f"tstamp is a date, a time or seconds since 1970; not {value!r}.") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _style(cells: Cells) -> Style | None:
    """Return the style counts, None where all are missing."""
    sides = {
        side: {count: cells.get(f"{column}_{letter}") for count, column in STYLE_COLUMNS.items()}
        for side, letter in (("left", "a"), ("right", "b"))
    }
    if all(value in (None, "") for counts in sides.values() for value in counts.values()):
        return None
    return {side: {count: number(value, count) for count, value in counts.items()} for side, counts in sides.items()}
