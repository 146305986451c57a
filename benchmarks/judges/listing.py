"""Judgements of a run as rows of pages, the API and files."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Exists, OuterRef, Q, QuerySet

from benchmarks.models import Entrant, ItemReply, Judge, Judgement, Reply, Run, RunItem, Score

BATCH = 500


@dataclass(frozen=True)
class JudgementRow:
    """A question to a judge and its verdict. first, second: entrants as shown; outcome: seen from the first.

    criteria: values of the criteria of a judge that grades. cost: US dollars, null before an answer.
    """

    judgement: Judgement
    case_key: str
    repeat: int
    first: Entrant
    second: Entrant | None
    first_text: str
    second_text: str
    state: str
    error: str
    outcome: float | None
    label: str
    reason: str
    criteria: dict[str, float]
    prompt_tokens: int
    completion_tokens: int
    cost: Decimal | None

    @property
    def is_swapped(self) -> bool:
        return self.judgement.is_swapped if self.second is None else shows_later_first(self.first, self.second)


def shows_later_first(first: Entrant, second: Entrant) -> bool:
    """Return whether a pair is swapped in its run; judgements store the order in the run that was judged first."""
    return first.position > second.position


def judgements_of(run: Run, judge: Judge | None = None, *, controls: bool = False) -> QuerySet[Judgement]:
    """Return judgements of the run's replies, also those that another run with the same replies has; or controls."""
    judgements = Judgement.objects.order_by("pk")
    if judge is not None:
        judgements = judgements.filter(judge=judge)
    if controls:
        return judgements.filter(judging__subject=run).exclude(control="")
    first, second = (
        Exists(ItemReply.objects.filter(item__run=run, reply=OuterRef(name)))
        for name in ("first_reply", "second_reply")
    )
    is_single = Q(second_reply=None)
    return judgements.filter(Q(first), is_single | Q(second), control="", judge__in=judges_of_place(run))


def judges_of_place(run: Run) -> QuerySet[Judge]:
    if run.team_id is not None:
        return Judge.objects.filter(team=run.team_id)
    return Judge.objects.filter(team=None, owner_user=run.owner_id)


def read_rows(run: Run, judgements: Sequence[Judgement]) -> list[JudgementRow]:
    """judgements: with item and both replies."""
    replies = {pk for each in judgements for pk in (each.first_reply_id, each.second_reply_id) if pk is not None}
    items = _items_of(run, replies)
    scores = defaultdict(list)
    for score in Score.objects.filter(item__in=[each.item_id for each in judgements]).order_by("pk"):
        scores[score.item_id].append(score)
    answers = defaultdict(list)
    asked = ItemReply.objects.filter(item__in=[each.item_id for each in judgements]).select_related("reply__call")
    for answer in asked.order_by("turn"):
        answers[answer.item_id].append(answer.reply)
    return [
        _row(each, items, scores[each.item_id], answers[each.item_id])
        for each in judgements
        if each.first_reply_id in items
    ]


def iter_rows(run: Run, judgements: QuerySet[Judgement]) -> Iterator[list[JudgementRow]]:
    """Yield batches; holds no connection between them."""
    last = 0
    while True:
        related = judgements.select_related("item", "judge__model", "first_reply", "second_reply")
        batch = list(related.filter(pk__gt=last)[:BATCH])
        if not batch:
            return
        yield read_rows(run, batch)
        last = batch[-1].pk


def _items_of(run: Run, replies: set[int]) -> dict[int, RunItem]:
    """Return the item by id of its reply. Of several items with one reply, the first."""
    given = ItemReply.objects.filter(item__run=run, reply__in=replies).order_by("-item")
    related = given.select_related("item__case", "item__entrant__model__team", "item__entrant__prompt")
    return {each.reply_id: each.item for each in related}


def _row(judgement: Judgement, items: dict[int, RunItem], scores: list[Score], answers: list[Reply]) -> JudgementRow:
    item, second = judgement.item, judgement.second_reply
    subject = items[judgement.first_reply_id]
    calls = [answer.call for answer in answers if answer.call is not None]
    main = scores[0] if scores else None
    return JudgementRow(
        judgement=judgement, case_key=subject.case.key, repeat=subject.repeat, first=subject.entrant,
        second=None if second is None or second.pk not in items else items[second.pk].entrant,
        first_text=judgement.first_reply.text, second_text="" if second is None else second.text,
        state=item.state, error=item.error or (main.error if main is not None else ""), outcome=item.score,
        label=main.label if main is not None and not main.metric else "",
        reason=str(main.detail.get("text", "")) if main is not None else "",
        criteria={score.metric: score.value for score in scores if score.metric and score.value is not None},
        prompt_tokens=sum(call.prompt_tokens or 0 for call in calls),
        completion_tokens=sum(call.completion_tokens or 0 for call in calls),
        cost=sum((call.cost or Decimal(0) for call in calls), Decimal(0)) if calls else None,
    )  # fmt: skip
