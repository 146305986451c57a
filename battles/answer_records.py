"""What the database keeps of a turn being answered. Every change is made only while the claim's fence still holds."""

import logging
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from random import SystemRandom
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.db.models.functions import Now

from battles import drawing
from battles.conversation import CHARACTERS_PER_TOKEN, first_turn_that_fits, messages_for, remembered
from battles.models import Answer, Battle, Call, Side, Turn, TurnQuerySet
from common.markdown import render
from models_registry.encryption import KeyUnreadable
from models_registry.models import LanguageModel
from models_registry.providers import ChatRequest, Completion, FailureCode

logger = logging.getLogger(__name__)

LEASE = timedelta(seconds=10)
MOST_ATTEMPTS = 2
_random = SystemRandom()


class Overtaken(Exception):
    """The lease ran out and somebody else has the turn: whatever we know of it is void."""


@dataclass(frozen=True)
class ClaimedTurn:
    """A turn that this process holds, as long as its fence does. `sides` are those that have no answer yet."""

    turn_id: int
    fence: int
    attempt: int
    index: int
    round: int
    battle_public_id: str
    sides: tuple[str, ...]
    stop_requested: bool


@dataclass(frozen=True)
class PreparedCall:
    """A call whose row exists and which may now be made; with a `refusal`, one that cannot be."""

    call_id: int
    answer_id: int
    side: str
    request: ChatRequest
    refusal: FailureCode | None = None


@dataclass
class Said:
    """What came of a call."""

    texts: list[str] = field(default_factory=list)
    reasonings: list[str] = field(default_factory=list)
    completion: Completion = field(default_factory=Completion)
    error: FailureCode | None = None
    stopped: bool = False
    first_token_ms: int | None = None
    total_ms: int = 0

    @property
    def has_text(self) -> bool:
        return any(text.strip() for text in self.texts)


def claim_turn(turn_id: int) -> ClaimedTurn | None:
    """Win the turn for this process, or None when somebody else has it or there is nothing to do."""
    turn = Turn.objects.claim(turn_id, lease=LEASE, most_attempts=MOST_ATTEMPTS)
    if turn is None:
        return None
    unfinished = Answer.objects.unfinished().filter(turn=turn).in_order()
    sides = unfinished.values_list("side__position", flat=True)
    return ClaimedTurn(
        turn_id=turn.pk, fence=turn.fence, attempt=turn.attempt, index=turn.index, round=turn.round,
        battle_public_id=turn.battle.public_id, sides=tuple(sides), stop_requested=turn.stop_requested_at is not None,
    )  # fmt: skip


def _locked_turn(claimed: ClaimedTurn) -> Turn:
    """The turn's row, locked for the rest of the transaction. Raises Overtaken."""
    turn = Turn.objects.held(claimed.turn_id, claimed.fence).select_for_update().first()
    if turn is None:
        raise Overtaken
    return turn


@transaction.atomic
def begin_calls(claimed: ClaimedTurn) -> list[PreparedCall]:
    """A running call for every side that has no answer yet. Raises Overtaken."""
    turn = _locked_turn(claimed)
    _lose_running_calls(turn)
    turns = list(turn.battle.turns.filter(index__lte=turn.index).order_by("index").prefetch_related("answers"))
    sides = list(turn.battle.sides.select_related("model__provider").order_by("position"))
    turn.context_from = first_turn_that_fits(sides, turns, reply_tokens=settings.ARENA_MAX_TOKENS)
    turn.save(update_fields=["context_from"])
    answers = {answer.side_id: answer for answer in Answer.objects.unfinished().filter(turn=turn)}
    return [_begin_call(claimed, answers[side.pk], side, turns, turn) for side in sides if side.pk in answers]


def _begin_call(claimed: ClaimedTurn, answer: Answer, side: Side, turns: list[Turn], turn: Turn) -> PreparedCall:
    model = side.model
    parameters = with_token_cap(model.parameters)
    seen = [known.index for known in remembered(turns, context_from=turn.context_from)] + [turn.index]
    call = Call.objects.create(
        answer=answer, model=model, attempt=claimed.attempt, fence=claimed.fence, price=model.price,
        request={"model": model.upstream_name, "parameters": parameters, "turns": seen},
    )  # fmt: skip
    key, refusal = _key_of(model)
    request = ChatRequest(
        base_url=model.provider.endpoint, key=key, model=model.upstream_name,
        messages=messages_for(side, turns, context_from=turn.context_from), parameters=parameters,
        deadlines=model.provider.deadlines, finish_reason_required=model.provider.finish_reason_required,
    )  # fmt: skip
    return PreparedCall(call.pk, answer.pk, side.position, request, refusal)


def with_token_cap(parameters: dict[str, object]) -> dict[str, object]:
    """The model's own parameters; a cap on the answer is always sent, so that no call can cost without end."""
    if "max_tokens" in parameters or "max_completion_tokens" in parameters:
        return parameters
    return {**parameters, "max_tokens": settings.ARENA_MAX_TOKENS}


def _key_of(model: LanguageModel) -> tuple[str, FailureCode | None]:
    try:
        key = model.provider.read_key()
    except KeyUnreadable:
        logger.error("the key of provider %s cannot be decrypted", model.provider_id)
        return "", FailureCode.NO_KEY
    is_missing = (model.provider.needs_key and not key) or not model.provider.endpoint
    return key, FailureCode.NO_KEY if is_missing else None


@transaction.atomic
def redraw(claimed: ClaimedTurn, failed: PreparedCall, said: Said) -> PreparedCall | None:
    """Another model for a side that failed before it was seen; None when it had its chance or nobody is left.

    Raises Overtaken.
    """
    turn = _locked_turn(claimed)
    answer = Answer.objects.select_related("side__model").get(pk=failed.answer_id)
    side, battle = answer.side, turn.battle
    if side.redrawn or battle.mode != Battle.Mode.BLIND:
        return None
    opponent = battle.sides.exclude(pk=side.pk).get()
    pair = drawing.redraw(staying=opponent.model_id, leaving=side.model_id, random=_random)
    if pair is None:
        return None
    _close_call(failed, said)
    Side.objects.filter(pk=side.pk).update(model_id=pair.right, redrawn=True)
    Battle.objects.filter(pk=battle.pk).update(propensity=pair.propensity)
    side = Side.objects.select_related("model__provider").get(pk=side.pk)
    return _begin_call(claimed, answer, side, [turn], turn)


@transaction.atomic
def store_answer(claimed: ClaimedTurn, call: PreparedCall, said: Said) -> str:
    """The side's final text, numbers and state; returns the state. Raises Overtaken."""
    _locked_turn(claimed)
    text = "".join(said.texts)
    state = Answer.State.FAILED if said.error else Answer.State.STOPPED if said.stopped else Answer.State.DONE
    _close_call(call, said)
    Answer.objects.filter(pk=call.answer_id).update(
        state=state, text=text, html=render(text) if text else "", reasoning="".join(said.reasonings),
        error=said.error or "", call_id=call.call_id,
    )  # fmt: skip
    return state


def _close_call(prepared: PreparedCall, said: Said) -> None:
    call = Call.objects.select_related("price").get(pk=prepared.call_id)
    done = said.completion
    call.state = Call.State.FAILED if said.error else Call.State.STOPPED if said.stopped else Call.State.DONE
    call.prompt_tokens, call.completion_tokens = done.prompt_tokens, done.completion_tokens
    if call.prompt_tokens is None or call.completion_tokens is None:
        call.tokens_estimated = True
        sent = sum(len(message["content"]) for message in prepared.request.messages)
        call.prompt_tokens = _estimated_tokens(sent)
        call.completion_tokens = _estimated_tokens(sum(map(len, said.texts + said.reasonings)))
    if call.price is not None:
        call.cost = call.price.cost_of(
            prompt_tokens=call.prompt_tokens, completion_tokens=call.completion_tokens
        ).quantize(Decimal("1e-8"))
    call.first_token_ms, call.total_ms = said.first_token_ms, said.total_ms
    call.finish_reason = "stopped" if said.stopped else done.finish_reason
    call.error, call.provider_request_id = said.error or "", done.request_id
    call.save()


def _estimated_tokens(characters: int) -> int:
    return -(-characters // CHARACTERS_PER_TOKEN)


@transaction.atomic
def finish_turn(claimed: ClaimedTurn) -> None:
    """Close the turn once every side is stored. Raises Overtaken."""
    close(_locked_turn(claimed))


def close(turn: Turn) -> None:
    """The turn is done; a battle whose first turn cannot be judged is void. Inside a transaction."""
    turn.state, turn.finished_at, turn.lease_until = Turn.State.DONE, Now(), None
    turn.save(update_fields=["state", "finished_at", "lease_until"])
    if turn.index == 0 and turn.battle.mode == Battle.Mode.BLIND and not turn.can_be_judged():
        Battle.objects.filter(pk=turn.battle_id, voided_at=None).update(voided_at=Now())


def stop_unasked(turn: Turn) -> None:
    """End a turn that waits in the queue, before anybody is asked. Inside a transaction, its row locked."""
    Answer.objects.unfinished().filter(turn=turn).update(state=Answer.State.STOPPED)
    close(turn)


@transaction.atomic
def hand_back(claimed: ClaimedTurn) -> None:
    """This process ends: the turn goes back into the queue and this attempt does not count against it."""
    turn = Turn.objects.held(claimed.turn_id, claimed.fence).select_for_update().first()
    if turn is not None:
        _lose_running_calls(turn)
        _requeue(Turn.objects.filter(pk=turn.pk), attempt=F("attempt") - 1)


def requeue_abandoned(turn_id: int) -> bool:
    """Back into the queue, due at once for the sweeper; False when somebody else was quicker."""
    return _requeue(Turn.objects.abandoned().filter(pk=turn_id)) == 1


def _requeue(turns: TurnQuerySet, **changes: Any) -> int:
    due = Now() - timedelta(hours=1)
    return turns.update(state=Turn.State.QUEUED, lease_until=None, queued_at=due, **changes)


@transaction.atomic
def give_up(turn_id: int) -> Turn | None:
    """Fail what has no attempts left; None when somebody else was quicker."""
    turn = Turn.objects.abandoned().select_for_update(skip_locked=True).filter(pk=turn_id).first()
    if turn is None:
        return None
    _lose_running_calls(turn)
    Answer.objects.unfinished().filter(turn=turn).update(state=Answer.State.FAILED, error=FailureCode.INTERRUPTED)
    Turn.objects.filter(pk=turn.pk).update(fence=F("fence") + 1)
    close(turn)
    return turn


def _lose_running_calls(turn: Turn) -> None:
    Call.objects.filter(answer__turn=turn, state=Call.State.RUNNING).update(
        state=Call.State.LOST, error=FailureCode.INTERRUPTED
    )


def renew_leases(held: list[ClaimedTurn]) -> dict[int, bool]:
    """Which of these turns are still ours, and whether a stop was asked for: {turn id: stop requested}."""
    mine = Q()
    for claimed in held:
        mine |= Q(pk=claimed.turn_id, fence=claimed.fence)
    kept = Turn.objects.filter(mine, state=Turn.State.ANSWERING)
    kept.update(lease_until=Now() + LEASE)
    return {pk: stop is not None for pk, stop in kept.values_list("pk", "stop_requested_at")}
