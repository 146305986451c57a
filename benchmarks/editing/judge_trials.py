"""A judge of the editor, asked once about pasted answers, as models are tested."""

import secrets
from dataclasses import dataclass

import msgspec
from django.utils.translation import gettext as _
from kombu.exceptions import OperationalError

from accounts.actor import Actor
from battles import tasks
from battles.worker import model_tests
from battles.worker.model_tests import ModelTest
from benchmarks.judges.actions import JudgeContent
from benchmarks.judging.prompts import pair_messages, reply_messages
from benchmarks.judging.rubrics import Kind, Rubric
from benchmarks.judging.verdicts import Verdict, read_verdict
from common.errors import ServiceAway
from common.payload_types import JsonObject
from common.valkey.connections import UNREACHABLE
from models_registry.health.failure_messages import failure_message
from models_registry.payers import Payer


@dataclass(frozen=True)
class Trial:
    """test: None after it expired. verdict: None while the judge answers, and of an answer that cannot be read."""

    id: str
    test: ModelTest | None
    rubric: Rubric | None = None
    verdict: Verdict | None = None

    @property
    def is_over(self) -> bool:
        return self.test is None or self.test.is_over

    @property
    def failure(self) -> str:
        return "" if self.test is None else failure_message(self.test.error)

    @property
    def is_cut_off(self) -> bool:
        return self.test is not None and self.test.finish_reason == "length"

    @property
    def is_filtered(self) -> bool:
        return self.test is not None and self.test.finish_reason == "content_filter"

    @property
    def scores(self) -> list[tuple[str, float, int]]:
        """Return names, scores and points of the criteria."""
        if self.rubric is None or self.verdict is None or self.rubric.kind != Kind.SCORES:
            return []
        return [(item.name, self.verdict.scores[item.name], item.points) for item in self.rubric.criteria]


def start_trial(actor: Actor, content: JudgeContent, texts: JsonObject, *, team_id: int | None) -> str:
    """Return the trial's id. texts: of TrialForm. Raises LimitReached, and ServiceAway without a queue."""
    actor.count("battle", fail_open=True)
    try:
        test_id = model_tests.store_request(
            content.model, "", payer=Payer.of(actor, team_id), messages=_messages(content.rubric, texts),
            overrides=content.parameters, note=msgspec.json.encode(content.rubric).decode(),
        )  # fmt: skip
        tasks.wake_model_test(test_id)
    except (OperationalError, *UNREACHABLE):
        raise ServiceAway(_("The queue is temporarily unavailable. Try again.")) from None
    return test_id


def _messages(rubric: Rubric, texts: JsonObject) -> list[JsonObject]:
    nonce = secrets.token_hex(8)
    question, reference, first = texts["question"], texts["reference"], texts["first"]
    if rubric.kind == Kind.SCORES:
        return reply_messages(rubric, question=question, reply=first, reference=reference, nonce=nonce)
    return pair_messages(
        rubric, question=question, first=first, second=texts["second"], reference=reference, nonce=nonce
    )  # fmt: skip


def read_trial(actor: Actor, test_id: str) -> Trial | None:
    """Return the actor's trial; None for another test. Raises ServiceAway."""
    try:
        test = model_tests.read(test_id)
    except UNREACHABLE:
        raise ServiceAway(_("The queue is temporarily unavailable. Try again.")) from None
    if test is None:
        return Trial(test_id, None)
    if test.person != actor.key or not test.note:
        return None
    rubric = msgspec.json.decode(test.note, type=Rubric)
    if not test.is_over or test.error:
        return Trial(test_id, test, rubric)
    return Trial(test_id, test, rubric, read_verdict(test.text, rubric, finish_reason=test.finish_reason))
