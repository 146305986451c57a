"""Calls and cost of a judging before its start."""

from dataclasses import dataclass
from decimal import Decimal

import msgspec

from benchmarks.estimates import estimate_texts
from benchmarks.judging.controls import CONTROL_PAIRS
from benchmarks.judging.prompts import REPAIR, pair_messages, reply_messages
from benchmarks.judging.rubrics import Rubric
from benchmarks.models import Judge, Judgement, Judging, RenderedPrompt
from benchmarks.preparation.judged_replies import Question, judged_cases, missing_questions
from common.payload_types import JsonObject


@dataclass(frozen=True)
class JudgingEstimate:
    """judged: questions that this judge answered before. Costs in US dollars; maximum: each answer as long as can be,
    and asked for twice. left_out: pairs or replies by reason, before their texts are read.
    """

    questions: int
    controls: int
    judged: int
    expected: Decimal
    maximum: Decimal
    too_long: int
    left_out: dict[str, int]

    @property
    def calls(self) -> int:
        return self.questions + self.controls


def estimate_judging(judging: Judging) -> JudgingEstimate:
    """judging: may be unsaved."""
    cases = judged_cases(judging)
    wanted = [question for case in cases for question in case.questions]
    missing = [] if judging.is_card else list(missing_questions(judging.judge, cases))
    controls = 2 * min(CONTROL_PAIRS, 4 * len({question.first.reply_id for question in wanted}))
    controls = controls if judging.with_card else 0
    sizes = _sizes(judging, missing)
    known = sizes or _sizes(judging, wanted)
    mean = sum(known.values()) // max(len(known), 1)  # control pairs are about as long
    sizes |= {f"control {number}": mean for number in range(controls)}
    once, twice = (
        estimate_texts(judging.judge.model, sizes, judging.judge.parameters, turns=turns) for turns in ([], [REPAIR])
    )
    left_out: dict[str, int] = {}
    for case in cases:
        for reason, number in case.left_out.items():
            left_out[reason] = left_out.get(reason, 0) + number
    return JudgingEstimate(
        len(missing), controls, 0 if judging.is_card else len(wanted) - len(missing), once.expected, twice.maximum,
        once.too_long_count, {reason: number for reason, number in left_out.items() if number},
    )  # fmt: skip


def _sizes(judging: Judging, questions: list[Question]) -> dict[str, int]:
    """Return characters of requests by a name of each."""
    own = _own_characters(judging.judge)
    prompts = judging.subject.entrants.values("prompt")
    asked = RenderedPrompt.objects.filter(prompt__in=prompts, case__version=judging.subject.version_id)
    of_case = dict(asked.values_list("case", "characters"))
    return {
        f"{question.key}": own + of_case.get(question.case_id, 0) + sum(reply.characters for reply in question.replies)
        for question in questions
    }


def _own_characters(judge: Judge) -> int:
    """Return the length of a request without texts."""
    rubric = msgspec.convert(judge.rubric, Rubric)
    messages: list[JsonObject]
    if judge.kind == Judge.Kind.SCORES:
        messages = reply_messages(rubric, question="", reply="", reference="", nonce="0" * 16)
    else:
        messages = pair_messages(rubric, question="", first="", second="", reference="", nonce="0" * 16)
    return sum(len(message["content"]) for message in messages)


def has_card(judge: Judge) -> bool:
    """Return whether control pairs of this number of the judge were judged."""
    return Judgement.objects.filter(judge=judge, item__scores__isnull=False).exclude(control="").exists()
