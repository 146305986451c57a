"""Preparation of a judging: its cases, requests and items. A killed preparation goes on where it was."""

import hashlib
import random
import secrets
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import msgspec
from django.db import connection, transaction
from django.db.models import Max
from django.db.models.functions import Now

from battles.text.self_identification import leaks_identity
from benchmarks.judging.controls import Control, ControlReply, control_pairs
from benchmarks.judging.prompts import REPAIR, pair_messages, reply_messages
from benchmarks.judging.rubrics import Rubric
from benchmarks.models import (
    Case,
    CaseFile,
    ItemReply,
    Judge,
    Judging,
    Prompt,
    RenderedPrompt,
    Run,
    RunCount,
    RunItem,
    TemplateVersion,
)
from benchmarks.preparation import case_files
from benchmarks.preparation.frames import RenderedSource
from benchmarks.preparation.judged_replies import (
    JudgedCase,
    JudgedReply,
    Question,
    forget_unanswered,
    judged_cases,
    missing_questions,
)
from benchmarks.scoring.ports import texts_of
from benchmarks.sql import read_sql
from common.payload_types import JsonObject
from models_registry.models import LanguageModel

Row = TypeVar("Row")

QUESTIONS_PER_BATCH = 1_000
# PostgreSQL takes no JSON array of 256 MB.
CHARACTERS_PER_STATEMENT = 10_000_000
# Control pairs are made from so many replies, drawn by the run's seed.
CONTROL_REPLIES = 200


@dataclass(frozen=True)
class _Text:
    """A question to the judge before it is stored. asked: of the judged case."""

    case: Case
    messages: list[JsonObject]
    first_reply: int
    second_reply: int | None
    is_swapped: bool
    control: str = ""
    own_family: str = ""
    variables: JsonObject | None = None


def write_judging(run: Run, context: JsonObject, renew_lease: Callable[[], object]) -> None:
    """Store cases, requests, items and judgements in batches, then freeze the version.

    context: of the judge, for insert_items.sql.
    """
    if run.version.state == TemplateVersion.State.FROZEN:
        return
    judging = Judging.objects.select_related("judge__model", "subject__version").get(run=run)
    RunCount.objects.bulk_create(
        [RunCount(entrant=entrant, state=state) for entrant in run.entrants.all() for state in RunItem.State],
        ignore_conflicts=True,
    )
    writer = _Writer(run, judging, context)
    cases = judged_cases(judging)
    if judging.with_card and not judging.judgements.exclude(control="").exists():
        writer.write_controls(cases)
    left_out = Counter[str]()
    if not judging.is_card:
        for batch in _batches(cases, lambda case: len(case.questions), QUESTIONS_PER_BATCH):
            left_out += writer.write_cases(batch)
            renew_lease()
    _freeze(run, judging, left_out)


def _batches(rows: Iterable[Row], size: Callable[[Row], int], due: int) -> Iterator[list[Row]]:
    """A batch ends with the row that reaches its due size."""
    batch, total = list[Row](), 0
    for row in rows:
        batch.append(row)
        total += size(row)
        if total >= due:
            yield batch
            batch, total = [], 0
    if batch:
        yield batch


class _Writer:
    def __init__(self, run: Run, judging: Judging, context: JsonObject) -> None:
        self._run, self._judging, self._judge, self._context = run, judging, judging.judge, context
        self._rubric = msgspec.convert(judging.judge.rubric, Rubric)
        self._prompt = Prompt.objects.get(version=run.version_id)

    @transaction.atomic
    def write_cases(self, cases: Sequence[JudgedCase]) -> Counter[str]:
        """Store the questions that the judge has not answered; return numbers of those left out."""
        self._lock()
        left_out = Counter[str]()
        for case in cases:
            left_out.update(case.left_out)
        questions = list(missing_questions(self._judge, cases))
        replies = {reply for question in questions for reply in question.replies}
        texts = self._read(cases, {reply.reply_id for reply in replies})
        with_name = {reply for reply in replies if texts.names_itself(reply)}
        asked = list[Question]()
        for question in questions:
            if with_name.intersection(question.replies):
                left_out["names_itself"] += not question.is_swapped or self._judging.orders == Judging.Orders.RANDOM
                continue
            asked.append(question)
        forget_unanswered(self._judge, asked)
        self._insert(self._text(question, texts) for question in asked)
        return left_out

    @transaction.atomic
    def write_controls(self, cases: Sequence[JudgedCase]) -> None:
        """Store control pairs made from the run's own replies, each in both orders."""
        self._lock()
        replies = {
            reply.reply_id: (case, reply) for case in cases for question in case.questions for reply in question.replies
        }
        draw = random.Random(self._judging.subject.order_seed)  # noqa: S311 (repeatable on purpose)
        chosen = draw.sample(sorted(replies), min(CONTROL_REPLIES, len(replies)))
        texts = self._read([replies[pk][0] for pk in chosen], chosen)
        given = [
            ControlReply(
                question=texts.question(replies[pk][1], replies[pk][0].case_id), text=texts.reply(pk), reply_id=pk
            )
            for pk in chosen
        ]
        rows = []
        for pair in control_pairs(given, seed=self._judging.subject.order_seed):
            case_id, reply = replies[pair.reply_id][0].case_id, replies[pair.reply_id][1]
            for is_swapped in (False, True):
                first, second = pair.shown(is_swapped=is_swapped)
                reference = texts.reference(case_id)
                rows.append(
                    _Text(
                        texts.cases[case_id], self._messages(pair.question, first, second, reference), reply.reply_id,
                        None, is_swapped, Control(pair.kind).value,
                        variables={"question": pair.question, "first": first, "second": second},
                    )
                )  # fmt: skip
        self._insert(rows)

    def _lock(self) -> None:
        Run.objects.lock(self._run.pk)
        Judge.objects.select_for_update(no_key=True).get(pk=self._judge.pk)  # another judging may ask the same

    def _read(self, cases: Collection[JudgedCase], replies: Collection[int]) -> "_Texts":
        return _Texts(self._judging.subject, {case.case_id for case in cases}, replies)

    def _text(self, question: Question, texts: "_Texts") -> _Text:
        messages = self._messages(
            texts.question(question.first, question.case_id),
            texts.reply(question.first.reply_id),
            "" if question.second is None else texts.reply(question.second.reply_id),
            texts.reference(question.case_id),
        )
        return _Text(
            texts.cases[question.case_id], messages, *question.key, question.is_swapped, own_family=question.own_family
        )

    def _messages(self, question: str, first: str, second: str, reference: str) -> list[JsonObject]:
        """The second text is not read by a judge that grades."""
        reference = reference if self._rubric.uses_reference else ""
        while True:
            nonce = secrets.token_hex(8)
            if any(nonce in text for text in (question, first, second, reference)):
                continue
            if self._judge.kind == Judge.Kind.SCORES:
                return reply_messages(self._rubric, question=question, reply=first, reference=reference, nonce=nonce)
            return pair_messages(
                self._rubric, question=question, first=first, second=second, reference=reference, nonce=nonce
            )

    def _insert(self, rows: Iterable[_Text]) -> None:
        for batch in _batches(rows, _characters, CHARACTERS_PER_STATEMENT):
            self._insert_batch(batch)

    def _insert_batch(self, rows: Sequence[_Text]) -> None:
        version, run = self._run.version_id, self._run.pk
        last = Case.objects.filter(version=version).aggregate(last=Max("position"))["last"]
        start = 0 if last is None else last + 1
        files = case_files.files_by_case({row.case.pk for row in rows})
        questions = [
            self._question_row(place, row, files.get(row.case.pk, [])) for place, row in enumerate(rows, start)
        ]
        with connection.cursor() as cursor:
            ids = {"run": run, "version": version, "prompt": self._prompt.pk}
            cursor.execute(read_sql("insert_questions.sql"), {**ids, "questions": _json(questions)})
            cases = cursor.fetchall()
            places = [{"case_id": case, "repeat": 0, "place": place} for place, case in cases]
            contexts = _json([self._context])
            cursor.execute(read_sql("insert_items.sql"), {**ids, "cases": _json(places), "contexts": contexts})
            ids |= {"judging": self._judging.pk, "judge": self._judge.pk}
            judgements = [_judgement_row(case, row) for (_place, case), row in zip(cases, rows, strict=True)]
            cursor.execute(read_sql("insert_judgements.sql"), {**ids, "questions": _json(judgements)})

    def _question_row(self, place: int, row: _Text, files: Sequence[CaseFile]) -> JsonObject:
        encoded = msgspec.json.encode(row.messages)
        source = RenderedSource(
            self._prompt.pk, row.case.pk, row.messages, [REPAIR], hashlib.sha256(encoded).hexdigest(),
            _characters(row) + len(REPAIR),
        )  # fmt: skip
        case_files.add_files(source, files)
        return {
            "place": place, "key": f"{place + 1:06}", "judged_case": source.case, "variables": row.variables or {},
            "messages": source.messages, "turns": source.turns, "digest": source.digest,
            "characters": source.characters,
        }  # fmt: skip


def _characters(row: _Text) -> int:
    return sum(len(message["content"]) for message in row.messages)


def _judgement_row(case_id: int, row: _Text) -> JsonObject:
    return {
        "case_id": case_id, "first_reply": row.first_reply, "second_reply": row.second_reply,
        "is_swapped": row.is_swapped, "control": row.control, "own_family": row.own_family,
    }  # fmt: skip


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


class _Texts:
    """Texts of some cases and replies of a judged run."""

    def __init__(self, run: Run, cases: Collection[int], replies: Collection[int]) -> None:
        self.cases = Case.objects.in_bulk(cases)
        rendered = RenderedPrompt.objects.filter(case__in=cases, prompt__in=run.entrants.values("prompt"))
        self._questions = {
            (prompt, case): as_text(messages, turns)
            for prompt, case, messages, turns in rendered.values_list("prompt", "case", "messages", "turns")
        }
        items = ItemReply.objects.filter(reply__in=replies, item__run=run).values("item")
        turns: dict[int, list[tuple[int, str]]] = defaultdict(list)
        for item, reply, text in (
            ItemReply.objects.filter(item__in=items).order_by("item", "turn")
            .values_list("item", "reply", "reply__text")
        ):  # fmt: skip
            turns[item].append((reply, text))
        self._replies = {answers[-1][0]: joined([text for _, text in answers]) for answers in turns.values()}

    def question(self, reply: JudgedReply, case_id: int) -> str:
        """Return the question that was answered; of imported answers, its case's variables."""
        text = self._questions.get((reply.entrant.prompt_id, case_id))
        return _variables(self.cases[case_id]) if text is None else text

    def reply(self, reply_id: int) -> str:
        return self._replies[reply_id]

    def reference(self, case_id: int) -> str:
        expected = self.cases[case_id].expected
        return "\n".join(texts_of(expected if isinstance(expected, list) else [expected]))

    def names_itself(self, reply: JudgedReply) -> bool:
        model = reply.entrant.model
        return model is not None and _names_itself(self.reply(reply.reply_id), model)


def _names_itself(text: str, model: LanguageModel) -> bool:
    names = [model.name, *model.aliases]
    if not model.upstream_name.isalpha():  # a plain word would match ordinary text
        names.append(model.upstream_name)
    return leaks_identity(text, names=names, organization=model.organization)


_ROLES = {"system": "System", "user": "User", "assistant": "Assistant"}


def as_text(messages: Sequence[JsonObject], turns: Sequence[str]) -> str:
    """Return a conversation as one text; a single message as it is."""
    if len(messages) == 1 and not turns:
        return str(messages[0]["content"])
    parts = [f"{_ROLES.get(message['role'], message['role'])}: {message['content']}" for message in messages]
    return "\n\n".join([*parts, *(f"Follow-up {number}: {turn}" for number, turn in enumerate(turns, 1))])


def joined(answers: Sequence[str]) -> str:
    if len(answers) == 1:
        return answers[0]
    follow_ups = (f"Answer to follow-up {number}: {text}" for number, text in enumerate(answers[1:], 1))
    return "\n\n".join([f"First answer: {answers[0]}", *follow_ups])


def _variables(case: Case) -> str:
    return "\n\n".join(texts_of([*(case.messages or []), *case.variables.values()]))


@transaction.atomic
def _freeze(run: Run, judging: Judging, left_out: Counter[str]) -> None:
    rendered = RenderedPrompt.objects.filter(case__version=run.version_id).order_by("case__position")
    digest = hashlib.sha256()
    for request in rendered.values_list("digest", flat=True).iterator():
        digest.update(request.encode())
    TemplateVersion.objects.filter(pk=run.version_id).update(
        state=TemplateVersion.State.FROZEN, digest=digest.hexdigest(), frozen_at=Now(),
        case_count=Case.objects.filter(version=run.version_id).count(),
    )  # fmt: skip
    Judging.objects.filter(pk=judging.pk).update(left_out={reason: n for reason, n in left_out.items() if n})
