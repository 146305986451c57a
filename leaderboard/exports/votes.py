"""The votes of a moment, as rows of an export: what they say, and how each of them stood then."""

import hashlib
import secrets
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec
from django.db.models import Max

from battles.models import Battle, Vote
from leaderboard.export_rows import Style, VoteRow
from leaderboard.models import OVERALL, SIDE_BY_SIDE, AggregationRun, VoteChange

BATCH = 5_000

_FACTS = (
    "order", "mode", "voter", "model_left__slug", "model_right__slug", "choice", "created_at", "turn_count", "style",
)  # fmt: skip
_STANDING = ("excluded_reason", "categories", "language")


@dataclass(frozen=True)
class Moment:
    """One board's votes up to a number, as they stood after a change; and of them those since some time or number."""

    scope: str
    last_order: int
    last_change: int
    after_order: int = 0
    since: datetime | None = None


def moment_of(run: AggregationRun) -> Moment:
    """What a snapshot counted."""
    return Moment(run.scope, run.last_order, run.last_change)


def moment_now() -> Moment:
    """Every blind vote as it stands now, also those that no snapshot has counted yet."""
    last_change = VoteChange.objects.aggregate(last=Max("number"))["last"] or 0
    last_order = Vote.objects.aggregate(last=Max("order"))["last"] or 0
    return Moment(OVERALL, last_order, last_change)


def batches(moment: Moment) -> Iterator[list[VoteRow]]:
    """The rows in order, some thousands at a time, with two queries for each piece.

    No query or transaction is open between two pieces, and what changes meanwhile does not show. Voters have
    pseudonyms that no other call gives them.
    """
    name_of = new_pseudonyms()
    after = moment.after_order
    votes = Vote.objects.filter(order__lte=moment.last_order).order_by("order")
    if moment.since is not None:
        votes = votes.filter(created_at__gte=moment.since)
    while found := list(votes.filter(order__gt=after).values_list("pk", *_FACTS, *_STANDING)[:BATCH]):
        first, after = found[0][1], found[-1][1]
        history = _history(first, after)
        rows = [_row(facts, history.get(facts[0], []), moment, name_of) for facts in found]
        if on_the_board := [row for row in rows if row.is_on(moment.scope)]:
            yield on_the_board


def new_pseudonyms() -> Callable[[str], str]:
    """Names for voters: the same voter the same name, under a key that is kept nowhere."""
    key = secrets.token_bytes(32)
    return lambda voter: hashlib.blake2b(voter.encode(), digest_size=12, key=key).hexdigest()


def _history(first: int, last: int) -> dict[int, list[VoteChange]]:
    """By vote, its changes in order."""
    changes: dict[int, list[VoteChange]] = defaultdict(list)
    found = VoteChange.objects.filter(vote__order__range=(first, last)).order_by("number")
    for change in found.only("vote_id", "number", "kind", "before", "at"):
        changes[change.vote_id].append(change)
    return changes


def _row(facts: tuple[Any, ...], changes: list[VoteChange], moment: Moment, name_of: Callable[[str], str]) -> VoteRow:
    _, order, mode, voter, left, right, choice, created_at, turn_count, style, *now = facts
    later = next((change.before for change in changes if change.number > moment.last_change), None)
    stood = later or dict(zip(_STANDING, now, strict=True))
    exclusions = [
        change.at
        for change in changes
        if change.kind == VoteChange.Kind.EXCLUDED and change.number <= moment.last_change
    ]
    is_excluded = bool(stood["excluded_reason"])
    return VoteRow(
        order=order,
        voter=name_of(voter),
        model_left=left,
        model_right=right,
        choice=choice,
        created_at=created_at,
        board=SIDE_BY_SIDE if mode == Battle.Mode.SIDE_BY_SIDE else OVERALL,
        categories=stood["categories"],
        language=stood["language"],
        turn_count=turn_count,
        style=msgspec.convert(style, Style) if style else None,
        excluded_reason=stood["excluded_reason"] or None,
        # Without a change it was set aside when it was cast, or before it was first counted.
        excluded_at=([created_at, *exclusions][-1]) if is_excluded else None,
    )
