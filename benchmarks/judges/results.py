"""Results of judges on the answers of a run. All judgements of a judge count, whichever judging made them."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Literal

import numpy as np
from django.db.models import Exists, F, OuterRef, Q

from battles.prompting.messages import CHARACTERS_PER_TOKEN
from battles.text.style import style_counts
from benchmarks.judges.listing import judges_of_place
from benchmarks.judging.controls import CardRow, Control, is_right, read_card
from benchmarks.models import Case, Entrant, ItemReply, Judge, Judgement, Judging, Run, RunItem
from benchmarks.preparation.judged_replies import is_of_family
from benchmarks.sql import read_sql
from benchmarks.statistics import judged
from benchmarks.statistics.judged import BoardLine, Comparisons, GradeMean, Outcomes, StyledBoard, Verdicts
from benchmarks.statistics.payload import Interval
from leaderboard.counting.columns import FloatColumns, read_float_columns

# A larger share of answers without a verdict makes a judge's numbers doubtful.
MAX_UNPARSED_SHARE = 0.05
MAX_JURY = 5
_ANSWERED, _WAITING, _UNANSWERED = range(3)
_FORMATTING: tuple[Literal["headings", "bold", "lists"], ...] = ("headings", "bold", "lists")
_COLUMNS = ("case_id", "repeat", "first", "second", "value", "own", "state", "is_stopped")


@dataclass(frozen=True)
class ControlResult:
    """A control pair. outcomes: in each order, seen from the reply as it is; None for an unparsed one."""

    control: Control
    outcomes: list[float | None]
    # Its items, in the order of `outcomes`.
    items: list[int]

    @property
    def is_passed(self) -> bool:
        return all(is_right(self.control, outcome) for outcome in self.outcomes)


@dataclass(frozen=True)
class Card:
    """Control pairs of a number of a judge. failed: pairs with a wrong verdict."""

    rows: list[CardRow] = field(default_factory=list)
    failed: list[ControlResult] = field(default_factory=list)

    @property
    def n(self) -> int:
        return sum(row.n for row in self.rows)

    @property
    def passed(self) -> int:
        return sum(row.passed for row in self.rows)


@dataclass(frozen=True)
class JudgeResults:
    """A judge on the answers of a run.

    asked: questions, of which `waiting` have no answer yet, `failed` ended without one, and `unparsed` have an answer
    without exactly one verdict. comparisons: of a pairwise judge; means, criteria: of one that grades. own_family: see
    statistics.judged. is_stopped: a judging was cancelled or waits half way, so that the judgements are no whole. lost:
    judgements deleted with another run of the same replies.
    """

    judge: Judge
    entrants: list[Entrant]
    asked: int
    waiting: int
    failed: int
    unparsed: int
    comparisons: Comparisons | None
    means: list[GradeMean]
    criteria: dict[str, list[GradeMean]]
    own_family: Interval | None
    card: Card
    left_out: dict[str, int]
    is_stopped: bool
    lost: int

    @property
    def judged(self) -> int:
        return self.asked - self.waiting - self.failed - self.unparsed

    @property
    def unparsed_share(self) -> float:
        answered = self.judged + self.unparsed
        return self.unparsed / answered if answered else 0.0

    @property
    def is_doubtful(self) -> bool:
        return self.unparsed_share > MAX_UNPARSED_SHARE


@dataclass(frozen=True)
class Jury:
    """Judges together: a board of all verdicts, and Krippendorff's α of their outcomes, ordinal."""

    judges: list[Judge]
    board: list[BoardLine]
    alpha: Interval | None


@dataclass(frozen=True)
class JudgeVerdicts:
    """is_partial: these are no random part, because the judge is at work, stopped half way, lost verdicts, or was
    asked about another run with some of the answers alone.
    """

    judge: Judge
    verdicts: Verdicts
    is_partial: bool


@dataclass(frozen=True)
class _Read:
    verdicts: Verdicts
    asked: int
    waiting: int
    failed: int
    stopped: int
    unparsed: int


def read_styled_board(run: Run, judge: Judge) -> StyledBoard | None:
    """Return a pairwise judge's board at equal length and formatting; reads all answers of the run."""
    verdicts = _read(run, judge, clusters_of(run)).verdicts
    if judge.kind != Judge.Kind.PAIRWISE or not len(verdicts.value):
        return None
    answered = ItemReply.objects.filter(item__run=run, turn=F("item__turn"))
    counts: dict[tuple[int, int], list[int]] = {}
    rows = answered.values_list(
        "item__case", "item__repeat", "item__entrant__position", "reply__text", "reply__call__completion_tokens"
    )
    for case, repeat, entrant, text, tokens in rows.iterator(chunk_size=1_000):
        counted = style_counts(text, tokens or round(len(text) / CHARACTERS_PER_TOKEN))
        counts[case * run.repeats + repeat, entrant] = [counted["tokens"], *(counted[name] for name in _FORMATTING)]
    styles = np.array(
        [
            [counts[unit, entrant] for unit, entrant in zip(verdicts.unit.tolist(), side.tolist(), strict=True)]
            for side in (verdicts.first, verdicts.second)
        ]
    )
    return judged.styled_board(verdicts, run.entrants.count(), styles)


def judges_of(run: Run) -> list[Judge]:
    """Return judges that were asked about the run, or about another one with its replies, the latest first."""
    asked = Exists(Judging.objects.filter(subject=run, judge=OuterRef("pk"), is_card=False))
    replies = Judgement.objects.filter(judge=OuterRef("pk"), control="", first_reply__items__item__run=run)
    judges = judges_of_place(run).filter(asked | Q(Exists(replies)))
    return list(judges.select_related("model__team", "team").order_by("-pk"))


def read_results(run: Run, judges: Sequence[Judge]) -> list[JudgeResults]:
    """Return results in the order of `judges`."""
    entrants = list(run.entrants.select_related("model__team", "prompt").order_by("position"))
    clusters = clusters_of(run)
    read = {judge.pk: _read(run, judge, clusters) for judge in judges}
    pairwise = [judge for judge in judges if judge.kind == Judge.Kind.PAIRWISE]
    outcomes = {judge: judged.outcomes_of(read[judge.pk].verdicts, len(entrants)) for judge in pairwise}
    return [
        _results(run, judge, entrants, read[judge.pk], clusters, outcomes)
        for judge in judges
    ]  # fmt: skip


def read_jury(run: Run, judges: Sequence[Judge]) -> Jury | None:
    """Return the jury of up to MAX_JURY pairwise judges with verdicts, each once; None of fewer than two."""
    clusters, entrants = clusters_of(run), run.entrants.count()
    pairwise = [judge for judge in judges if judge.kind == Judge.Kind.PAIRWISE]
    if len(pairwise) < 2:
        return None
    read = {judge: _read(run, judge, clusters).verdicts for judge in pairwise}
    members = newest_numbers([judge for judge in pairwise if len(read[judge].value)])[:MAX_JURY]
    if len(members) < 2:
        return None
    verdicts = [read[judge] for judge in members]
    alpha = judged.alpha_of([judged.outcomes_of(each, entrants) for each in verdicts])
    return Jury(members, judged.board_of(Verdicts.joined(verdicts), entrants), alpha)


def newest_numbers(judges: Sequence[Judge]) -> list[Judge]:
    newest = {judge.series: judge for judge in sorted(judges, key=lambda judge: judge.number)}
    return [judge for judge in judges if newest[judge.series] == judge]


def read_verdicts(run: Run, judges: Sequence[Judge]) -> list[JudgeVerdicts]:
    """Return parsed verdicts in the order of `judges`."""
    clusters = clusters_of(run)
    read = [(judge, _read(run, judge, clusters)) for judge in judges]
    judgings = Judging.objects.filter(subject=run, judge__in=judges, is_card=False).select_related("run").order_by("pk")
    by_judge = defaultdict[int, list[Judging]](list)
    for judging in judgings:
        by_judge[judging.judge_id].append(judging)
    return [JudgeVerdicts(judge, each.verdicts, _is_partial(each, by_judge[judge.pk])) for judge, each in read]


def _is_partial(read: _Read, judgings: Sequence[Judging]) -> bool:
    return read.waiting > 0 or read.stopped > 0 or not judgings or _lost(judgings) > 0


def _lost(judgings: Sequence[Judging]) -> int:
    """Return the number of deleted judgements not asked for again. judgings: of a judge, in order, with their runs."""
    lost = Counter[str]()
    for judging in judgings:
        if judging.run.state == Run.State.DONE:
            asked_again = Judging.Plan.values if judging.plan == Judging.Plan.ALL else [judging.plan]
            for plan in asked_again:
                del lost[plan]
        lost[judging.plan] += judging.left_out.get(Judging.DELETED, 0)
    return max(lost.values(), default=0)  # each deletion is noted with all judgings of the judge on the run


def _left_out(judgings: Sequence[Judging]) -> dict[str, int]:
    reasons = [{reason: n for reason, n in each.left_out.items() if reason != Judging.DELETED} for each in judgings]
    return max(reasons, key=lambda left: sum(left.values()), default={})


def _results(
    run: Run,
    judge: Judge,
    entrants: list[Entrant],
    read: _Read,
    clusters: dict[int, int],
    outcomes: dict[Judge, Outcomes],
) -> JudgeResults:
    is_pairwise = judge.kind == Judge.Kind.PAIRWISE
    of_run = Judging.objects.filter(subject=run, judge=judge, is_card=False)
    judgings = list(of_run.select_related("run").order_by("pk"))
    return JudgeResults(
        judge=judge, entrants=entrants, asked=read.asked, waiting=read.waiting, failed=read.failed,
        unparsed=read.unparsed,
        comparisons=judged.compare(read.verdicts, len(entrants)) if is_pairwise else None,
        means=[] if is_pairwise else judged.grade_means(read.verdicts),
        criteria={} if is_pairwise else _criteria(run, judge, clusters),
        own_family=_own_family(judge, outcomes) if is_pairwise else None,
        card=read_judge_card(judge),
        left_out=_left_out(judgings),
        is_stopped=read.stopped > 0,
        lost=_lost(judgings),
    )  # fmt: skip


def _own_family(judge: Judge, outcomes: dict[Judge, Outcomes]) -> Interval | None:
    others = newest_numbers([other for other in outcomes if other.series != judge.series and len(outcomes[other].key)])
    strangers = [outcomes[other] for other in others if not is_of_family(judge.model, other.model)]
    return judged.own_family_contrast(outcomes[judge], strangers)


def clusters_of(run: Run) -> dict[int, int]:
    """Return a number of each case's cluster."""
    numbers: dict[str, int] = defaultdict(count().__next__)
    cases = Case.objects.filter(version=run.version_id).values_list("pk", "cluster", "key")
    return {pk: numbers[f"cluster {cluster}" if cluster else f"case {key}"] for pk, cluster, key in cases}


def _read(run: Run, judge: Judge, clusters: dict[int, int]) -> _Read:
    parameters = {"run": run.pk, "judge": judge.pk}
    columns = dict(read_float_columns(read_sql("judged.sql"), parameters, _COLUMNS)).get((), _none(_COLUMNS))
    answered, waiting = columns["state"] == _ANSWERED, columns["state"] == _WAITING
    unanswered = columns["state"] == _UNANSWERED
    parsed = answered & ~np.isnan(columns["value"])
    return _Read(
        _verdicts({name: column[parsed] for name, column in columns.items()}, run, clusters),
        len(answered), int(waiting.sum()), int(unanswered.sum()), int(columns["is_stopped"].sum()),
        int((answered & ~parsed).sum()),
    )  # fmt: skip


def _none(names: Sequence[str]) -> FloatColumns:
    return {name: np.zeros(0) for name in names}


def _verdicts(columns: FloatColumns, run: Run, clusters: dict[int, int]) -> Verdicts:
    cases = columns["case_id"].astype(np.int64)
    second = np.where(np.isnan(columns["second"]), -1, columns["second"]).astype(np.int64)
    return Verdicts(
        unit=cases * run.repeats + columns["repeat"].astype(np.int64),
        cluster=np.array([clusters[case] for case in cases.tolist()], dtype=np.int64),
        first=columns["first"].astype(np.int64),
        second=second,
        value=columns["value"],
        own=columns["own"].astype(np.int64),
    )


def _criteria(run: Run, judge: Judge, clusters: dict[int, int]) -> dict[str, list[GradeMean]]:
    names = ("case_id", "repeat", "first", "second", "value", "own")
    read = read_float_columns(
        read_sql("judged_criteria.sql"), {"run": run.pk, "judge": judge.pk}, names, by=("criterion",)
    )
    means = {key[0]: judged.grade_means(_verdicts(columns, run, clusters)) for key, columns in read}
    return {item["name"]: means[item["name"]] for item in judge.rubric["criteria"] if item["name"] in means}


def read_judge_card(judge: Judge) -> Card:
    """Return the control pairs whose questions all have answers."""
    return read_cards([judge])[judge.pk]


def read_cards(judges: Sequence[Judge]) -> dict[int, Card]:
    """Return cards by judge id; one query."""
    answered = Judgement.objects.filter(judge__in=judges, item__state=RunItem.State.SCORED).exclude(control="")
    pairs: dict[tuple[int, int, str, int], dict[bool, tuple[int, float | None]]] = defaultdict(dict)
    for judge_id, judging, control, reply, is_swapped, item, score in answered.order_by("judging", "pk").values_list(
        "judge", "judging", "control", "first_reply", "is_swapped", "item", "item__score"
    ):
        pairs[judge_id, judging, control, reply][is_swapped] = item, score
    by_id, results = {judge.pk: judge for judge in judges}, defaultdict[int, list[ControlResult]](list)
    for (judge_id, _judging, control, _reply), asked in pairs.items():
        if len(asked) == 2:
            (first, plain), (second, swapped) = asked[False], asked[True]
            outcomes = _outcomes(by_id[judge_id], plain, swapped)
            results[judge_id].append(ControlResult(Control(control), outcomes, [first, second]))
    return {judge.pk: _card(results[judge.pk]) for judge in judges}


def _card(results: Sequence[ControlResult]) -> Card:
    rows = read_card((result.control, result.outcomes) for result in results)
    return Card([row for row in rows if row.n], [result for result in results if not result.is_passed])


def _outcomes(judge: Judge, first: float | None, second: float | None) -> list[float | None]:
    if judge.kind == Judge.Kind.PAIRWISE:
        return [first, None if second is None else 1 - second]
    if first is None or second is None:
        return [None]
    return [1.0 if first > second else 0.5 if first == second else 0.0]
