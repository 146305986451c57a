"""Pairs on which a judge and people differ, with both answers and the judge's reasons."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from benchmarks.judges.judgements import JudgedPair, PairKey, read_pairs
from benchmarks.models import ItemReply, Judge
from reviews.agreement.gathering import Answers, gather, judges_on
from reviews.models import Review
from reviews.statistics.comparisons import Disagreement, disagreements

PER_PAGE = 10


@dataclass(frozen=True)
class Found:
    """Disagreements of a judge with people in a review."""

    answers: Answers
    rows: list[Disagreement]


def find_disagreements(
    review: Review, judge: Judge, *, category: int | None = None, opinion: int | None = None
) -> Found | None:
    """Return None if the run was deleted. See comparisons.disagreements."""
    if review.run is None:
        return None
    gathered = gather(review.run, [review])
    [on_run] = judges_on(gathered, [judge])
    rows = disagreements(on_run.preferences, gathered.people, category=category, opinion=opinion)
    return Found(gathered.answers, rows)


def read_disagreements(
    answers: Answers, judge: Judge, rows: Sequence[Disagreement]
) -> list[tuple[Disagreement, JudgedPair]]:
    """Return the pairs, the entrant that comes first in the run as answer 1; a fixed number of queries.

    Verdicts are those on a pair; of a judge that grades, one on each answer.
    """
    parts = [answers.parts(row.key) for row in rows]
    given = ItemReply.objects.filter(item__run=answers.run, item__case__in=[case for case, *_rest in parts])
    places = given.order_by("turn").values_list("item__case", "item__repeat", "item__entrant__position", "reply")
    replies = {(case, repeat, entrant): reply for case, repeat, entrant, reply in places}  # the last turn's stay
    shown = [(replies[case, repeat, first], replies[case, repeat, second]) for case, repeat, first, second in parts]
    if judge.kind == Judge.Kind.PAIRWISE:
        return list(zip(rows, _read_pairs(answers, judge, shown), strict=True))
    graded = _read_pairs(answers, judge, [(reply, reply) for pair in shown for reply in pair])
    both = zip(graded[::2], graded[1::2], strict=True)
    return [(row, _together(*pair)) for row, pair in zip(rows, both, strict=True)]


def _read_pairs(answers: Answers, judge: Judge, pairs: Sequence[tuple[int, int]]) -> list[JudgedPair]:
    keys = [PairKey(control="", low=min(pair), high=max(pair)) for pair in pairs]
    return read_pairs(judge, answers.run, keys)


def _together(one: JudgedPair, other: JudgedPair) -> JudgedPair:
    """Return two graded answers to a case side by side."""
    return replace(one, answers=[*one.answers, *other.answers], verdicts=[*one.verdicts, *other.verdicts])
