"""Judges that were asked about a run, with their results and the state of their latest judging."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from benchmarks.judges.overview import judges_on
from benchmarks.judges.results import JudgeResults, Jury, read_jury, read_results, read_styled_board
from benchmarks.models import Entrant, Judge, Judging, Run
from benchmarks.queries.run_progress import RunProgress, read_run_progress
from benchmarks.statistics.judged import BoardLine, GradeMean

_Line = TypeVar("_Line", BoardLine, GradeMean)

# Why replies or pairs are not judged.
LEFT_OUT: dict[str, Promise] = {
    "no_whole_answer": _("Without a whole answer"),
    "same_answer": _("Both answers are the same"),
    "own_family": _("Of the judge’s own organization"),
    "names_itself": _("An answer names its own model"),
}


@dataclass(frozen=True)
class JudgeOnRun:
    """judging: the latest one; None for judgements that were made for another run with the same replies."""

    results: JudgeResults
    judging: Judging | None
    progress: RunProgress | None

    @property
    def board(self) -> list[tuple[Entrant, BoardLine]]:
        comparisons = self.results.comparisons
        return [] if comparisons is None else with_entrants(self.results.entrants, comparisons.board)

    @property
    def grades(self) -> list[tuple[Entrant, GradeMean]]:
        """Return means of all criteria together, the best first."""
        return with_entrants(self.results.entrants, sorted(self.results.means, key=_from_best))

    @property
    def criteria(self) -> list[tuple[str, list[tuple[Entrant, GradeMean]]]]:
        """Return means of each criterion, if there are several."""
        if len(self.results.criteria) < 2:
            return []
        return [
            (name, with_entrants(self.results.entrants, sorted(means, key=_from_best)))
            for name, means in self.results.criteria.items()
        ]

    @property
    def left_out(self) -> list[tuple[str, int]]:
        return left_out_rows(self.results.left_out)


@dataclass(frozen=True)
class JudgesOnRun:
    judges: list[JudgeOnRun]
    jury: Jury | None

    @property
    def jury_board(self) -> list[tuple[Entrant, BoardLine]]:
        return [] if self.jury is None else with_entrants(self.judges[0].results.entrants, self.jury.board)

    @property
    def working(self) -> RunProgress | None:
        """Return the progress of one that is at work."""
        return next((one.progress for one in self.judges if one.progress and one.progress.has_work), None)


def left_out_rows(left_out: Mapping[str, int]) -> list[tuple[str, int]]:
    return [(str(LEFT_OUT.get(reason, reason)), n) for reason, n in left_out.items() if n]


def with_entrants(entrants: Sequence[Entrant], lines: Sequence[_Line]) -> list[tuple[Entrant, _Line]]:
    by_position = {entrant.position: entrant for entrant in entrants}
    return [(by_position[line.entrant], line) for line in lines]


def _from_best(line: GradeMean) -> tuple[float, int]:
    return -(line.mean.value or 0.0), line.entrant


def read_styled(subject: Run, judge: Judge) -> list[tuple[Entrant, BoardLine]]:
    """Return the judge's board at equal length and formatting, [] without verdicts. Reads all answers of the run."""
    styled = read_styled_board(subject, judge)
    return [] if styled is None else with_entrants(list(subject.entrants.select_related("model")), styled.board)


def read_judges(subject: Run) -> JudgesOnRun:
    """Return judges, the latest first; a fixed number of queries for each."""
    judges = judges_on(subject)
    latest = {judging.judge_id: judging for judging in subject.judgings.select_related("run").order_by("pk")}
    progress = {judge_id: read_run_progress(judging.run) for judge_id, judging in latest.items()}
    return JudgesOnRun(
        [
            JudgeOnRun(results, latest.get(results.judge.pk), progress.get(results.judge.pk))
            for results in read_results(subject, judges)
        ],
        read_jury(subject, judges),
    )
