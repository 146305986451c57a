"""Pairs on which a judge and people differ, with both answers and the judge's reasons."""

from collections.abc import Sequence
from dataclasses import dataclass

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
    """Return the pairs, the entrant that comes first in the run as answer 1; a fixed number of queries."""
    parts = [answers.parts(row.key) for row in rows]
    given = ItemReply.objects.filter(item__run=answers.run, item__case__in=[case for case, *_rest in parts])
    places = given.order_by("turn").values_list("item__case", "item__repeat", "item__entrant__position", "reply")
    replies = {(case, repeat, entrant): reply for case, repeat, entrant, reply in places}  # the last turn's stay
    keys = []
    for case, repeat, first, second in parts:
        pair = replies[case, repeat, first], replies[case, repeat, second]
        keys.append(PairKey(control="", low=min(pair), high=max(pair)))
    return list(zip(rows, read_pairs(judge, answers.run, keys), strict=True))
