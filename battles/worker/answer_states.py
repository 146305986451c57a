"""State that the servers of battles' models want back: kept encrypted, and sent to the same model only."""

import logging
from collections.abc import Iterable, Sequence

import msgspec
from django.conf import settings

from battles.calls.values import CallResult
from battles.models import Answer, AnswerState, Side, Turn
from common.db.execution import is_migrated
from common.payload_types import JsonObject
from models_registry import encryption
from models_registry.models import LanguageModel
from models_registry.providers.answer_state import with_state
from models_registry.providers.base import Message

logger = logging.getLogger(__name__)

MAX_BYTES = 200_000


def _can_store() -> bool:
    return bool(settings.ARENA_ENCRYPTION_KEYS) and is_migrated(AnswerState)


class _State(msgspec.Struct):
    of: str
    state: JsonObject


def store(results: Sequence[tuple[int, LanguageModel, CallResult]]) -> None:
    """results: of answers by id. In the transaction that stores the answers."""
    states = [(answer, model, result.completion.state) for answer, model, result in results if not result.error]
    states = [entry for entry in states if entry[2]]
    if not states or not _can_store():
        return
    rows = []
    for answer, model, state in states:
        encoded = msgspec.json.encode(_State(_name_of(model), state)).decode()
        if len(encoded) <= MAX_BYTES:
            rows.append(AnswerState(answer_id=answer, encrypted=encryption.encrypt(encoded)))
    AnswerState.objects.bulk_create(rows, update_conflicts=True, update_fields=["encrypted"], unique_fields=["answer"])


def delete(turns: Iterable[Turn]) -> None:
    if _can_store():
        AnswerState.objects.filter(answer__turn__in=turns).delete()


def with_states(messages: list[Message], side: Side, remembered: Sequence[Turn]) -> list[Message]:
    """Return a side's messages with the state of its own answers in `remembered`, in order."""
    model = side.model
    back = model.provider.dialect.reasoning_back(model.upstream_name)
    answers = [answer for turn in remembered for answer in turn.answers.all() if answer.side_id == side.pk]
    states = _states_of(answers, model)
    gives_reasoning = back is not None and not back.only_with_calls
    if not states and not gives_reasoning:
        return messages
    own = iter(answers)
    with_states: list[Message] = []
    for message in messages:
        if message["role"] == "assistant":
            answer = next(own)
            message = with_state(message, states.get(answer.pk, {}))
            if gives_reasoning and answer.reasoning:
                message["reasoning_content"] = answer.reasoning
        with_states.append(message)
    return with_states


def _states_of(answers: Sequence[Answer], model: LanguageModel) -> dict[int, JsonObject]:
    """Return states by answer; without those of another model that the side had before."""
    if not answers or not _can_store():
        return {}
    states: dict[int, JsonObject] = {}
    for row in AnswerState.objects.filter(answer__in=[answer.pk for answer in answers]):
        try:
            stored = msgspec.json.decode(encryption.decrypt(bytes(row.encrypted)), type=_State)
        except encryption.KeyUnreadable:
            logger.warning("the state of answer %s cannot be decrypted", row.answer_id)
            continue
        if stored.of == _name_of(model):
            states[row.answer_id] = stored.state
    return states


def _name_of(model: LanguageModel) -> str:
    return f"{model.provider.pk}:{model.upstream_name}"
