"""Agreement of people, judges and checks about a review, and boards of judges that people correct."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from benchmarks.judges.results import judges_of
from benchmarks.models import Entrant, Judge, Run
from benchmarks.reports.item_rows import entrant_key
from benchmarks.reports.store import read_report
from benchmarks.statistics.agreement import Agreement
from benchmarks.statistics.calibration import Scores
from benchmarks.statistics.payload import Interval, number
from reviews.agreement.gathering import Gathered, JudgePreferences, checks_of, gather, judges_on
from reviews.models import Review
from reviews.statistics.comparisons import Comparison, Corrected, compare, correct

# Judges of a run that are compared, the latest first.
MAX_JUDGES = 5
# Mean score of a board.
_OFFSET = 1500

NoBoard = Literal["", "adaptive", "partial", "nothing"]


@dataclass(frozen=True)
class CalibratedLine:
    """Four figures of an entrant: the mean score of the checks, and scores in points. None: unknown.

    worth: opinions that would have narrowed people's own interval as much.
    """

    entrant: Entrant
    checks: Interval | None
    judge: Interval
    people: Interval | None
    calibrated: Interval | None
    worth: float


@dataclass(frozen=True)
class CalibratedBoard:
    """opinions, people, cases: on pairs that the judge read. is_calibrated: these are enough."""

    lines: list[CalibratedLine]
    opinions: int
    people: int
    cases: int
    is_calibrated: bool
    rate: float


@dataclass(frozen=True)
class JudgeAgreement:
    """comparison: with people, None without a common pair. no_board: why there is no calibrated board."""

    judge: Judge
    comparison: Comparison | None
    board: CalibratedBoard | None
    no_board: NoBoard


@dataclass(frozen=True)
class ReviewAgreement:
    """people: with each other, None where no two saw the same pair, or without the run. opinions: on the pairs."""

    people: Agreement | None
    checks: Comparison | None
    judges: list[JudgeAgreement]
    between_judges: list[tuple[Judge, Judge, Agreement]]
    pairs: int
    opinions: int


@dataclass(frozen=True)
class JudgeWithPeople:
    """A judge with people in all closed reviews of a run. reviews: the latest first."""

    comparison: Comparison
    people: Agreement | None
    reviews: list[Review]


def read_agreement(review: Review) -> ReviewAgreement:
    """Return figures of a review whose results are shown; without its run, numbers alone."""
    if review.run is None:  # which opinions are about one case went with the run's answers
        opinions = review.battles.filter(knew_answers=False, battle__vote__excluded_reason="")
        return ReviewAgreement(None, None, [], [], review.item_count, opinions.count())
    run, gathered = review.run, gather(review.run, [review])
    judges = judges_on(gathered, judges_of(run)[:MAX_JUDGES])
    compared = compare(gathered.shown, gathered.people, [*(each.preferences for each in judges), checks_of(gathered)])
    *with_judges, with_checks = compared.with_people
    boards = boards_of(review, run, gathered, judges)
    return ReviewAgreement(
        people=compared.people,
        checks=with_checks,
        judges=[
            JudgeAgreement(each.judge, comparison, board, no_board)
            for each, comparison, (board, no_board) in zip(judges, with_judges, boards, strict=True)
        ],
        between_judges=[
            (judges[one].judge, judges[other].judge, figures)
            for (one, other), figures in compared.between.items()
            if other < len(judges)  # the last one is the checks
        ],
        pairs=len(gathered.shown.key),
        opinions=len(gathered.people.key),
    )


def read_judges_with_people(run: Run, judges: Sequence[Judge]) -> dict[int, JudgeWithPeople]:
    """Return agreement by id of a judge, of those that share a pair with people."""
    reviews = list(Review.objects.filter(run=run).closed().order_by("-created_at", "-pk"))
    if not reviews or not judges:
        return {}
    gathered = gather(run, reviews)
    if not len(gathered.people.key):
        return {}
    on_run = judges_on(gathered, judges)
    compared = compare(gathered.shown, gathered.people, [each.preferences for each in on_run])
    return {
        each.judge.pk: JudgeWithPeople(comparison, compared.people, reviews)
        for each, comparison in zip(on_run, compared.with_people, strict=True)
        if comparison is not None
    }


def boards_of(
    review: Review, run: Run, gathered: Gathered, judges: Sequence[JudgePreferences]
) -> list[tuple[CalibratedBoard | None, NoBoard]]:
    """Return boards of judges, corrected by people. gathered: of this review alone."""
    if review.plan == Review.Plan.ADAPTIVE:  # its draws depend on what people said
        return [(None, "adaptive")] * len(judges)
    entrants = list(run.entrants.select_related("model__team", "prompt").order_by("position"))
    checks = _means_of_checks(run) if judges else {}
    boards: list[tuple[CalibratedBoard | None, NoBoard]] = []
    for each in judges:
        if each.is_partial:
            boards.append((None, "partial"))
            continue
        corrected = correct(each.preferences, gathered.shown, gathered.people)
        if corrected is None or corrected.board.people is None:
            boards.append((None, "nothing"))
        else:
            boards.append((_board(corrected, entrants, checks), ""))
    return boards


def _means_of_checks(run: Run) -> dict[str, Interval]:
    report = read_report(run)
    primary = next((metric for metric in report.metrics if metric.is_primary), None)
    return {} if primary is None else {mean.entrant: mean.mean for mean in primary.means if mean.scored}


def _board(corrected: Corrected, entrants: Sequence[Entrant], checks: dict[str, Interval]) -> CalibratedBoard:
    figures, by_position = corrected.board, {entrant.position: entrant for entrant in entrants}
    lines = [
        CalibratedLine(
            entrant=by_position[position],
            checks=checks.get(entrant_key(by_position[position])),
            judge=_interval(figures.judge, row),
            people=None if figures.people is None else _interval(figures.people, row),
            calibrated=None if figures.calibrated is None else _interval(figures.calibrated, row),
            worth=float(figures.worth[row]),
        )
        for row, position in enumerate(corrected.entrants.tolist())
    ]
    return CalibratedBoard(
        lines=sorted(lines, key=_from_best),
        opinions=figures.opinions,
        people=figures.persons,
        cases=figures.cases,
        is_calibrated=figures.calibrated is not None,
        rate=figures.rate,
    )


def _interval(scores: Scores, row: int) -> Interval:
    value, low, high = (_OFFSET + each[row] for each in (scores.value, scores.low, scores.high))
    return Interval(number(value), number(low), number(high))


def _from_best(line: CalibratedLine) -> tuple[float, int]:
    best = line.calibrated or line.people or line.judge
    return -(best.value or 0.0), line.entrant.position
