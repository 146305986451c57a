"""Opinions on pairs of a run's stored answers: of people, of judges and of the checks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.judges.results import clusters_of, read_verdicts
from benchmarks.models import Judge, Run
from benchmarks.statistics.clusters import Floats, Indices
from benchmarks.statistics.judged import Verdicts, outcomes_of
from leaderboard.counting.columns import FloatColumns, read_float_columns
from reviews.models import Review
from reviews.sql import read_sql
from reviews.statistics.comparisons import People, Preferences, Shown, preferences_of, preferences_of_scores

_PAIR = ("case_id", "repeat", "first", "second")
_SHOWN = (*_PAIR, "cell", "first_score", "second_score")
_OPINION = (*_PAIR, "vote", "person", "category")


@dataclass(frozen=True)
class Answers:
    """Numbers of the pairs of a run's answers: of a case, a repeat, and two entrants by their positions."""

    run: Run
    entrants: int

    def keys(self, columns: Mapping[str, Indices]) -> Indices:
        case, repeat, first, second = (columns[name] for name in _PAIR)
        return ((case * self.run.repeats + repeat) * self.entrants + first) * self.entrants + second

    def parts(self, key: int) -> tuple[int, int, int, int]:
        """Return case, repeat, and both entrants of a pair."""
        rest, second = divmod(key, self.entrants)
        rest, first = divmod(rest, self.entrants)
        return *divmod(rest, self.run.repeats), first, second


@dataclass(frozen=True)
class Gathered:
    """Pairs of reviews, and what people said. scores: of the checks, of both answers, shape (2, pairs)."""

    answers: Answers
    shown: Shown
    scores: Floats
    people: People


@dataclass(frozen=True)
class JudgePreferences:
    """is_partial: as in benchmarks.judges.results.JudgeVerdicts."""

    judge: Judge
    preferences: Preferences
    is_partial: bool


def gather(run: Run, reviews: Sequence[Review]) -> Gathered:
    """reviews: of the run."""
    answers = Answers(run, run.entrants.count())
    ids = [review.public_id for review in reviews]
    pairs, opinions = _read("pairs_of_reviews.sql", ids, _SHOWN), _read("opinions_of_people.sql", ids, _OPINION)
    whole = _whole_numbers(pairs, (*_PAIR, "cell"))
    keys, rows = np.unique(answers.keys(whole), return_index=True)  # a pair may be in several reviews
    clusters = clusters_of(run)
    shown = Shown(
        key=keys,
        first=whole["first"][rows],
        second=whole["second"][rows],
        case=np.array([clusters[case] for case in whole["case_id"][rows].tolist()], dtype=np.int64),
        cell=whole["cell"][rows],
    )
    scores = np.stack([pairs["first_score"][rows], pairs["second_score"][rows]])
    cast = _whole_numbers(opinions, _OPINION)
    by_time = np.argsort(cast["vote"])
    people = People(answers.keys(cast)[by_time], cast["person"][by_time], cast["category"][by_time])
    return Gathered(answers, shown, scores, people)


def checks_of(gathered: Gathered) -> Preferences:
    first, second = gathered.scores
    return preferences_of_scores(first, second, gathered.shown, relevant=_relevant(gathered))


def judges_on(gathered: Gathered, judges: Sequence[Judge]) -> list[JudgePreferences]:
    """Return outcomes of judges in their order; of one that grades, by the grades of both answers."""
    return [
        JudgePreferences(each.judge, _preferences(gathered, each.judge, each.verdicts), each.is_partial)
        for each in read_verdicts(gathered.answers.run, judges)
    ]


def _preferences(gathered: Gathered, judge: Judge, verdicts: Verdicts) -> Preferences:
    entrants, shown = gathered.answers.entrants, gathered.shown
    if judge.kind == Judge.Kind.PAIRWISE:
        return preferences_of(outcomes_of(verdicts, entrants), shown)
    graded, rows = np.unique(verdicts.unit * entrants + verdicts.first, return_index=True)
    units = shown.key // entrants**2 * entrants
    first, second = (_looked_up(units + side, graded, verdicts.value[rows]) for side in (shown.first, shown.second))
    return preferences_of_scores(first, second, shown, relevant=_relevant(gathered))


def _looked_up(keys: Indices, known: Indices, values: Floats) -> Floats:
    """Return values of keys, NaN for an unknown one. known: ascending."""
    found = np.full(len(keys), np.nan)
    is_known = np.isin(keys, known)
    found[is_known] = values[np.searchsorted(known, keys[is_known])]
    return found


def _relevant(gathered: Gathered) -> float | None:
    return gathered.answers.run.version.relevant_difference


def _read(statement: str, reviews: list[str], names: Sequence[str]) -> FloatColumns:
    rows = dict(read_float_columns(read_sql(statement), {"reviews": reviews}, names))
    return rows.get((), {name: np.zeros(0) for name in names})


def _whole_numbers(columns: FloatColumns, names: Sequence[str]) -> dict[str, Indices]:
    return {name: columns[name].astype(np.int64) for name in names}
