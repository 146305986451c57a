"""The published board of a review, for readers of its results."""

from dataclasses import dataclass
from datetime import datetime

from leaderboard.boards.queries import BoardQuery, read_board
from leaderboard.counting.board_keys import Board
from leaderboard.errors import NoSuchBoard
from leaderboard.payload_types import ResultPayload
from reviews.models import Review


@dataclass(frozen=True)
class ReviewBoard:
    """snapshot, computed_at: None until the board is computed, or without votes."""

    key: str
    snapshot: str | None
    computed_at: datetime | None
    results: list[ResultPayload]


def read_review_board(review: Review) -> ReviewBoard:
    """Return the newest board. Call this only where the results are shown."""
    key = Board.of_review(review.public_id).name
    try:
        board = read_board(BoardQuery(board=key, series=review.public_id))
    except NoSuchBoard:
        return ReviewBoard(key, None, None, [])
    return ReviewBoard(key, board["snapshot"], board["computed_at"], board["results"])
