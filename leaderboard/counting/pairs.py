from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from django.db.models import F, Q, QuerySet, Sum
from django.db.models.functions import Coalesce, Greatest, Least

from battles.models import Vote
from leaderboard.models import ImportedVote, PairTally
from leaderboard.models.imported import SCOPE as IMPORTED


class Meetings(NamedTuple):
    """Counted votes between contestants a and b: ids of models, or of Contestant rows on an imported board."""

    a: int
    b: int
    wins_a: int
    wins_b: int
    ties: int
    both_bad: int

    @property
    def votes(self) -> int:
        return self.wins_a + self.wins_b + self.ties + self.both_bad

    @property
    def share_a(self) -> float:
        """Share of wins of a; a tie of either kind counts ½."""
        return (self.wins_a + (self.ties + self.both_bad) / 2) / self.votes

    def oriented_to(self, contestant: int) -> "Meetings":
        if contestant == self.a:
            return self
        return Meetings(self.b, self.a, self.wins_b, self.wins_a, self.ties, self.both_bad)


def meetings(board: str, *, among: Collection[int]) -> list[Meetings]:
    """Return the pairs among these contestants that met, with a < b; one query."""
    rows = _unordered_pairs(_tallies(board).filter(left__in=among, right__in=among), "a", "b")
    return [Meetings(*row) for row in rows]


def meetings_by_opponent(board: str, contestant: int) -> list[Meetings]:
    """Return the contestant's meetings with each opponent, as a; one query."""
    rows = _unordered_pairs(_tallies(board).filter(Q(left=contestant) | Q(right=contestant)), "a", "b")
    return [Meetings(*row).oriented_to(contestant) for row in rows]


def meetings_by_board(boards: Collection[str], first: int, second: int) -> dict[str, Meetings]:
    """Return {board: meetings with `first` as a} on the arena's boards where the models met; one query."""
    both = (first, second)
    tallies = PairTally.objects.filter(scope__in=boards, left__in=both, right__in=both, n__gt=0)
    rows: dict[str, Meetings] = {}
    for scope, *row in _unordered_pairs(tallies, "scope", "a", "b"):
        rows[scope] = Meetings(*row).oriented_to(first)
    return rows


def _tallies(board: str) -> "QuerySet[Any, Any]":
    if board.startswith(IMPORTED):
        slug = board.removeprefix(IMPORTED)
        return ImportedVote.objects.filter(board__slug=slug, edition=F("board__edition"))
    return PairTally.objects.filter(scope=board, n__gt=0)


def _unordered_pairs(tallies: "QuerySet[Any, Any]", *key: str) -> "Iterable[Any]":
    """Return rows (*key, wins_a, wins_b, ties, both_bad), adding up both orders of sides."""
    a_left, b_left = Q(left_id=F("a")), Q(left_id=F("b"))
    left, right = Q(outcome=Vote.Choice.LEFT), Q(outcome=Vote.Choice.RIGHT)
    counts = {
        "wins_a": (a_left & left) | (b_left & right),
        "wins_b": (b_left & left) | (a_left & right),
        "ties": Q(outcome=Vote.Choice.TIE),
        "both_bad": Q(outcome=Vote.Choice.BOTH_BAD),
    }
    pairs = tallies.order_by().annotate(a=Least("left_id", "right_id"), b=Greatest("left_id", "right_id"))
    sums = {name: Coalesce(Sum("n", filter=condition), 0) for name, condition in counts.items()}
    rows: Iterable[Any] = pairs.values(*key).annotate(**sums).values_list(*key, *counts)
    return rows


def meetings_table(pairs: list[Meetings]) -> dict[int, dict[int, Meetings]]:
    """Return a table whose entry [x][y] has x as a."""
    table: dict[int, dict[int, Meetings]] = defaultdict(dict)
    for pair in pairs:
        table[pair.a][pair.b] = pair
        table[pair.b][pair.a] = pair.oriented_to(pair.b)
    return table
