"""One vote as an export says it: what was decided about which models, and by whom under a name of this export only."""

from datetime import datetime
from typing import Literal

import msgspec

Choice = Literal["left", "right", "tie", "both_bad"]

STYLE_COUNTS = ("tokens", "headings", "bold", "lists")


class StyleCounts(msgspec.Struct, frozen=True):
    tokens: int = 0
    headings: int = 0
    bold: int = 0
    lists: int = 0


class Style(msgspec.Struct, frozen=True):
    """How the answers of either side were dressed, over all turns that were voted on."""

    left: StyleCounts
    right: StyleCounts


class VoteRow(msgspec.Struct, frozen=True, kw_only=True):
    """A line of an export. What is not known is null; an imported table of counts says in `n` how many alike."""

    order: int
    voter: str
    model_left: str
    model_right: str
    choice: Choice
    created_at: datetime | None
    board: str
    categories: list[str]
    language: str
    turn_count: int
    style: Style | None
    excluded_reason: str | None
    excluded_at: datetime | None
    n: int = 1

    @property
    def counts(self) -> bool:
        return self.excluded_reason is None

    def is_on(self, scope: str) -> bool:
        """Whether the vote belongs to that board: a category or language of the blind votes, or the board itself."""
        kind, _, name = scope.partition(":")
        match kind:
            case "category":
                return self.board == "overall" and name in self.categories
            case "language":
                return self.board == "overall" and name == self.language
        return self.board == scope
