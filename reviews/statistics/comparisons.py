"""Agreement of people, judges and checks on the pairs of a review, and boards of judges that people correct."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.statistics.agreement import (
    LEFT,
    OUTCOMES,
    RIGHT,
    TIE,
    Agreement,
    Estimate,
    Opinions,
    Pairs,
    Scale,
    agreement,
    alpha_difference,
    pairs_between,
    pairs_within,
)
from benchmarks.statistics.calibration import Calibrated, Judged, Labels, calibrated_board, cell_weights
from benchmarks.statistics.clusters import Floats, Indices
from benchmarks.statistics.judged import Outcomes

# Outcomes of the categories left, tie, right, seen from the left.
_OUTCOME_OF = np.array([1.0, 0.5, 0.0])
# Scores that are as close as this are equal.
_EQUAL = 1e-9


@dataclass(frozen=True)
class Shown:
    """Pairs of answers that people were shown; arrays of shape (pairs,), `key` ascending.

    first, second: entrants in the order of the run. cell: items of one are equally likely to be drawn.
    """

    key: Indices
    first: Indices
    second: Indices
    case: Indices
    cell: Indices


@dataclass(frozen=True)
class People:
    """Opinions on pairs of Shown, in the order of votes; arrays of shape (opinions,)."""

    key: Indices
    person: Indices
    category: Indices


@dataclass(frozen=True)
class Preferences:
    """Outcomes of one judge, or of the checks, on pairs of Shown; arrays of shape (pairs,), `key` ascending."""

    key: Indices
    outcome: Floats  # 1: the first entrant won, 0: the second, or between


@dataclass(frozen=True)
class Comparison:
    """above_people: α less that of people with each other; None where no two people saw the same pair."""

    agreement: Agreement
    above_people: Estimate | None


@dataclass(frozen=True)
class OpinionPairs:
    """Pairs of opinions of people with each other, and of each source with people. None where there are none."""

    people: Pairs | None
    with_people: list[Pairs | None]


@dataclass(frozen=True)
class Comparisons:
    """None where no pair has both opinions."""

    people: Agreement | None
    with_people: list[Comparison | None]  # of each source
    between: dict[tuple[int, int], Agreement]  # sources


@dataclass(frozen=True)
class Corrected:
    """A judge's board of the pairs that it read. entrants: those of the arrays."""

    entrants: Indices
    board: Calibrated


@dataclass(frozen=True)
class Disagreement:
    """A pair on which a source and at least one person differ. opinions: numbers of people by category."""

    key: int
    category: int
    opinions: tuple[int, ...]


def preferences_of(outcomes: Outcomes, shown: Shown) -> Preferences:
    rows = np.isin(outcomes.key, shown.key)
    return Preferences(outcomes.key[rows], outcomes.value[rows])


def preferences_of_scores(first: Floats, second: Floats, shown: Shown, *, relevant: float | None) -> Preferences:
    """first, second: scores of each pair's answers, NaN if unknown. relevant: smaller differences are ties."""
    is_known = ~np.isnan(first + second)
    difference = (first - second)[is_known]
    is_tie = np.abs(difference) < max(relevant or 0.0, _EQUAL)
    return Preferences(shown.key[is_known], np.where(is_tie, 0.5, (difference > 0).astype(float)))


def pairs_with_people(shown: Shown, people: People, sources: Sequence[Preferences]) -> OpinionPairs:
    opinions = Opinions(people.key, people.person, people.category, _cases(people.key, shown))
    own = [_opinions(source, shown) for source in sources]
    return OpinionPairs(_pairs_within(opinions), [_pairs_between(each, opinions) for each in own])


def compare(shown: Shown, people: People, sources: Sequence[Preferences]) -> Comparisons:
    pairs = pairs_with_people(shown, people, sources)
    own = [_opinions(source, shown) for source in sources]
    return Comparisons(
        people=None if pairs.people is None else agreement(pairs.people),
        with_people=[compare_with_people(each, pairs.people) for each in pairs.with_people],
        between={
            (one, other): agreement(both)
            for one in range(len(own))
            for other in range(one + 1, len(own))
            if (both := _pairs_between(own[one], own[other])) is not None
        },
    )


def correct(judge: Preferences, shown: Shown, people: People) -> Corrected | None:
    """Return the calibrated board of the pairs that the judge read; None of none."""
    if not len(judge.key):
        return None
    rows = np.searchsorted(shown.key, judge.key)
    entrants, places = np.unique(np.stack([shown.first[rows], shown.second[rows]]), return_inverse=True)
    first, second = places.reshape(2, len(rows))
    is_read = np.isin(people.key, judge.key)
    item = np.searchsorted(judge.key, people.key[is_read])
    labels = Labels(
        item=item,
        outcome=_OUTCOME_OF[people.category[is_read]],
        person=people.person[is_read],
        weight=cell_weights(shown.cell[rows], item) if len(item) else np.zeros(0),
    )
    board = calibrated_board(Judged(first, second, judge.outcome, shown.case[rows]), labels, len(entrants))
    return Corrected(entrants, board)


def disagreements(
    source: Preferences, people: People, *, category: int | None = None, opinion: int | None = None
) -> list[Disagreement]:
    """Return pairs, those first on which people differ most from the source on average, then those with more people.

    category, opinion: only of this one of the source, and of at least one person.
    """
    rows = np.flatnonzero(np.isin(people.key, source.key))
    places = np.searchsorted(source.key, people.key[rows])
    own = categories(source.outcome)
    counts = np.zeros((len(source.key), OUTCOMES), dtype=np.int64)
    np.add.at(counts, (places, people.category[rows]), 1)
    number = counts.sum(axis=1)
    distance = (counts * np.abs(np.arange(OUTCOMES) - own[:, None])).sum(axis=1) / np.maximum(number, 1)
    is_wanted = distance > 0
    if category is not None:
        is_wanted &= own == category
    if opinion is not None:
        is_wanted &= counts[:, opinion] > 0
    order = np.lexsort((source.key, -number, -distance))
    return [
        Disagreement(int(source.key[row]), int(own[row]), tuple(counts[row].tolist()))
        for row in order[is_wanted[order]].tolist()
    ]


def categories(outcome: Floats) -> Indices:
    return np.where(outcome > 0.5, LEFT, np.where(outcome < 0.5, RIGHT, TIE))


def _opinions(source: Preferences, shown: Shown) -> Opinions:
    rater = np.zeros(len(source.key), dtype=np.int64)
    return Opinions(source.key, rater, categories(source.outcome), _cases(source.key, shown))


def _cases(keys: Indices, shown: Shown) -> Indices:
    return shown.case[np.searchsorted(shown.key, keys)]


def compare_with_people(pairs: Pairs | None, of_people: Pairs | None) -> Comparison | None:
    if pairs is None:
        return None
    above = None if of_people is None else alpha_difference(pairs, of_people, Scale.ORDINAL)
    return Comparison(agreement(pairs), above)


def _pairs_within(opinions: Opinions) -> Pairs | None:
    pairs = pairs_within(opinions) if len(opinions.unit) else None
    return pairs if pairs is not None and pairs.n else None


def _pairs_between(first: Opinions, second: Opinions) -> Pairs | None:
    pairs = pairs_between(first, second) if len(first.unit) and len(second.unit) else None
    return pairs if pairs is not None and pairs.n else None
