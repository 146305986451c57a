"""Questions to a judge about replies of a run, in the order shown."""

import random
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from django.db.models import F, Q
from django.db.models.functions import Length

from benchmarks.judging.designs import Plan, pairs_of
from benchmarks.judging.verdicts import NOT_WHOLE
from benchmarks.models import Entrant, ItemReply, Judge, Judgement, Judging, Run, RunItem
from models_registry.models import LanguageModel

_UNANSWERED = Q(
    item__state__in=[RunItem.State.FAILED, RunItem.State.SKIPPED, RunItem.State.LEFT_OUT],
    judging__run__state__in=Run.ENDED,
)


class JudgedReply(NamedTuple):
    """The last reply of an item. position: the entrant's, among those of its prompt."""

    reply_id: int
    entrant: Entrant
    position: int
    characters: int


class Question(NamedTuple):
    """Replies in the order shown; the second is None for a single one."""

    case_id: int
    repeat: int
    first: JudgedReply
    second: JudgedReply | None
    is_swapped: bool = False
    own_family: str = ""

    @property
    def replies(self) -> tuple[JudgedReply, ...]:
        return (self.first,) if self.second is None else (self.first, self.second)

    @property
    def key(self) -> tuple[int, int | None]:
        return self.first.reply_id, None if self.second is None else self.second.reply_id


@dataclass
class JudgedCase:
    """Questions on one case and repeat, and replies that are not judged, by reason."""

    case_id: int
    repeat: int
    questions: list[Question] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=lambda: defaultdict(int))


def judged_cases(judging: Judging) -> list[JudgedCase]:
    """Return what a judging asks, in an order that the judged run's seed decides. Nothing is left out yet for texts.

    The same for each judging of the run with this plan.
    """
    run, judge = judging.subject, judging.judge
    groups = _groups(run)
    replies = _whole_replies(run)
    places = [(case, repeat) for case in _cases(run) for repeat in range(run.repeats)]
    random.Random(run.order_seed).shuffle(places)  # noqa: S311 (repeatable on purpose)
    return [
        _judged_case(judging, judge, case, repeat, groups, replies.get((case, repeat), {})) for case, repeat in places
    ]


def missing_questions(judge: Judge, cases: Sequence[JudgedCase]) -> Iterator[Question]:
    """Yield the questions that this judge was not asked yet, or that ended without an answer."""
    wanted = [question for case in cases for question in case.questions]
    known = known_questions(judge, {question.first.reply_id for question in wanted})
    return (question for question in wanted if question.key not in known)


def known_questions(judge: Judge, replies: Collection[int]) -> set[tuple[int, int | None]]:
    asked = Judgement.objects.filter(judge=judge, control="", first_reply__in=replies)
    return set(asked.exclude(_UNANSWERED).values_list("first_reply", "second_reply"))


def forget_unanswered(judge: Judge, questions: Collection[Question]) -> None:
    """Delete judgements without an answer, of questions that are stored anew in the same transaction."""
    # Others stay: they show that the judge stopped half way.
    keys = {question.key for question in questions}
    replies = {first for first, _second in keys}
    ended = Judgement.objects.filter(_UNANSWERED, judge=judge, control="", first_reply__in=replies)
    known = ended.values_list("pk", "first_reply", "second_reply")
    Judgement.objects.filter(pk__in=[pk for pk, first, second in known if (first, second) in keys]).delete()


def _cases(run: Run) -> list[int]:
    return list(run.version.cases.order_by("position").values_list("pk", flat=True))


def _groups(run: Run) -> list[list[Entrant]]:
    """Return the run's entrants by prompt: only answers to the same prompt are compared."""
    groups: dict[int, list[Entrant]] = defaultdict(list)
    for entrant in run.entrants.select_related("model").order_by("position"):
        groups[entrant.prompt_id].append(entrant)
    return list(groups.values())


def _whole_replies(run: Run) -> dict[tuple[int, int], dict[int, tuple[int, int]]]:
    """Return (reply id, characters) by entrant id, by case and repeat."""
    answered = [RunItem.State.ANSWERED, RunItem.State.SCORED]
    stored = ItemReply.objects.filter(item__run=run, item__state__in=answered, turn=F("item__turn"))
    whole = stored.exclude(reply__finish_reason__in=NOT_WHOLE).annotate(characters=Length("reply__text"))
    replies: dict[tuple[int, int], dict[int, tuple[int, int]]] = defaultdict(dict)
    for case, repeat, entrant, reply, characters in whole.values_list(
        "item__case", "item__repeat", "item__entrant", "reply", "characters"
    ):
        replies[case, repeat][entrant] = reply, characters
    return replies


def _judged_case(
    judging: Judging,
    judge: Judge,
    case_id: int,
    repeat: int,
    groups: Sequence[Sequence[Entrant]],
    replies: dict[int, tuple[int, int]],
) -> JudgedCase:
    judged = JudgedCase(case_id, repeat)
    draw = random.Random(f"{judging.subject.order_seed} {case_id} {repeat}")  # noqa: S311 (repeatable on purpose)
    for entrants in groups:
        known = {
            number: JudgedReply(replies[entrant.pk][0], entrant, number, replies[entrant.pk][1])
            for number, entrant in enumerate(entrants)
            if entrant.pk in replies
        }
        if judge.kind == Judge.Kind.SCORES:
            judged.left_out["no_whole_answer"] += len(entrants) - len(known)
            questions = [Question(case_id, repeat, reply, None) for reply in known.values()]
        else:
            questions = _comparisons(judging, judged, entrants, known, draw)
        for question in questions:
            own = _own_family(judge.model, question)
            if own and judge.own_family == Judge.OwnFamily.EXCLUDE:
                judged.left_out["own_family"] += not question.is_swapped or judging.orders == Judging.Orders.RANDOM
                continue
            judged.questions.append(question._replace(own_family=own))
    return judged


def _comparisons(
    judging: Judging,
    judged: JudgedCase,
    entrants: Sequence[Entrant],
    known: dict[int, JudgedReply],
    draw: random.Random,
) -> list[Question]:
    baseline = next((number for number, entrant in enumerate(entrants) if entrant.is_baseline), 0)
    pairs = pairs_of(
        draw.getrandbits(32), len(entrants), Plan(judging.plan), n=judging.pairs_per_case, baseline=baseline
    )
    questions = []
    for one, other in pairs:
        orders = [False, True]
        if judging.orders == Judging.Orders.RANDOM:
            orders = [draw.random() < 0.5]
        if one not in known or other not in known:
            judged.left_out["no_whole_answer"] += 1
            continue
        if known[one].reply_id == known[other].reply_id:  # one stored answer of two entrants
            judged.left_out["same_answer"] += 1
            continue
        for is_swapped in orders:
            first, second = (known[other], known[one]) if is_swapped else (known[one], known[other])
            questions.append(Question(judged.case_id, judged.repeat, first, second, is_swapped))
    return questions


def _own_family(judge: LanguageModel, question: Question) -> str:
    """Return the Judgement.OwnFamily of replies by models of the judge's organization, or ""."""
    first, second = (
        reply is not None and is_of_family(judge, reply.entrant.model) for reply in (question.first, question.second)
    )
    if first and second:
        return Judgement.OwnFamily.BOTH
    if first:
        return Judgement.OwnFamily.FIRST
    return Judgement.OwnFamily.SECOND if second else ""


def is_of_family(judge: LanguageModel, model: LanguageModel | None) -> bool:
    if model is None:
        return False
    own = judge.organization.strip().casefold()
    return judge.pk == model.pk or (own != "" and own == model.organization.strip().casefold())
