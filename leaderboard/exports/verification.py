"""A snapshot fitted again from its export alone, and compared with what was published. Asks no database."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeGuard

import msgspec
import numpy as np

from common.payload_types import JsonObject
from leaderboard.counting import method
from leaderboard.export_rows import STYLE_COUNTS, VoteRow
from leaderboard.models.imported import SCOPE as IMPORTED
from leaderboard.rating.ballots import Ballots, BallotsBuilder
from leaderboard.rating.board_fit import DesignEffects
from leaderboard.rating.elo import START, after_vote
from leaderboard.rating.snapshot_fit import FitLine, SnapshotFit, StyleInput, fit_snapshot
from leaderboard.rating.style_control import Scaling

AGREES_TO = 1e-6

_LINE = (
    "score", "ci_low", "ci_high", "rank", "rank_best", "rank_worst", "votes", "wins", "losses", "ties", "both_bad",
    "preliminary", "group", "design_effect",
)  # fmt: skip
_LEFT_SHARE = {"left": 1.0, "right": 0.0, "tie": 0.5, "both_bad": 0.5}
_STYLE = ("score", "ci_low", "ci_high", "rank", "rank_best", "rank_worst")


class CannotRecompute(ValueError):
    """Says why, for a person."""


class PublishedMethod(msgspec.Struct):
    name: str
    parameters: JsonObject


class Published(msgspec.Struct):
    """The part of the API's snapshot that follows from votes."""

    id: str
    board: str
    method: PublishedMethod
    tallies_checksum: str
    last_order: int
    votes_counted: int
    votes_excluded: dict[str, int]
    facts: JsonObject
    results: list[JsonObject]
    collecting: list[JsonObject]
    votes_renamed_since: int

    @property
    def is_styled_afresh(self) -> bool:
        return self.facts.get("style_of") == self.id

    @property
    def has_its_voters(self) -> bool:
        """Whether design effects were made of the snapshot's own votes, and those are still the same voters'."""
        return self.facts.get("design_effects_of") == self.id and not self.votes_renamed_since

    @property
    def has_an_elo(self) -> bool:
        """A category's or a language's Elo is that of Overall, and moved by votes that are not in its export."""
        return self.board == "overall" or self.board.startswith(IMPORTED)

    def name_of(self, line: JsonObject) -> str:
        """What the export calls the line's model."""
        return str(line["model"]["name" if self.board.startswith(IMPORTED) else "id"])


@dataclass(frozen=True)
class Votes:
    """What an export says: the counted votes, the excluded ones by reason, and who has which Elo after them.

    No Elo for a table of counts, whose votes have no order.
    """

    ballots: Ballots
    excluded: dict[str, int]
    elo: dict[str, float]


def read_published(text: bytes) -> Published:
    """From the API's JSON. Raises CannotRecompute."""
    try:
        return msgspec.json.decode(text, type=Published)
    except msgspec.MsgspecError as error:
        raise CannotRecompute(f"This is not a snapshot as the API gives it: {error}.") from error


def recompute(published: Published, rows: Iterable[VoteRow]) -> list[str]:
    """What does not agree, a sentence each; nothing when every number follows from the votes.

    Scores and bounds agree to a millionth of a point. What a snapshot took over from an earlier one, as its facts say,
    is believed and not compared: style and design effects; these also where votes were filed under other voters since.
    Raises CannotRecompute for another version's method.
    """
    if published.method.name not in (method.NAME, method.WITH_SIDES):
        raise CannotRecompute(
            f"The snapshot was computed by {published.method.name}, and this version computes {method.NAME}: "
            "use the version of that time."
        )
    disorder: list[str] = []
    votes = _gather(published, rows, disorder)
    counts = votes.ballots.counts
    lines = {published.name_of(line): line for line in published.results}
    fit = _fit(published, votes.ballots, lines)
    differences = [
        *disorder,
        *_unequal("the board", "votes_counted", published.votes_counted, counts.total),
        *_unequal("the board", "votes_excluded", published.votes_excluded, votes.excluded),
        *_unequal("the board", "tallies_checksum", published.tallies_checksum, counts.checksum),
        *_unequal("the board", "collecting", _collecting(published), _unscored(counts.names, fit)),
        *(f"{name}: has no vote." for name in sorted(lines.keys() - set(counts.names))),
    ]
    for fact, found in fit.facts.items():
        differences += _unequal("the board", fact, published.facts.get(fact), found)
    for name, computed in zip(counts.names, fit.lines, strict=True):
        differences += _compare_line(name, lines.get(name), computed, with_style=published.is_styled_afresh)
        if name in lines and name in votes.elo:
            differences += _unequal(name, "elo", lines[name]["elo"], votes.elo[name])
    return differences


def _gather(published: Published, rows: Iterable[VoteRow], disorder: list[str]) -> Votes:
    builder, excluded, last = BallotsBuilder(), Counter[str](), 0
    elo: defaultdict[str, float] = defaultdict(lambda: START)
    has_an_order = True
    for row in rows:
        if not last < row.order <= published.last_order:
            disorder.append(f"vote {row.order}: follows {last} on a board that ends with {published.last_order}.")
        last = max(last, row.order)
        if not row.is_on(published.board):
            disorder.append(f"vote {row.order}: is not on the board {published.board}.")
        left, right = row.model_left, row.model_right
        if row.counts:
            builder.add(left, right, row.choice, n=row.n, voter=row.voter, style=_style_of(row))
        else:
            excluded[row.excluded_reason or ""] += row.n
        if row.excluded_reason in (None, "anomaly"):  # Elo goes on while a vote is under review
            elo[left], elo[right] = after_vote(elo[left], elo[right], left_share=_LEFT_SHARE[row.choice])
            has_an_order = has_an_order and row.n == 1
    has_an_order = has_an_order and published.has_an_elo
    return Votes(builder.build(), dict(excluded), dict(elo) if has_an_order else {})


def _style_of(row: VoteRow) -> list[int] | None:
    if row.style is None:
        return None
    return [getattr(side, count) for side in (row.style.left, row.style.right) for count in STYLE_COUNTS]


def _fit(published: Published, ballots: Ballots, lines: Mapping[str, JsonObject]) -> SnapshotFit:
    style = published.facts.get("style") if published.is_styled_afresh else None
    scaling = style and Scaling(np.array(style["scaling"]["mean"]), np.array(style["scaling"]["sd"]))
    has_voters = published.has_its_voters
    return fit_snapshot(
        ballots.counts,
        published.method.parameters,
        voters=ballots.voter_votes if has_voters else None,
        design_effects=None if has_voters else _published_design_effects(published, ballots.counts.names, lines),
        style=StyleInput(ballots, scaling) if style else None,
    )


def _published_design_effects(published: Published, names: list[str], lines: Mapping[str, JsonObject]) -> DesignEffects:
    """Nobody's score or bound depends on the design effect of a model without a score."""
    effects = [lines[name]["design_effect"] if name in lines else 1.0 for name in names]
    of_bias = (published.facts.get("side_bias") or {}).get("design_effect", 1.0)
    return DesignEffects(np.array(effects, dtype=np.float64), of_bias)


def _collecting(published: Published) -> dict[str, int]:
    return {published.name_of(line): line["votes"] for line in published.collecting}


def _unscored(names: list[str], fit: SnapshotFit) -> dict[str, int]:
    return {name: line["votes"] for name, line in zip(names, fit.lines, strict=True) if line["score"] is None}


def _compare_line(name: str, published: JsonObject | None, computed: FitLine, *, with_style: bool) -> Iterator[str]:
    if published is None:
        if computed["score"] is not None:
            yield f"{name}: is not on the board, and the votes give it {computed['score']}."
        return
    for column in _LINE:
        yield from _unequal(name, column, published.get(column), computed.get(column))
    if with_style:
        said = published.get("style") or dict.fromkeys(_STYLE)
        is_rank_alone = said["rank"] is not None and said.get("rank_best") is None  # as before there were ranges
        for column in _STYLE[:4] if is_rank_alone else _STYLE:
            yield from _unequal(name, f"style {column}", said[column], computed.get(f"style_{column}"))


def _unequal(whose: str, what: str, published: object, computed: object) -> Iterator[str]:
    """One sentence for each number, of nested ones too, that is not the same to AGREES_TO."""
    if isinstance(published, Mapping) and isinstance(computed, Mapping):
        for name in sorted(published.keys() | computed.keys()):
            yield from _unequal(whose, f"{what} {name}", published.get(name), computed.get(name))
    elif isinstance(published, list) and isinstance(computed, list) and len(published) == len(computed):
        for place, (one, other) in enumerate(zip(published, computed, strict=True)):
            yield from _unequal(whose, f"{what} {place}", one, other)
    elif not _agree(published, computed):
        yield f"{whose}: {what} was published as {published}, and the votes give {computed}."


def _agree(published: object, computed: object) -> bool:
    if _is_number(published) and _is_number(computed):
        return math.isclose(published, computed, rel_tol=0, abs_tol=AGREES_TO)
    return bool(published == computed)


def _is_number(value: object) -> TypeGuard[float]:
    return type(value) in (int, float)
