import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from django.db import connection

from leaderboard.imports.tables import BadLine, TableVote, read_table
from leaderboard.models import Contestant, ImportedBoard

BATCH = 20_000
MAX_BAD_LINES = 1_000  # reported; reading stops there

_COPY = """
COPY leaderboard_importedvote
    (board_id, edition, "order", left_id, right_id, outcome, n, voter, created_at, category, style) FROM STDIN
"""


class BadTable(ValueError):
    """Raised when lines cannot be imported; `lines` has the first MAX_BAD_LINES of them."""

    def __init__(self, lines: list[BadLine]) -> None:
        super().__init__(f"{len(lines)} lines cannot be imported")
        self.lines = lines


def store_votes(board: ImportedBoard, path: Path, *, on_progress: Callable[[int], None]) -> int:
    """Store the file's votes as the board's current edition, all or none; return how many.

    on_progress: called with the number of rows after each batch. Needs a transaction. Raises BadTable, NotATable and
    OSError.
    """
    contestants = dict(board.contestants.values_list("name", "pk"))
    order = 0
    bad: list[BadLine] = []
    for votes in _batches(path, bad):
        if not bad:  # otherwise the rest is read only to find the other bad lines
            _add_contestants(board, votes, contestants)
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


def _add_contestants(board: ImportedBoard, votes: list[TableVote], contestants: dict[str, int]) -> None:
    names = {vote.left for vote in votes} | {vote.right for vote in votes}
    new = [Contestant(board=board, name=name) for name in sorted(names - contestants.keys())]
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
