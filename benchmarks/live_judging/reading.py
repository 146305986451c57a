"""Voted battles as a judge reads them, and the reasons for which it may not."""

import secrets

import msgspec

from battles.models import Answer, Attachment, Battle, Call, Position, Turn
from battles.models.moderation import ModerationCase
from benchmarks.judging.prompts import REPAIR, pair_messages
from benchmarks.judging.rubrics import Rubric
from benchmarks.models import Judge, LiveDraw, LiveJudgement
from benchmarks.preparation.judged_replies import is_of_family
from benchmarks.preparation.judging_items import as_text, joined
from models_registry.models import LanguageModel
from models_registry.providers.base import Message

_LeftOut = LiveDraw.LeftOut


def reason_against(judge: Judge, battle: Battle) -> str:
    """Return the LiveDraw.LeftOut for which the judge may not read the battle, or "".

    battle: with its session and vote.
    """
    if battle.session.team_id is not None:
        return _LeftOut.TEAM
    if battle.session.discarded_at is not None or battle.session.owner is None:
        return _LeftOut.DELETED
    if battle.vote.excluded_reason:
        return _LeftOut.NOT_COUNTED
    is_reported = ModerationCase.objects.filter(battle=battle).exclude(state=ModerationCase.State.DISMISSED).exists()
    if battle.is_hidden or battle.is_void or is_reported:
        return _LeftOut.REPORTED
    models = LanguageModel.objects.filter(pk__in=[battle.vote.model_left_id, battle.vote.model_right_id])
    if any(is_of_family(judge.model, model) for model in models):
        return _LeftOut.OWN_FAMILY
    if not battle.has_consent and judge.model.provider_id not in _providers(battle):
        return _LeftOut.NOT_RELEASED
    if Attachment.objects.filter(turn__battle=battle, turn__after_vote=False).exists():
        return _LeftOut.FILES
    return ""


def _providers(battle: Battle) -> set[int | None]:
    """Return ids of the providers to which the battle's prompts were sent."""
    sent = Call.objects.filter(answer__turn__battle=battle, answer__turn__after_vote=False)
    shown = Answer.objects.filter(turn__battle=battle, turn__after_vote=False)
    return {
        *sent.values_list("model__provider", flat=True),
        *shown.filter(call__isnull=False).values_list("call__model__provider", flat=True),
    }


def messages_about(judge: Judge, judgement: LiveJudgement) -> list[Message]:
    """Return the judged turns in the order shown; after an answer without a verdict, with the further question."""
    turns = list(Turn.objects.judged().filter(battle=judgement.draw.battle_id).order_by("index"))
    texts: dict[str, list[str]] = {Position.LEFT: [], Position.RIGHT: []}
    answers = Answer.objects.filter(turn__in=turns).order_by("turn__index")
    for position, text in answers.values_list("side__position", "text"):
        texts[position].append(text)
    question = as_text([{"role": "user", "content": turns[0].prompt}], [turn.prompt for turn in turns[1:]])
    left, right = joined(texts[Position.LEFT]), joined(texts[Position.RIGHT])
    first, second = (right, left) if judgement.is_swapped else (left, right)
    messages = pair_messages(
        msgspec.convert(judge.rubric, Rubric), question=question, first=first, second=second, reference="",
        nonce=_nonce(question + first + second),
    )  # fmt: skip
    if judgement.turn:
        messages += [{"role": "assistant", "content": judgement.text}, {"role": "user", "content": REPAIR}]
    return messages


def _nonce(text: str) -> str:
    while (nonce := secrets.token_hex(8)) in text:
        continue
    return nonce
