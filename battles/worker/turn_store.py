"""What the database keeps of a turn being answered. Every change is made only while the claim's fence still holds."""

from dataclasses import dataclass
from datetime import timedelta
from random import SystemRandom
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.db.models.functions import Now

from battles.models import Answer, Battle, Side, Turn, TurnQuerySet
from battles.prompting import sampling
from battles.prompting.attachments import material_of
from battles.prompting.lineup import Filters, Needs
from battles.prompting.messages import Material, content_of, first_turn_that_fits, length_of, messages_for, remembered
from battles.queries import read_sides_to_ask
from battles.text.self_identification import names_itself
from battles.worker import call_store
from battles.worker.call_store import PreparedCall, Question, Said
from common.prepared import PreparedQuery
from models_registry.providers import FailureCode

LEASE = timedelta(seconds=10)
MOST_ATTEMPTS = 2
_random = SystemRandom()

_held = PreparedQuery(lambda pk, fence: Turn.objects.held(pk, fence).only("pk").select_for_update(), int, int)
_unfinished = PreparedQuery(
    lambda turn: Answer.objects.unfinished().filter(turn=turn).select_related("charge__price"), int
)
_said_in = PreparedQuery(lambda turn: Answer.objects.filter(turn=turn).only("state", "text"), int)


class Overtaken(Exception):
    """The lease ran out and somebody else has the turn: whatever we know of it is void."""


@dataclass(frozen=True)
class ClaimedTurn:
    """A turn that this process holds, as long as its fence does."""

    turn_id: int
    fence: int
    attempt: int
    index: int
    round: int
    battle_public_id: str
    is_blind: bool
    stop_requested: bool


def claim_turn(turn_id: int) -> ClaimedTurn | None:
    """Win the turn for this process, or None when somebody else has it or there is nothing to do."""
    turn = Turn.objects.claim(turn_id, lease=LEASE, most_attempts=MOST_ATTEMPTS)
    return None if turn is None else _claimed(turn)


@transaction.atomic
def take_up(turn_id: int) -> tuple[ClaimedTurn, list[PreparedCall] | None] | None:
    """claim_turn, and at once begin_calls where nobody had the turn before: nearly always, and then all is well."""
    turn = Turn.objects.claim(turn_id, lease=LEASE, most_attempts=MOST_ATTEMPTS)
    if turn is None:
        return None
    claimed = _claimed(turn)
    return claimed, _begin_turn(claimed, turn) if turn.fence == 1 else None


def _claimed(turn: Turn) -> ClaimedTurn:
    return ClaimedTurn(
        turn_id=turn.pk, fence=turn.fence, attempt=turn.attempt, index=turn.index, round=turn.round,
        battle_public_id=turn.battle.public_id, is_blind=turn.battle.is_blind,
        stop_requested=turn.stop_requested_at is not None,
    )  # fmt: skip


def _lock_turn(claimed: ClaimedTurn) -> None:
    """Its row, for the rest of the transaction. Raises Overtaken."""
    if not _held(claimed.turn_id, claimed.fence):
        raise Overtaken


def _locked_turn(claimed: ClaimedTurn) -> Turn:
    """The turn with its battle and session, locked for the rest of the transaction. Raises Overtaken."""
    held = Turn.objects.held(claimed.turn_id, claimed.fence).with_attachments().select_related("battle__session")
    turn = held.select_for_update(of=("self",)).first()
    if turn is None:
        raise Overtaken
    return turn


def begin_calls(claimed: ClaimedTurn) -> list[PreparedCall]:
    """A call for every side that has no answer yet. Raises Overtaken."""
    if claimed.fence > 1:
        with transaction.atomic():  # of its own: what locks budgets twice would do so in any order
            call_store.lose(_locked_turn(claimed))
    with transaction.atomic():
        return _begin_turn(claimed, _locked_turn(claimed))


def _begin_turn(claimed: ClaimedTurn, turn: Turn) -> list[PreparedCall]:
    """Inside a transaction that holds the turn's row."""
    turns = [*Turn.objects.before(turn), turn] if turn.index else [turn]
    sides = read_sides_to_ask(turn.battle_id)
    material = material_of(turns, with_images=True)
    context_from = first_turn_that_fits(sides, turns, reply_tokens=settings.ARENA_MAX_TOKENS, material=material)
    if context_from != turn.context_from:
        turn.context_from = context_from
        turn.save(update_fields=["context_from"])
    answers = {answer.side_id: answer for answer in _unfinished(turn.pk)}
    if not answers:  # whoever had it before stored them all
        _close_if_over(turn.pk)
    asked = {answers[side.pk]: side for side in sides if side.pk in answers}
    return _begin(claimed, turn, turns, asked, material)


def _begin(
    claimed: ClaimedTurn, turn: Turn, turns: list[Turn], sides: dict[Answer, Side], material: dict[str, Material]
) -> list[PreparedCall]:
    questions = [
        Question(
            model=side.model,
            messages=messages_for(side, turns, context_from=turn.context_from, material=material),
            answer=answer, side=side.position,
            turns=[known.index for known in remembered(side, turns, context_from=turn.context_from)] + [turn.index],
        )
        for answer, side in sides.items()
    ]  # fmt: skip
    person = turn.battle.session.person
    return call_store.begin(questions, person=person, attempt=claimed.attempt, fence=claimed.fence)


@transaction.atomic
def take_slot(claimed: ClaimedTurn, call: PreparedCall) -> bool:
    """Whether a call that must wait may start now. Raises Overtaken."""
    _locked_turn(claimed)
    return call_store.take_slot(call)


def redraw(claimed: ClaimedTurn, failed: PreparedCall, said: Said) -> PreparedCall | None:
    """Another model for a side that failed before it was seen; None when a person chose it, when it had its chance or
    when nobody is left. Raises Overtaken.
    """
    with transaction.atomic():  # of its own, as above
        _locked_turn(claimed)
        _close_call(failed, said)
    with transaction.atomic():
        turn = _locked_turn(claimed)
        answer = Answer.objects.select_related("side", "charge").get(pk=failed.answer_id)
        side, battle = answer.side, turn.battle
        if side.redrawn or side.chosen:
            return None
        opponent = battle.sides.exclude(pk=side.pk).select_related("model").get()
        filters, material = Filters(**battle.filters), material_of([turn], with_images=True)
        needs = Needs(battle.needs_images, length_of(content_of(turn, material)) if material else 0)
        pair = sampling.redraw(
            staying=opponent.model,
            leaving=side.model_id,
            random=_random,
            may_be=lambda model: filters.keeps(model) and needs.met_by(model),
        )
        if pair is None:
            return None
        Side.objects.filter(pk=side.pk).update(model_id=pair.right, redrawn=True)
        Battle.objects.filter(pk=battle.pk).update(propensity=pair.propensity)
        side = next(known for known in read_sides_to_ask(battle.pk) if known.pk == side.pk)
        return _begin(claimed, turn, [turn], {answer: side}, material)[0]


@transaction.atomic
def store_answer(claimed: ClaimedTurn, call: PreparedCall, said: Said, *, closes_turn: bool = True) -> str:
    """The side's final text, numbers and state; the turn is closed with its last side. Raises Overtaken.

    closes_turn: if False, the caller closes the turn with close_turn. Returns the answer's state.
    """
    _lock_turn(claimed)
    text = "".join(said.texts)
    state = Answer.State.FAILED if said.error else Answer.State.STOPPED if said.stopped else Answer.State.DONE
    Answer.objects.filter(pk=call.answer_id).update(
        state=state, text=text, html=said.html, reasoning="".join(said.reasonings),
        error=said.error or "", call_id=call.row.pk, **({"names_itself": True} if _names_itself(text, call) else {}),
    )  # fmt: skip
    if closes_turn:
        _close_if_over(claimed.turn_id)
    _close_call(call, said)
    return state


@transaction.atomic
def close_turn(claimed: ClaimedTurn) -> None:
    """Close a turn whose every side is stored. Raises Overtaken."""
    _lock_turn(claimed)
    _close_if_over(claimed.turn_id)


def _names_itself(text: str, call: PreparedCall) -> bool:
    model = call.row.model
    names = [model.name, *model.aliases]
    if not model.upstream_name.isalpha():  # no model calls itself by a plain word that only its provider knows
        names.append(model.upstream_name)
    return names_itself(text, names=names, maker=model.organization)


def _close_call(call: PreparedCall, said: Said) -> None:
    model = call_store.close(call, said)
    if model is not None:
        call_store.feed_breakers(model, said)


def _close_if_over(turn_id: int) -> None:
    """Close a turn whose every side is stored; a battle whose first turn nobody can judge or go on from is void.

    Inside a transaction that holds the turn's row.
    """
    answers = _said_in(turn_id)
    if any(answer.state == Answer.State.QUEUED for answer in answers):
        return
    Turn.objects.filter(pk=turn_id).update(state=Turn.State.DONE, finished_at=Now(), lease_until=None)
    if not all(answer.can_be_judged for answer in answers):
        first = Battle.objects.filter(turns=turn_id, turns__index=0, voided_at=None)
        if any(answer.can_be_judged for answer in answers):  # of many who are compared, one is enough
            first = first.filter(mode__in=Battle.VOTED_MODES)
        first.update(voided_at=Now())


def end_at_once(turn: Turn) -> None:
    """End a live turn; whatever its worker is still told is not kept. Inside a transaction, its row locked."""
    Answer.objects.unfinished().filter(turn=turn).update(state=Answer.State.STOPPED)
    Turn.objects.filter(pk=turn.pk).update(fence=F("fence") + 1)
    _close_if_over(turn.pk)
    call_store.lose(turn, for_good=True)


@transaction.atomic
def hand_back(claimed: ClaimedTurn) -> None:
    """This process ends: the turn goes back into the queue and this attempt does not count against it."""
    turn = Turn.objects.held(claimed.turn_id, claimed.fence).select_for_update().first()
    if turn is not None:
        _requeue(Turn.objects.filter(pk=turn.pk), attempt=F("attempt") - 1)
        call_store.lose(turn)


def requeue_abandoned(turn_id: int) -> bool:
    """Back into the queue, due at once for the sweeper; False when somebody else was quicker."""
    return _requeue(Turn.objects.abandoned().filter(pk=turn_id)) == 1


def make_due(turn_id: int) -> None:
    """Have the sweeper wake a queued turn in its next round."""
    _requeue(Turn.objects.filter(pk=turn_id, state=Turn.State.QUEUED))


def _requeue(turns: TurnQuerySet, **changes: Any) -> int:
    due = Now() - timedelta(hours=1)
    return turns.update(state=Turn.State.QUEUED, lease_until=None, queued_at=due, **changes)


@transaction.atomic
def give_up(turn_id: int) -> Turn | None:
    """Fail what has no attempts left; None when somebody else was quicker."""
    turn = Turn.objects.abandoned().select_for_update(skip_locked=True).filter(pk=turn_id).first()
    if turn is None:
        return None
    Answer.objects.unfinished().filter(turn=turn).update(state=Answer.State.FAILED, error=FailureCode.INTERRUPTED)
    Turn.objects.filter(pk=turn.pk).update(fence=F("fence") + 1)
    _close_if_over(turn.pk)
    call_store.lose(turn, for_good=True)
    return turn


def renew_leases(held: list[ClaimedTurn]) -> dict[int, bool]:
    """Which of these turns are still ours, and whether a stop was asked for: {turn id: stop requested}."""
    mine = Q()
    for claimed in held:
        mine |= Q(pk=claimed.turn_id, fence=claimed.fence)
    kept = Turn.objects.filter(mine, state=Turn.State.ANSWERING)
    kept.update(lease_until=Now() + LEASE)
    return {pk: stop is not None for pk, stop in kept.values_list("pk", "stop_requested_at")}
