from datetime import datetime
from typing import Literal

import msgspec

Choice = Literal["left", "right", "tie", "both_bad"]
Origin = Literal["draw", "router"]

# Origin of all votes of these boards.
_ORIGINS = {"overall": "draw", "auto": "router"}
STYLE_COUNTS = ("tokens", "headings", "bold", "lists")


class StyleCounts(msgspec.Struct, frozen=True):
    tokens: int = 0
    headings: int = 0
    bold: int = 0
    lists: int = 0


class Style(msgspec.Struct, frozen=True):
    """Formatting counts of each side's answers, over all turns before the vote."""

    left: StyleCounts
    right: StyleCounts


class SideContext(msgspec.Struct, frozen=True):
    """met: whether the model was known from an earlier battle of the session; first_token_ms: mean over its answers."""

    met: bool
    reasoning: bool
    first_token_ms: int | None


class Context(msgspec.Struct, frozen=True):
    """Circumstances of a vote; files: number attached to its prompts."""

    files: int
    left: SideContext
    right: SideContext


class VoteRow(msgspec.Struct, frozen=True, kw_only=True):
    """A vote in an export. voter: pseudonym for this export; n: number of equal votes in a table of counts.

    origin: chooser of the pair; None for comparisons of stars and imported votes. Earlier exports have none.
    """

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
    context: Context | None = None
    origin: Origin | None = "draw"

    @property
    def counts(self) -> bool:
        return self.excluded_reason is None

    def is_on(self, scope: str) -> bool:
        if self.origin != _ORIGINS.get(self.board, self.origin):
            return False
        kind, _, name = scope.partition(":")
        match kind:
            case "category":
                return self.board == "overall" and name in self.categories
            case "language":
                return self.board == "overall" and name == self.language
        return self.board == scope
