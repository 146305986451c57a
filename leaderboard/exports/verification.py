"""Recomputation of a snapshot from its export alone, without database."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeGuard

import msgspec
import numpy as np
from msgspec.structs import replace

from common.payload_types import JsonObject
from leaderboard.counting import method
from leaderboard.counting.contestants import contestant_name, facts_as_stored
from leaderboard.export_rows import STYLE_COUNTS, VoteRow
from leaderboard.models.imported import SCOPE as IMPORTED
from leaderboard.rating.ballots import Ballots, BallotsBuilder
from leaderboard.rating.board_fit import DesignEffects
from leaderboard.rating.differences import Share, implied_design_effect, observed_share
from leaderboard.rating.elo import START, K, after_vote
from leaderboard.rating.snapshot_facts import FitLine
from leaderboard.rating.snapshot_fit import SnapshotFit, StyleInput, fit_snapshot
from leaderboard.rating.style_control import Scaling

TOLERANCE = 1e-6

_LINE = (
    "score", "ci_low", "ci_high", "rank", "rank_best", "rank_worst", "votes", "wins", "losses", "ties", "both_bad",
    "preliminary", "group", "design_effect", "tier",
)  # fmt: skip
_LEFT_SHARE = {"left": 1.0, "right": 0.0, "tie": 0.5, "both_bad": 0.5}
_STYLE = ("score", "ci_low", "ci_high", "rank", "rank_best", "rank_worst")


class CannotRecompute(ValueError):
    """Raised with a message for people."""


class PublishedMethod(msgspec.Struct):
    name: str
    parameters: JsonObject


class PublishedSnapshot(msgspec.Struct):
    """Part of the API's snapshot that follows from votes."""

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
    def has_own_style_fit(self) -> bool:
        return self.facts.get("style_of") == self.id

    @property
    def has_unchanged_voters(self) -> bool:
        """True if design effects come from these votes, with unchanged voters."""
        return self.facts.get("design_effects_of") == self.id and not self.votes_renamed_since

    @property
    def has_own_elo(self) -> bool:
        """False for categories and languages: their Elo is Overall's."""
        return self.board == "overall" or self.is_imported

    @property
    def is_imported(self) -> bool:
        return self.board.startswith(IMPORTED)

    def contestant_name(self, line: JsonObject) -> str:
        return str(line["model"]["name"]) if self.is_imported else contestant_name(str(line["model"]["id"]))


@dataclass(frozen=True)
class ExportedVotes:
    """Counted votes, excluded votes by reason, and final Elo by model; no Elo for a table of counts."""

    ballots: Ballots
    excluded: dict[str, int]
    elo: dict[str, float]


def read_published(text: bytes) -> PublishedSnapshot:
    """Decode the API's JSON. Raises CannotRecompute."""
    try:
        published = msgspec.json.decode(text, type=PublishedSnapshot)
        return published if published.is_imported else replace(published, facts=facts_as_stored(published.facts))
    except msgspec.MsgspecError as error:
        raise CannotRecompute(f"This is not a snapshot as the API gives it: {error}.") from error


def recompute(published: PublishedSnapshot, rows: Iterable[VoteRow]) -> list[str]:
    """Return one sentence per difference.

    The tolerance is a millionth of a point. Style and design effects that the snapshot took from an earlier one (see
    its facts) are used without comparison; design effects and the style's intervals and ranks also where votes have
    changed voters since. Raises CannotRecompute for another version's method.
    """
    if published.method.name not in (method.NAME, method.WITH_SIDES):
        raise CannotRecompute(
            f"The snapshot was computed by {published.method.name}, and this version computes {method.NAME}: "
            "use the version of that time."
        )
    row_errors: list[str] = []
    votes = _collect_votes(published, rows, row_errors)
    counts = votes.ballots.counts
    lines = {published.contestant_name(line): line for line in published.results}
    fit = _fit(published, votes.ballots, lines)
    differences = [
        *row_errors,
        *_differences("the board", "votes_counted", published.votes_counted, counts.total),
        *_differences("the board", "votes_excluded", published.votes_excluded, votes.excluded),
        *_differences("the board", "tallies_checksum", published.tallies_checksum, counts.checksum),
        *_differences("the board", "collecting", _collecting(published), _unscored(counts.names, fit)),
        *(f"{name}: has no vote." for name in sorted(lines.keys() - set(counts.names))),
    ]
    same_voters = published.has_unchanged_voters
    for fact, recomputed in fit.facts.items():
        stated = published.facts.get(fact)
        if fact in ("style", "context") and not same_voters:
            stated, recomputed = _style_values(stated), _style_values(recomputed)
        differences += _differences("the board", fact, stated, recomputed)
    style_columns = (_STYLE if same_voters else _STYLE[:1]) if published.has_own_style_fit else ()
    for name, computed in zip(counts.names, fit.lines, strict=True):
        differences += _compare_line(name, lines.get(name), computed, style_columns)
        if name in lines and name in votes.elo:
            differences += _differences(name, "elo", lines[name]["elo"], votes.elo[name])
    return differences


def _collect_votes(published: PublishedSnapshot, rows: Iterable[VoteRow], row_errors: list[str]) -> ExportedVotes:
    builder, excluded, last = BallotsBuilder(), Counter[str](), 0
    parameters = published.method.parameters
    start, k = parameters.get("elo_start", START), parameters.get("elo_k", K)
    elo: defaultdict[str, float] = defaultdict(lambda: start)
    is_ordered = True
    for row in rows:
        if not last < row.order <= published.last_order:
            row_errors.append(f"vote {row.order}: follows {last} on a board that ends with {published.last_order}.")
        last = max(last, row.order)
        if not row.is_on(published.board):
            row_errors.append(f"vote {row.order}: is not on the board {published.board}.")
        left, right = row.model_left, row.model_right
        if not published.is_imported:
            left, right = contestant_name(left), contestant_name(right)
        if row.counts:
            builder.add(
                left, right, row.choice, n=row.n, voter=row.voter, style=_style_of(row), context=_context_of(row)
            )
        else:
            excluded[row.excluded_reason or ""] += row.n
        if row.excluded_reason in (None, "anomaly"):  # votes under review count for Elo
            elo[left], elo[right] = after_vote(elo[left], elo[right], left_share=_LEFT_SHARE[row.choice], k=k)
            is_ordered = is_ordered and row.n == 1
    is_ordered = is_ordered and published.has_own_elo
    return ExportedVotes(builder.build(), dict(excluded), dict(elo) if is_ordered else {})


def _style_of(row: VoteRow) -> list[int] | None:
    if row.style is None:
        return None
    return [getattr(side, count) for side in (row.style.left, row.style.right) for count in STYLE_COUNTS]


def _context_of(row: VoteRow) -> list[int] | None:
    if row.context is None:
        return None
    left, right = row.context.left, row.context.right
    waits = [-1 if side.first_token_ms is None else side.first_token_ms for side in (left, right)]
    return [row.context.files, left.met - right.met, left.reasoning - right.reasoning, *waits]


def _fit(published: PublishedSnapshot, ballots: Ballots, lines: Mapping[str, JsonObject]) -> SnapshotFit:
    style = published.facts.get("style") if published.has_own_style_fit else None
    scaling = style and Scaling(np.array(style["scaling"]["mean"]), np.array(style["scaling"]["sd"]))
    has_voters = published.has_unchanged_voters
    return fit_snapshot(
        ballots.counts,
        published.method.parameters,
        voters=ballots.voter_votes if has_voters else None,
        design_effects=None if has_voters else _published_design_effects(published, ballots.counts.names, lines),
        style=StyleInput(ballots, scaling, None if has_voters else _applied_context(published)) if style else None,
        ballots=ballots if published.facts.get("forecast_of") == published.id else None,
        with_agreement=published.facts.get("agreement_of") == published.id,
        with_taste=published.facts.get("taste_of") == published.id,
    )


def _published_design_effects(
    published: PublishedSnapshot, names: list[str], lines: Mapping[str, JsonObject]
) -> DesignEffects:
    # Models without a published design effect have no score, and no other number depends on theirs.
    effects = [lines[name]["design_effect"] if name in lines else 1.0 for name in names]
    side_bias = (published.facts.get("side_bias") or {}).get("design_effect", 1.0)
    return DesignEffects(np.array(effects, dtype=np.float64), side_bias)


def _applied_context(published: PublishedSnapshot) -> list[str]:
    effects = published.facts.get("context", {}).get("coefficients", {})
    return [name for name, effect in effects.items() if effect["applied"]]


def _collecting(published: PublishedSnapshot) -> dict[str, int]:
    return {published.contestant_name(line): line["votes"] for line in published.collecting}


def _unscored(names: list[str], fit: SnapshotFit) -> dict[str, int]:
    return {name: line["votes"] for name, line in zip(names, fit.lines, strict=True) if line["score"] is None}


def _style_values(style: object) -> object:
    if not isinstance(style, Mapping):
        return style
    return {feature: interval["value"] for feature, interval in style["coefficients"].items()}


def _compare_line(
    name: str, published: JsonObject | None, computed: FitLine, style_columns: Sequence[str]
) -> Iterator[str]:
    if published is None:
        if computed["score"] is not None:
            yield f"{name}: is not on the board, and the votes give it {computed['score']}."
        return
    for column in _LINE:
        yield from _differences(name, column, published.get(column), computed.get(column))
    for column, value in _both_bad_columns(published, computed).items():
        yield from _differences(name, column, published.get(column), value)
    if style_columns:
        style = published.get("style") or dict.fromkeys(_STYLE)
        # Snapshots of earlier versions have a rank without a range.
        has_rank_only = style["rank"] is not None and style.get("rank_best") is None
        for column in style_columns[:4] if has_rank_only else style_columns:
            yield from _differences(name, f"style {column}", style[column], computed.get(f"style_{column}"))


def _both_bad_columns(published: JsonObject, computed: FitLine) -> dict[str, float | None]:
    """Use the design effect that the published bounds imply if voters are missing."""
    both_bad, votes, effect = computed["both_bad"], computed["votes"], computed["both_bad_design_effect"]
    low, high = published.get("both_bad_low"), published.get("both_bad_high")
    if effect is None and _is_number(low) and _is_number(high):
        effect = implied_design_effect(Share(both_bad / votes, low, high), votes)
    share = observed_share(both_bad, votes, design_effect=effect or 1.0)
    is_known = effect is not None
    return {
        "both_bad_rate": share.share,
        "both_bad_low": share.low if is_known else None,
        "both_bad_high": share.high if is_known else None,
    }


def _differences(subject: str, fact: str, published: object, computed: object) -> Iterator[str]:
    """Yield one sentence for each number, also nested, that differs by more than TOLERANCE."""
    if isinstance(published, Mapping) and isinstance(computed, Mapping):
        for name in sorted(published.keys() | computed.keys()):
            yield from _differences(subject, f"{fact} {name}", published.get(name), computed.get(name))
    elif isinstance(published, list) and isinstance(computed, list) and len(published) == len(computed):
        for index, (left, right) in enumerate(zip(published, computed, strict=True)):
            yield from _differences(subject, f"{fact} {index}", left, right)
    elif not _are_equal(published, computed):
        yield f"{subject}: {fact} was published as {published}, and the votes give {computed}."


def _are_equal(published: object, computed: object) -> bool:
    if _is_number(published) and _is_number(computed):
        return math.isclose(published, computed, rel_tol=0, abs_tol=TOLERANCE)
    return bool(published == computed)


def _is_number(value: object) -> TypeGuard[float]:
    return type(value) in (int, float)
