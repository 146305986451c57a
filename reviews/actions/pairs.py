"""Pairs of a run's answers that people can compare, single ones that they can grade, and why others are left out."""

import random
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from django.db.models import QuerySet

from battles.text.self_identification import leaks_identity
from benchmarks.judges.results import clusters_of
from benchmarks.models import Entrant, ItemReply, Run, RunItem
from reviews.drawing import pairs_of
from reviews.models import GradedAnswer, Review, ReviewItem

ANSWERED = (RunItem.State.ANSWERED, RunItem.State.SCORED)
# Finish reasons; some providers give none.
_WHOLE = ("stop", "")


@dataclass
class Pairs:
    """items: not stored yet. left_out: numbers of pairs by reason."""

    items: list[ReviewItem] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=lambda: dict.fromkeys(Review.LEFT_OUT, 0))


@dataclass
class Answers:
    """items: not stored yet. left_out: numbers of answers by reason."""

    items: list[GradedAnswer] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class _Answer:
    """reason: a key of Review.LEFT_OUT, "" for an answer that can be compared."""

    item: int
    entrant: Entrant
    reason: str


def read_pairs(review: Review) -> Pairs:
    """Return the pairs of whole answers of the same case, repeat and prompt that the review's plan takes."""
    run, pairs = review.run, Pairs()
    if run is None:
        return pairs
    entrants = {entrant.pk: entrant for entrant in run.entrants.select_related("model", "prompt")}
    items = _items_of_cases(review, run)
    replies = _replies(entrants.values(), items)
    groups: dict[tuple[int, int, int], list[_Answer]] = defaultdict(list)
    tags = {}
    for pk, entrant_id, case, repeat, state, of_case in items.order_by("case", "repeat", "pk").values_list(
        "pk", "entrant", "case", "repeat", "state", "case__tags"
    ):
        entrant = entrants[entrant_id]
        reason = _reason(entrant, state, replies.get(pk, []), run.version.parameters)
        groups[entrant.prompt_id, case, repeat].append(_Answer(pk, entrant, reason))
        tags[case] = of_case[0] if of_case else ""
    cells: dict[tuple[int, int, str], int] = {}
    for (prompt, case, repeat), answers in groups.items():
        _count_left_out(pairs.left_out, answers)
        by_item = {answer.item: answer.entrant for answer in answers if not answer.reason}
        plan = pairs_of(list(by_item), review.plan, seed=f"{review.seed} {prompt} {case} {repeat}")  # type: ignore[arg-type]
        for first, second in plan:
            models = (by_item[first].model_id or 0, by_item[second].model_id or 0)
            key = (min(models), max(models), tags[case])
            pairs.items.append(
                ReviewItem(
                    review=review, case_id=case, repeat=repeat, first_item_id=first, second_item_id=second,
                    first_model_id=models[0], second_model_id=models[1], cell=cells.setdefault(key, len(cells)),
                )
            )  # fmt: skip
    return pairs


def read_answers(review: Review) -> Answers:
    """Return the whole answers to a review's cases that do not name their model."""
    run, answers = review.run, Answers()
    if run is None:
        return answers
    entrants = {entrant.pk: entrant for entrant in run.entrants.select_related("model", "prompt")}
    items = _items_of_cases(review, run)
    replies, clusters = _replies(entrants.values(), items), clusters_of(run)
    for pk, entrant_id, case, state in items.order_by("pk").values_list("pk", "entrant", "case", "state"):
        entrant = entrants[entrant_id]
        reason = _reason_of_replies(entrant, state, replies.get(pk, []))
        if reason:
            answers.left_out[reason] += 1
            continue
        answers.items.append(
            GradedAnswer(
                review=review, item_id=pk, entrant=entrant.position, name=str(entrant)[:120], cluster=clusters[case]
            )
        )
    return answers


def cases_of(run: Run) -> list[int]:
    return sorted(RunItem.objects.filter(run=run).order_by().values_list("case_id", flat=True).distinct())


def _items_of_cases(review: Review, run: Run) -> QuerySet[RunItem]:
    items = RunItem.objects.filter(run=run)
    if review.cases is None:
        return items
    source = random.Random(f"{review.seed} cases")  # noqa: S311 (a sample is no secret)
    return items.filter(case__in=source.sample(cases_of(run), review.cases))


def _replies(entrants: Iterable[Entrant], items: QuerySet[RunItem]) -> dict[int, list[str]]:
    """Return a reason or "" for each turn, by item."""
    reasons: dict[int, list[str]] = defaultdict(list)
    for entrant in entrants:
        replies = ItemReply.objects.filter(item__entrant=entrant, item__in=items).order_by("item", "turn")
        stored = replies.values_list("item", "reply__finish_reason", "reply__text")
        for item, finish_reason, text in stored.iterator(chunk_size=500):
            leaks = _names_itself(text, entrant)
            reasons[item].append("cut" if finish_reason not in _WHOLE else "names_itself" if leaks else "")
    return reasons


def _names_itself(text: str, entrant: Entrant) -> bool:
    model = entrant.model
    if model is None:
        return leaks_identity(text, names=[entrant.imported], organization="")
    names = [model.name, *model.aliases]
    if not model.upstream_name.isalpha():  # a plain word would match ordinary text
        names.append(model.upstream_name)
    return leaks_identity(text, names=names, organization=model.organization)


def _reason(entrant: Entrant, state: str, replies: list[str], parameters: object) -> str:
    if entrant.model is None:
        return "imported"
    if entrant.parameters != parameters:
        return "parameters"
    return _reason_of_replies(entrant, state, replies)


def _reason_of_replies(entrant: Entrant, state: str, replies: list[str]) -> str:
    """Return a key of Review.LEFT_OUT, "" for a whole answer."""
    if state not in ANSWERED or len(replies) != 1 + len(entrant.prompt.turns):
        return "failed"
    return next((reason for reason in Review.LEFT_OUT if reason in replies), "")


def _count_left_out(left_out: dict[str, int], answers: list[_Answer]) -> None:
    """Add the pairs that each reason takes away from those that are left."""
    left = len(answers)
    for reason in Review.LEFT_OUT:
        after = left - sum(answer.reason == reason for answer in answers)
        left_out[reason] += (left * (left - 1) - after * (after - 1)) // 2
        left = after
