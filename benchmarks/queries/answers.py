"""One item with all its facts, and all replies to one case."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

from django.db.models import QuerySet
from django.utils.safestring import SafeString

from battles.models import Call
from benchmarks.models import Case, CaseFile, Entrant, ItemReply, RenderedPrompt, Run, RunItem, Score
from benchmarks.queries.cases import expected_text
from benchmarks.queries.run_progress import failure_message
from common.rendering.blocking import render


class MessageText(TypedDict):
    role: str
    content: str


@dataclass(frozen=True)
class TurnReply:
    """A reply; question: the follow-up before it, "" for the first."""

    question: str
    html: SafeString
    reasoning: str
    finish_reason: str
    call: Call | None
    is_reused: bool
    text: str


@dataclass(frozen=True)
class Attempt:
    call: Call
    turn: int
    sentence: str


@dataclass(frozen=True)
class ItemDetail:
    """repeats: (repeat, item id)."""

    item: RunItem
    entrant: Entrant
    case: Case
    messages: list[MessageText]
    files: list[CaseFile]
    replies: list[TurnReply]
    scores: list[Score]
    attempts: list[Attempt]
    repeats: list[tuple[int, int]]
    previous_id: int | None
    next_id: int | None
    failure: str


def read_item(run: Run, item_id: int) -> ItemDetail | None:
    """Return an item of the run, None if it has no such item."""
    related = ("case", "entrant__model__team", "entrant__prompt")
    item = RunItem.objects.filter(entrant__run=run, pk=item_id).select_related(*related).first()
    if item is None:
        return None
    entrant, case = item.entrant, item.case
    prompt = RenderedPrompt.objects.filter(prompt=entrant.prompt_id, case=case).first()
    calls = item.calls.select_related("call").order_by("pk")
    siblings = RunItem.objects.filter(entrant=entrant)
    same_repeat = siblings.filter(repeat=item.repeat)
    return ItemDetail(
        item=item,
        entrant=entrant,
        case=case,
        messages=_messages(entrant, prompt),
        files=list(case.files.select_related("upload")),
        replies=_turns(item, prompt.turns if prompt else []),
        scores=list(item.scores.order_by("pk")),
        attempts=[
            Attempt(row.call, row.turn, failure_message(row.call.error) if row.call.error else "") for row in calls
        ],
        repeats=list(siblings.filter(case=case).order_by("repeat").values_list("repeat", "pk")),
        previous_id=_first(same_repeat.filter(case__position__lt=case.position).order_by("-case__position")),
        next_id=_first(same_repeat.filter(case__position__gt=case.position).order_by("case__position")),
        failure=failure_message(item.error) if item.error else "",
    )


def _first(items: QuerySet[RunItem]) -> int | None:
    return items.values_list("pk", flat=True).first()


def _messages(entrant: Entrant, prompt: RenderedPrompt | None) -> list[MessageText]:
    own = entrant.model.system_prompt if entrant.model is not None else ""
    system = [MessageText(role="system", content=own)] if own else []
    return [*system, *(prompt.messages if prompt else [])]


def _turns(item: RunItem, follow_ups: Sequence[str]) -> list[TurnReply]:
    stored = ItemReply.objects.filter(item=item).select_related("reply__call").order_by("turn")
    return [
        TurnReply(
            follow_ups[turn - 1] if 0 < turn <= len(follow_ups) else "",
            render(reply.text), reply.reasoning, reply.finish_reason, reply.call, is_reused, reply.text,
        )
        for turn, is_reused, reply in ((row.turn, row.is_reused, row.reply) for row in stored)
    ]  # fmt: skip


def pasted_texts(run: Run, item_id: int) -> dict[str, str] | None:
    """Return an item's question, expected answer and reply, and the reply of another entrant to the same prompt."""
    item = RunItem.objects.filter(entrant__run=run, pk=item_id).select_related("case", "entrant").first()
    if item is None:
        return None
    prompt = RenderedPrompt.objects.filter(prompt=item.entrant.prompt_id, case=item.case_id).first()
    asked = [str(message["content"]) for message in (prompt.messages if prompt else []) if message["role"] == "user"]
    others = RunItem.objects.filter(
        entrant__run=run, entrant__prompt=item.entrant.prompt_id, case=item.case_id, repeat=item.repeat
    )  # fmt: skip
    other = others.exclude(pk=item.pk).exclude(replies=None).order_by("entrant__position").first()
    return {
        "question": "\n\n".join(asked), "reference": expected_text(item.case.expected), "first": _last_text(item),
        "second": "" if other is None else _last_text(other),
    }  # fmt: skip


def _last_text(item: RunItem) -> str:
    last = ItemReply.objects.filter(item=item).order_by("-turn").values_list("reply__text", flat=True).first()
    return last or ""


@dataclass(frozen=True)
class CaseReply:
    """An entrant's item, and the replies of its turns."""

    item: RunItem
    entrant: Entrant
    replies: list[SafeString]
    failure: str


def read_case(run: Run, case_id: int, *, repeat: int) -> tuple[Case, list[CaseReply], int] | None:
    """Return a case, its replies in one repeat, and the number of repeats."""
    case = Case.objects.prefetch_related("files__upload").filter(version=run.version_id, pk=case_id).first()
    if case is None:
        return None
    entrants = {entrant.pk: entrant for entrant in run.entrants.select_related("model", "prompt")}
    unsorted = RunItem.objects.filter(entrant__in=entrants, case=case, repeat=repeat)
    items = sorted(unsorted, key=lambda item: entrants[item.entrant_id].position)
    texts: dict[int, list[str]] = defaultdict(list)
    stored = ItemReply.objects.filter(item__in=items).order_by("turn")
    for item_id, text in stored.values_list("item", "reply__text"):
        texts[item_id].append(text)
    replies = [
        CaseReply(
            item, entrants[item.entrant_id], [render(text) for text in texts[item.pk]],
            failure_message(item.error) if item.error else "",
        )
        for item in items
    ]  # fmt: skip
    return case, replies, run.repeats
