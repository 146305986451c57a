import json
from collections.abc import Callable, Iterable, Iterator
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np
from django.db import connection, transaction

from leaderboard.export_rows import STYLE_COUNTS
from leaderboard.imports.columns import Moments, NeedsRows, TableColumns, VoteColumns
from leaderboard.imports.tables import BadLine, TableVote, read_table
from leaderboard.models import Contestant, ImportedBoard
from leaderboard.rating.outcomes import OUTCOMES

BATCH = 20_000
MAX_BAD_LINES = 1_000  # reported; reading stops there

_COPY = """
COPY leaderboard_importedvote
    (board_id, edition, "order", left_id, right_id, outcome, n, voter, created_at, category, style) FROM STDIN
"""


# A row in COPY's text format, after board and edition.
_LINE = "%d\t%d\t%d\t%s\t%d\t%s\t%s\t%s\t%s\n"
_NULL = "\\N"
_STYLE = json.dumps({side: dict.fromkeys(STYLE_COUNTS, 0) for side in ("left", "right")}).replace("0", "%d")


class BadTable(ValueError):
    """Raised when lines cannot be imported; `lines` has the first MAX_BAD_LINES of them."""

    def __init__(self, lines: list[BadLine]) -> None:
        super().__init__(f"{len(lines)} lines cannot be imported")
        self.lines = lines


def store_votes(board: ImportedBoard, path: Path, *, on_progress: Callable[[int], None]) -> int:
    """Store the file's votes as the board's current edition, all or none; return the number of rows.

    on_progress: called with the number of rows after each batch. Needs a transaction. Raises BadTable, NotATable and
    OSError.
    """
    try:
        with transaction.atomic():
            return _store_columns(board, TableColumns(path), on_progress)
    except NeedsRows:
        return _store_rows(board, path, on_progress)


def _store_columns(board: ImportedBoard, table: TableColumns, on_progress: Callable[[int], None]) -> int:
    contestants = dict(board.contestants.values_list("name", "pk"))
    order = 0
    for votes in table.batches():
        _add_contestants(board, table.names.words, contestants)
        ids = np.array([contestants[name] for name in table.names.words])
        rows = zip(
            range(order + 1, order + 1 + len(votes.n)),
            ids[votes.left].tolist(),
            ids[votes.right].tolist(),
            map(OUTCOMES.__getitem__, votes.outcome.tolist()),
            votes.n.tolist(),
            map([_escaped(word) for word in table.voters.words].__getitem__, votes.voter.tolist()),
            _times(votes.created_at),
            map([_escaped(word) for word in table.categories.words].__getitem__, votes.category.tolist()),
            _styles(votes),
            strict=True,
        )
        prefix = f"{board.pk}\t{board.edition}\t"
        with connection.cursor() as cursor, cursor.copy(_COPY) as copy:
            copy.write("".join([prefix + _LINE % row for row in rows]))
        order += len(votes.n)
        on_progress(order)
    return order


def _escaped(word: str) -> str:
    """Return the word in COPY's text format; words are printable."""
    return word.replace("\\", "\\\\")


def _times(moments: Moments) -> Iterable[str]:
    if np.isnat(moments).all():
        return repeat(_NULL, len(moments))
    texts: list[str] = np.where(np.isnat(moments), _NULL, np.datetime_as_string(moments, timezone="UTC")).tolist()
    return texts


def _styles(votes: VoteColumns) -> Iterable[str]:
    if not votes.has_style.any():
        return repeat(_NULL, len(votes.n))
    counts = zip(votes.has_style.tolist(), map(tuple, votes.style.tolist()), strict=True)
    return (_STYLE % row if has_style else _NULL for has_style, row in counts)


def _store_rows(board: ImportedBoard, path: Path, on_progress: Callable[[int], None]) -> int:
    contestants = dict(board.contestants.values_list("name", "pk"))
    order = 0
    bad: list[BadLine] = []
    for votes in _batches(path, bad):
        if not bad:  # otherwise the rest is read only to find the other bad lines
            _add_contestants(board, {name for vote in votes for name in (vote.left, vote.right)}, contestants)
            _copy(board, votes, contestants, after=order)
            order += len(votes)
            on_progress(order)
    if bad:
        raise BadTable(bad)
    return order


def _batches(path: Path, bad: list[BadLine]) -> Iterator[list[TableVote]]:
    batch: list[TableVote] = []
    for line in read_table(path):
        if isinstance(line, BadLine):
            bad.append(line)
            if len(bad) == MAX_BAD_LINES:
                return
            continue
        batch += line
        if len(batch) >= BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _add_contestants(board: ImportedBoard, names: Iterable[str], contestants: dict[str, int]) -> None:
    new = [Contestant(board=board, name=name) for name in sorted(set(names) - contestants.keys())]
    contestants.update((made.name, made.pk) for made in Contestant.objects.bulk_create(new))


def _copy(board: ImportedBoard, votes: list[TableVote], contestants: dict[str, int], *, after: int) -> None:
    with connection.cursor() as cursor, cursor.copy(_COPY) as copy:
        for order, vote in enumerate(votes, start=after + 1):
            copy.write_row(_cells(board, order, vote, contestants))


def _cells(board: ImportedBoard, order: int, vote: TableVote, contestants: dict[str, int]) -> tuple[Any, ...]:
    style = None if vote.style is None else json.dumps(vote.style)
    left, right = contestants[vote.left], contestants[vote.right]
    return (
        board.pk, board.edition, order, left, right, vote.outcome, vote.n, vote.voter, vote.created_at, vote.category,
        style,
    )  # fmt: skip
