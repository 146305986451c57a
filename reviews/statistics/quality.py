"""Steadiness and likeness of votes of people. No Django."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import median

# People who answer alike are named from so many common pairs on, and from this share of the same answers.
MIN_COMMON, ALIKE = 8, 0.95
# Comparisons of two people's votes on one pair, so that the largest review takes a second.
MAX_COMPARISONS = 1_000_000


@dataclass(frozen=True)
class JudgedPair:
    """One vote. winner: what it prefers, whichever side that was on. is_left: None for a tie. seconds: to the vote.

    gold: the better answer of a gold pair, which is a repeat, too.
    """

    person: str
    item: int
    winner: Hashable
    is_left: bool | None
    seconds: float
    is_repeat: bool = False
    gold: Hashable = None


@dataclass(frozen=True)
class Steadiness:
    """again: repeated pairs. same: those with the same winner. decided: votes for a side; left: for the left one."""

    again: int
    same: int
    decided: int
    left: int
    median_seconds: float
    gold: int = 0
    gold_right: int = 0


def steadiness(votes: Sequence[JudgedPair]) -> Steadiness:
    """Describe the votes of one person, of which there is at least one."""
    first = {vote.item: vote.winner for vote in votes if not vote.is_repeat}
    again = [vote for vote in votes if vote.is_repeat and vote.gold is None and vote.item in first]
    gold = [vote for vote in votes if vote.gold is not None]
    sides = [vote.is_left for vote in votes if vote.is_left is not None]
    return Steadiness(
        again=len(again), same=sum(vote.winner == first[vote.item] for vote in again), decided=len(sides),
        left=sum(sides), median_seconds=median(vote.seconds for vote in votes),
        gold=len(gold), gold_right=sum(vote.winner == vote.gold for vote in gold),
    )  # fmt: skip


@dataclass(frozen=True)
class Alike:
    """Two people's common pairs, and those on which they gave the same answer."""

    people: tuple[str, str]
    common: int
    same: int


def alike_people(votes: Iterable[JudgedPair]) -> list[Alike]:
    """Return people who answer alike pair by pair, those with most common pairs first."""
    by_item: dict[int, dict[str, Hashable]] = defaultdict(dict)
    for vote in votes:
        if not vote.is_repeat:
            by_item[vote.item][vote.person] = vote.winner
    common, same = _compared(by_item)
    found = [
        Alike(people, n, same[people]) for people, n in common.items() if n >= MIN_COMMON and same[people] >= ALIKE * n
    ]
    return sorted(found, key=lambda alike: (-alike.common, -alike.same, alike.people))


def _compared(
    by_item: Mapping[int, Mapping[str, Hashable]],
) -> tuple[Counter[tuple[str, str]], Counter[tuple[str, str]]]:
    common, same, left = Counter[tuple[str, str]](), Counter[tuple[str, str]](), MAX_COMPARISONS
    for winners in by_item.values():
        if left <= 0:
            break
        for people in combinations(sorted(winners), 2):
            common[people] += 1
            same[people] += winners[people[0]] == winners[people[1]]
        left -= len(winners) * (len(winners) - 1) // 2
    return common, same
