"""Votes of one person or one team, summed by pair and by model."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from django.db.models import Count, Q

from accounts.actor import Actor
from battles.models import Vote, VoteQuerySet
from leaderboard.counting.board_keys import Board
from leaderboard.models import OVERALL, PairTally


class VotedPair(NamedTuple):
    """Votes with one outcome; left, right: ids of models."""

    left: int
    right: int
    choice: str
    n: int


@dataclass
class Record:
    """Votes on one model."""

    votes: int = 0
    wins: int = 0
    losses: int = 0
    ties: int = 0
    both_bad: int = 0


_LEFTS = {Vote.Choice.LEFT: "wins", Vote.Choice.RIGHT: "losses", Vote.Choice.TIE: "ties"}
_RIGHTS = {Vote.Choice.LEFT: "losses", Vote.Choice.RIGHT: "wins", Vote.Choice.TIE: "ties"}


def records_of(pairs: Iterable[VotedPair]) -> dict[int, Record]:
    records: defaultdict[int, Record] = defaultdict(Record)
    for pair in pairs:
        for model, fields in ((pair.left, _LEFTS), (pair.right, _RIGHTS)):
            record, name = records[model], fields.get(Vote.Choice(pair.choice), "both_bad")
            record.votes += pair.n
            setattr(record, name, getattr(record, name) + pair.n)
    return dict(records)


class OwnPairs(NamedTuple):
    """counted: those with numbers up to that of a snapshot."""

    pairs: list[VotedPair]
    counted: list[VotedPair]

    @property
    def votes(self) -> int:
        return sum(pair.n for pair in self.pairs)


def pairs_of_person(actor: Actor, *, last_order: int) -> OwnPairs:
    """Return votes on the site's Overall. Held votes are among both, because people are not told of them.

    A token sees the votes of its place; all of the person's are among the counted ones.
    """
    own = _grouped(_on_overall(actor), last_order)
    if actor.token is None:
        return own
    return own._replace(counted=_grouped(_on_overall(replace(actor, token=None)), last_order).counted)


def _on_overall(actor: Actor) -> VoteQuerySet:
    return Vote.objects.cast_by(actor).with_names().on_overall().filter(excluded_reason__in=Vote.COUNTED_REASONS)


def counted_pairs_of_team(team: int, *, last_order: int) -> list[VotedPair]:
    """Return the team's votes that count on the site's Overall."""
    return _grouped(Vote.objects.on_overall().filter(team=team, excluded_reason=""), last_order).counted


def pairs_of_team(team: int) -> list[VotedPair]:
    """Return the votes of the newest snapshot of the team's Overall."""
    tallies = PairTally.objects.filter(scope=Board(OVERALL, team).scope, n__gt=0)
    return [VotedPair(*row) for row in tallies.values_list("left_id", "right_id", "outcome", "n")]


def _grouped(votes: VoteQuerySet, last_order: int) -> OwnPairs:
    key = ("model_left_id", "model_right_id", "choice")
    counted = Count("pk", filter=Q(order__lte=last_order))
    rows = list(
        votes.order_by().values(*key).annotate(n=Count("pk"), counted=counted).values_list(*key, "n", "counted")
    )
    pairs = [VotedPair(left, right, choice, n) for left, right, choice, n, _n in rows]
    return OwnPairs(pairs, [VotedPair(left, right, choice, n) for left, right, choice, _n, n in rows])
