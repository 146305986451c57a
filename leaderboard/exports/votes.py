import hashlib
import secrets
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import msgspec
from django.db.models import Max

from battles.models import Battle, Vote, VoteQuerySet
from battles.models.categories import TEAM_MARK
from leaderboard.counting.board_keys import Board
from leaderboard.counting.contestants import name_of
from leaderboard.counting.site_numbers import SiteNumbers
from leaderboard.export_rows import Context, Style, VoteRow
from leaderboard.models import AUTO, OVERALL, SIDE_BY_SIDE, AggregationRun, VoteChange

BATCH = 5_000

_FIELDS = (
    "order", "mode", "origin", "voter", name_of("model_left"), name_of("model_right"), "choice", "created_at",
    "turn_count", "style", "team_categories", "series",
)  # fmt: skip
_STATE = ("excluded_reason", "categories", "language")


@dataclass(frozen=True)
class ExportRange:
    """Votes of a board up to `last_order`, in their state after `last_change`; optionally since a start.

    last_change: number of the last VoteChange or star, or an imported board's edition.
    """

    scope: str
    last_order: int
    last_change: int
    after_number: int = 0
    since: datetime | None = None


def snapshot_range(run: AggregationRun) -> ExportRange:
    return ExportRange(run.scope, run.last_order, run.last_change)


def current_range(team: int | None = None, series: str = "") -> ExportRange:
    """Return the votes as of now of Overall or of a review, also those that no snapshot has counted."""
    last_change = VoteChange.objects.aggregate(last=Max("number"))["last"] or 0
    last_order = Vote.objects.aggregate(last=Max("order"))["last"] or 0
    board = Board.of_review(series) if series else Board(OVERALL, team)
    return ExportRange(board.scope, last_order, last_change)


def batches(export_range: ExportRange) -> Iterator[list[VoteRow]]:
    """Yield the rows in order, in batches with two queries each.

    Models have their contestant_name. No query or transaction is open between batches; later changes are not visible.
    Each call has new pseudonyms.
    """
    board = Board.parse(export_range.scope)
    if board.team is not None or board.series:
        of_board = Vote.objects.filter(series=board.series) if board.series else Vote.objects.filter(team=board.team)
        yield from _batches_numbered_anew(of_board, export_range)
        return
    numbers = SiteNumbers.read("battles_vote", until=export_range.last_order)
    votes = Vote.objects.filter(on_site_boards=True)
    for rows in _batches(votes, export_range, after=numbers.in_log(export_range.after_number)):
        if len(numbers.skipped):
            yield [msgspec.structs.replace(row, order=numbers.shown(row.order)) for row in rows]
        else:
            yield rows


def _batches_numbered_anew(votes: VoteQuerySet, export_range: ExportRange) -> Iterator[list[VoteRow]]:
    number = 0
    for rows in _batches(votes, replace(export_range, since=None), after=0):
        numbered = [msgspec.structs.replace(row, order=number + place) for place, row in enumerate(rows, start=1)]
        number += len(rows)
        wanted = [row for row in numbered if row.order > export_range.after_number and _is_since(row, export_range)]
        if wanted:
            yield wanted


def _is_since(row: VoteRow, export_range: ExportRange) -> bool:
    return export_range.since is None or (row.created_at is not None and row.created_at >= export_range.since)


def _batches(votes: VoteQuerySet, export_range: ExportRange, *, after: int) -> Iterator[list[VoteRow]]:
    pseudonym = new_pseudonyms()
    votes = votes.filter(order__lte=export_range.last_order).order_by("order")
    if export_range.since is not None:
        votes = votes.filter(created_at__gte=export_range.since)
    name = Board.parse(export_range.scope).name
    while batch := list(votes.filter(order__gt=after).values_list("pk", *_FIELDS, *_STATE)[:BATCH]):
        first, after = batch[0][1], batch[-1][1]
        history = _history(first, after)
        rows = [_row(facts, history.get(facts[0], []), export_range, pseudonym) for facts in batch]
        if board_rows := [row for row in rows if row.is_on(name)]:
            yield board_rows


def new_pseudonyms() -> Callable[[str], str]:
    """Return a function from voter to pseudonym: a keyed hash whose key is not stored."""
    key = secrets.token_bytes(32)
    return lambda voter: hashlib.blake2b(voter.encode(), digest_size=12, key=key).hexdigest()


def _history(first: int, last: int) -> dict[int, list[VoteChange]]:
    changes: dict[int, list[VoteChange]] = defaultdict(list)
    stored = VoteChange.objects.filter(vote__order__range=(first, last)).order_by("number")
    for change in stored.only("vote_id", "number", "kind", "before", "at"):
        changes[change.vote_id].append(change)
    return changes


def _row(
    facts: tuple[Any, ...], changes: list[VoteChange], export_range: ExportRange, pseudonym: Callable[[str], str]
) -> VoteRow:
    _, order, mode, origin, voter, left, right, choice, created_at, turn_count, style, own, series, *current = facts
    before = next((change.before for change in changes if change.number > export_range.last_change), None)
    state = before or dict(zip(_STATE, current, strict=True))
    exclusions = [
        change.at
        for change in changes
        if change.kind == VoteChange.Kind.EXCLUDED and change.number <= export_range.last_change
    ]
    is_excluded = bool(state["excluded_reason"])
    of_team = [] if Board.parse(export_range.scope).team is None else [f"{TEAM_MARK}{slug}" for slug in own or ()]
    return VoteRow(
        order=order,
        voter=pseudonym(voter),
        model_left=left,
        model_right=right,
        choice=choice,
        created_at=created_at,
        board=Board.of_review(series).name if series else _kind_of_board(mode, origin),
        categories=[*state["categories"], *of_team],
        language=state["language"],
        turn_count=turn_count,
        style=msgspec.convert(style, Style) if style else None,
        excluded_reason=state["excluded_reason"] or None,
        # A vote without a change was excluded when it was cast, or before it was first counted.
        excluded_at=([created_at, *exclusions][-1]) if is_excluded else None,
        context=msgspec.convert(style["context"], Context) if "context" in style else None,
        origin=origin,
    )


def _kind_of_board(mode: str, origin: str) -> str:
    if mode == Battle.Mode.SIDE_BY_SIDE:
        return SIDE_BY_SIDE
    return OVERALL if origin == Battle.Origin.DRAW else AUTO
