"""Judgements as a list: both answers side by side, with each verdict and its reasons."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import TypedDict, cast

from django.db.models import Case as When
from django.db.models import Count, F, FloatField, Max, Min, Q, QuerySet
from django.db.models import When as If
from django.db.models.functions import Greatest, Least
from django.utils.safestring import SafeString

from benchmarks.judges.listing import judgements_of, shows_later_first
from benchmarks.models import Case, Entrant, ItemReply, Judge, Judgement, RenderedPrompt, Reply, Run, RunItem, Score
from common.rendering.blocking import render

PER_PAGE = 10
FILTERS = ("", "flips", "unparsed", "controls")
_MIRRORED = {"A>>B": "B>>A", "A>B": "B>A", "B>A": "A>B", "B>>A": "A>>B"}


@dataclass(frozen=True)
class ShownVerdict:
    """label: seen from the answer on the left; "" for an unparsed one. is_swapped: the right one was shown first."""

    label: str
    is_swapped: bool
    is_unparsed: bool
    reason: str
    scores: list[tuple[str, str]]


@dataclass(frozen=True)
class JudgedAnswer:
    entrant: Entrant | None
    html: SafeString


@dataclass
class JudgedPair:
    """One answer, of a judge that grades. control: its kind, of a pair whose right verdict is known."""

    control: str
    case_key: str
    question: str = ""
    answers: list[JudgedAnswer] = field(default_factory=list)
    verdicts: list[ShownVerdict] = field(default_factory=list)

    @property
    def is_flipped(self) -> bool:
        winners = {verdict.label.replace(">>", ">") for verdict in self.verdicts if verdict.label}
        return len(winners) > 1


class PairKey(TypedDict):
    """low, high: ids of the replies, the same of a single one."""

    control: str
    low: int
    high: int


_Key = tuple[str, int, int]


def _judgements(judge: Judge, subject: Run, *, controls: bool) -> QuerySet[Judgement]:
    """Return judgements that have an answer. controls: of control pairs instead."""
    return judgements_of(subject, judge, controls=controls).filter(item__state=RunItem.State.SCORED)


def judged_keys(judge: Judge, subject: Run, only: str) -> "QuerySet[Judgement, PairKey]":
    """Return pairs, or single replies, the earliest first. only: of FILTERS."""
    asked = _judgements(judge, subject, controls=only == "controls")
    seen_from_low = When(
        If(first_reply=F("low"), then=F("item__score")), default=1 - F("item__score"), output_field=FloatField()
    )
    keys = (
        asked.annotate(low=Least("first_reply", "second_reply"), high=Greatest("first_reply", "second_reply"))
        .annotate(outcome=seen_from_low)
        .order_by()
        .values("control", "low", "high")
        .annotate(
            at=Min("pk"), least=Min("outcome"), greatest=Max("outcome"), unparsed=Count("pk", filter=Q(outcome=None))
        )
    )
    if only == "flips":
        keys = keys.filter(least__lt=F("greatest"))
    elif only == "unparsed":
        keys = keys.filter(unparsed__gt=0)
    return cast("QuerySet[Judgement, PairKey]", keys.order_by("at"))


def read_pairs(judge: Judge, subject: Run, keys: Sequence[PairKey]) -> list[JudgedPair]:
    """Return what was judged by keys of judged_keys; a fixed number of queries."""
    replies = {reply for key in keys for reply in (key["low"], key["high"])}
    has_controls = any(key["control"] for key in keys)
    asked = _judgements(judge, subject, controls=has_controls).filter(first_reply__in=replies)
    asked = asked.select_related("judge", "item__case").order_by("is_swapped", "pk")
    by_key: dict[_Key, list[Judgement]] = defaultdict(list)
    for judgement in asked:
        by_key[_key_of(judgement)].append(judgement)
    wanted = [by_key[key["control"], key["low"], key["high"]] for key in keys]
    texts = _Texts(subject, replies, [judgement for judgements in wanted for judgement in judgements])
    return [_pair(judgements, texts) for judgements in wanted if judgements]


def _key_of(judgement: Judgement) -> _Key:
    first, second = judgement.first_reply_id, judgement.second_reply_id or judgement.first_reply_id
    return judgement.control, min(first, second), max(first, second)


class _Texts:
    def __init__(self, subject: Run, replies: Collection[int], judgements: Sequence[Judgement]) -> None:
        self.replies = dict(Reply.objects.filter(pk__in=replies).values_list("pk", "text"))
        given = ItemReply.objects.filter(reply__in=replies, item__run=subject).order_by("-item")  # the first item stays
        items = given.select_related("item__entrant__model", "item__entrant__prompt", "item__case")
        self._items = {row.reply_id: row.item for row in items}
        cases = {item.case_id for item in self._items.values()}
        rendered = RenderedPrompt.objects.filter(case__in=cases, prompt__in=subject.entrants.values("prompt"))
        self._questions = {
            (prompt, case): "\n\n".join(str(message["content"]) for message in messages if message["role"] != "system")
            for prompt, case, messages in rendered.values_list("prompt", "case", "messages")
        }
        self.scores: dict[int, list[Score]] = defaultdict(list)
        for score in Score.objects.filter(item__in=[judgement.item_id for judgement in judgements]).order_by("pk"):
            self.scores[score.item_id].append(score)

    def case_of(self, reply_id: int) -> Case:
        return self._items[reply_id].case

    def question(self, reply_id: int) -> str:
        item = self._items[reply_id]
        return self._questions.get((item.entrant.prompt_id or 0, item.case_id), "")

    def is_swapped(self, judgement: Judgement) -> bool:
        if judgement.control or judgement.second_reply_id is None:
            return judgement.is_swapped
        first, second = judgement.first_reply_id, judgement.second_reply_id
        return shows_later_first(self._items[first].entrant, self._items[second].entrant)

    def answer(self, reply_id: int) -> JudgedAnswer:
        return JudgedAnswer(self._items[reply_id].entrant, render(self.replies[reply_id]))


def _pair(judgements: Sequence[Judgement], texts: _Texts) -> JudgedPair:
    judgements = sorted(judgements, key=texts.is_swapped)
    one = judgements[0]
    pair = JudgedPair(one.control, texts.case_of(one.first_reply_id).key, texts.question(one.first_reply_id))
    if one.control:
        shown = [str(one.item.case.variables.get(name, "")) for name in ("first", "second")]
        left, right = reversed(shown) if one.is_swapped else shown
        pair.answers = [JudgedAnswer(None, render(text)) for text in (left, right)]
    else:
        ids = [one.first_reply_id] if one.second_reply_id is None else [one.first_reply_id, one.second_reply_id]
        pair.answers = [texts.answer(pk) for pk in (reversed(ids) if texts.is_swapped(one) else ids)]
    pair.verdicts = [_verdict(judgement, texts) for judgement in judgements]
    return pair


def _verdict(judgement: Judgement, texts: _Texts) -> ShownVerdict:
    scores, is_swapped = texts.scores[judgement.item_id], texts.is_swapped(judgement)
    reason = next((str(score.detail.get("text", "")) for score in scores if score.detail), "")
    is_unparsed = not scores or any(score.error for score in scores)
    grades = [(score.check_key, score.label) for score in scores] if judgement.judge.kind == Judge.Kind.SCORES else []
    label = "" if grades or is_unparsed else scores[0].label
    mirrored = _MIRRORED.get(label, label) if is_swapped else label
    return ShownVerdict(mirrored, is_swapped, is_unparsed, reason, [] if is_unparsed else grades)
