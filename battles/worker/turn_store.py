"""Database access of a turn being answered; each change checks the fencing token.

Order of locks in every transaction here and in call_store: turn, answers, sides and battle; providers (slots) by pk;
calls; charges by pk; spending days by account; breakers. A transaction passes through this list once, so closing
earlier calls and creating new ones are two transactions.
"""

from dataclasses import dataclass
from datetime import timedelta
from random import SystemRandom
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.db.models.functions import Now

from battles.models import Answer, Battle, RoutingDecision, Side, Turn, TurnQuerySet
from battles.prompting.attachments import load_attachment_contents
from battles.prompting.lineup import Filters, ModelRequirements, draw_opponent
from battles.prompting.messages import (
    AttachmentContent,
    content_length,
    first_turn_in_context,
    messages_for,
    remembered_turns,
    turn_content,
)
from battles.prompting.pairing import Pair
from battles.queries import get_sides_with_prices
from battles.text.self_identification import leaks_identity
from battles.worker import call_store
from battles.worker.call_store import CallResult, PlannedCall, PreparedCall
from common.prepared import PreparedQuery
from models_registry.models import LanguageModel
from models_registry.providers import FailureCode

LEASE = timedelta(seconds=10)
MAX_ATTEMPTS = 2
_random = SystemRandom()

_held = PreparedQuery(lambda pk, fence: Turn.objects.held(pk, fence).only("pk").select_for_update(), int, int)
_unfinished = PreparedQuery(
    lambda turn: Answer.objects.unfinished().filter(turn=turn).select_related("charge__price"), int
)
_answers_of = PreparedQuery(lambda turn: Answer.objects.filter(turn=turn).only("state", "text"), int)


class LeaseLost(Exception):
    """Raised when the fencing token no longer matches: another worker owns the turn."""


@dataclass(frozen=True)
class ClaimedTurn:
    turn_id: int
    fence: int
    attempt: int
    index: int
    regenerated: bool
    battle_public_id: str
    is_blind: bool
    stop_requested: bool


def claim_turn(turn_id: int) -> ClaimedTurn | None:
    """Claim a queued turn; None if it is not claimable."""
    turn = Turn.objects.claim(turn_id, lease=LEASE, max_attempts=MAX_ATTEMPTS)
    return None if turn is None else _claimed_turn(turn)


@transaction.atomic
def claim_and_start(turn_id: int) -> tuple[ClaimedTurn, list[PreparedCall] | None] | None:
    """Claim the turn; on its first claim also create its calls. None if not claimable."""
    turn = Turn.objects.claim(turn_id, lease=LEASE, max_attempts=MAX_ATTEMPTS)
    if turn is None:
        return None
    claimed = _claimed_turn(turn)
    return claimed, _start_sides(claimed, turn) if turn.fence == 1 else None


def _claimed_turn(turn: Turn) -> ClaimedTurn:
    return ClaimedTurn(
        turn_id=turn.pk, fence=turn.fence, attempt=turn.attempt, index=turn.index, regenerated=turn.regenerated,
        battle_public_id=turn.battle.public_id, is_blind=turn.battle.is_blind,
        stop_requested=turn.stop_requested_at is not None,
    )  # fmt: skip


def _lock_turn(claimed: ClaimedTurn) -> None:
    """Lock the turn's row. Raises LeaseLost."""
    if not _held(claimed.turn_id, claimed.fence):
        raise LeaseLost


def _lock_turn_with_battle(claimed: ClaimedTurn) -> Turn:
    """Return the locked turn with battle and session. Raises LeaseLost."""
    held = Turn.objects.held(claimed.turn_id, claimed.fence).with_attachments().select_related("battle__session")
    turn = held.select_for_update(of=("self",)).first()
    if turn is None:
        raise LeaseLost
    return turn


def begin_calls(claimed: ClaimedTurn) -> list[PreparedCall]:
    """Create a call for each side without an answer. Raises LeaseLost."""
    if claimed.fence > 1:
        with transaction.atomic():  # of its own: see the order of locks
            call_store.mark_lost(_lock_turn_with_battle(claimed))
    with transaction.atomic():
        return _start_sides(claimed, _lock_turn_with_battle(claimed))


def _start_sides(claimed: ClaimedTurn, turn: Turn) -> list[PreparedCall]:
    turns = [*Turn.objects.before(turn), turn] if turn.index else [turn]
    sides = get_sides_with_prices(turn.battle_id)
    contents = load_attachment_contents(turns, with_images=True)
    context_from = first_turn_in_context(sides, turns, reply_tokens=settings.ARENA_MAX_TOKENS, contents=contents)
    if context_from != turn.context_from:
        turn.context_from = context_from
        turn.save(update_fields=["context_from"])
    answers = {answer.side_id: answer for answer in _unfinished(turn.pk)}
    if not answers:  # an earlier claim stored them all and did not close the turn
        _close_if_finished(turn.pk)
    unanswered = {answers[side.pk]: side for side in sides if side.pk in answers}
    return _create_calls(claimed, turn, turns, unanswered, contents)


def _create_calls(
    claimed: ClaimedTurn,
    turn: Turn,
    turns: list[Turn],
    sides: dict[Answer, Side],
    contents: dict[str, AttachmentContent],
) -> list[PreparedCall]:
    planned = [
        PlannedCall(
            model=side.model,
            messages=messages_for(side, turns, context_from=turn.context_from, contents=contents),
            answer=answer, side=side.position,
            turns=[
                *(earlier.index for earlier in remembered_turns(side, turns, context_from=turn.context_from)),
                turn.index,
            ],
        )
        for answer, side in sides.items()
    ]  # fmt: skip
    person = turn.battle.session.person
    return call_store.create_calls(planned, person=person, attempt=claimed.attempt, fence=claimed.fence)


@transaction.atomic
def acquire_slot(claimed: ClaimedTurn, call: PreparedCall) -> bool:
    """Raises LeaseLost."""
    _lock_turn_with_battle(claimed)
    return call_store.acquire_slot(call)


def redraw(claimed: ClaimedTurn, failed: PreparedCall, result: CallResult) -> PreparedCall | None:
    """Close the failed call and create one to another model drawn for its side. Raises LeaseLost.

    None if a person chose the model, if the side was redrawn before or if no model fits.
    """
    with transaction.atomic():  # of its own: see the order of locks
        _lock_turn_with_battle(claimed)
        call_store.close(failed, result)
    with transaction.atomic():
        turn = _lock_turn_with_battle(claimed)
        answer = Answer.objects.select_related("side", "charge").get(pk=failed.answer_id)
        side, battle = answer.side, turn.battle
        if side.redrawn or side.chosen:
            return None
        contents = load_attachment_contents([turn], with_images=True)
        requirements = ModelRequirements(
            battle.needs_images, content_length(turn_content(turn, contents)) if contents else 0
        )
        redrawn = _draw_another(battle, side, requirements)
        if redrawn is None:
            return None
        Side.objects.filter(pk=side.pk).update(model_id=redrawn.right, redrawn=True)
        Battle.objects.filter(pk=battle.pk).update(propensity=redrawn.propensity)
        side = next(fresh for fresh in get_sides_with_prices(battle.pk) if fresh.pk == side.pk)
        return _create_calls(claimed, turn, [turn], {answer: side}, contents)[0]


def _draw_another(battle: Battle, side: Side, requirements: ModelRequirements) -> Pair | None:
    """Draw a model (`right`) for the side; in a chat of auto mode take the next one that it considered."""
    considered = _considered_by_auto_mode(battle)
    opponent = battle.sides.exclude(pk=side.pk).select_related("model").first()
    if opponent is None:
        drawable = {model.slug: model.pk for model in LanguageModel.objects.drawable()}
        others = (drawable[slug] for slug in considered if slug in drawable and drawable[slug] != side.model_id)
        return next((Pair(side.model_id, model, 1.0) for model in others), None)
    filters = Filters(**battle.filters)
    return draw_opponent(
        staying=opponent.model,
        leaving=side.model_id,
        random=_random,
        is_eligible=lambda model: (
            filters.matches(model) and requirements.are_met_by(model) and (not considered or model.slug in considered)
        ),
    )


def _considered_by_auto_mode(battle: Battle) -> list[str]:
    """Return slugs of the models that could be chosen, by utility; empty for another battle."""
    decision = RoutingDecision.objects.filter(battle=battle).only("candidates").first()
    return [] if decision is None else [found["model"] for found in decision.candidates if not found["reason_out"]]


@transaction.atomic
def store_answer(
    claimed: ClaimedTurn, call: PreparedCall, result: CallResult, *, closes_turn: bool = True
) -> Answer.State:
    """Store a side's answer and close its call; with the last side close the turn. Raises LeaseLost."""
    _lock_turn(claimed)
    text = "".join(result.texts)
    state = Answer.State.FAILED if result.error else Answer.State.STOPPED if result.stopped else Answer.State.DONE
    Answer.objects.filter(pk=call.answer_id).update(
        state=state, text=text, html=result.html, reasoning="".join(result.reasonings),
        error=result.error or "", call_id=call.row.pk, **({"leaks_identity": True} if _has_leak(text, call) else {}),
    )  # fmt: skip
    if closes_turn:
        _close_if_finished(claimed.turn_id)
    call_store.close(call, result)
    return state


@transaction.atomic
def close_turn(claimed: ClaimedTurn) -> None:
    """Raises LeaseLost."""
    _lock_turn(claimed)
    _close_if_finished(claimed.turn_id)


def _has_leak(text: str, call: PreparedCall) -> bool:
    model = call.row.model
    names = [model.name, *model.aliases]
    if not model.upstream_name.isalpha():  # a plain word would match ordinary text
        names.append(model.upstream_name)
    return leaks_identity(text, names=names, organization=model.organization)


def _close_if_finished(turn_id: int) -> None:
    """Close a locked turn whose sides are all stored; void a battle whose first turn cannot be judged."""
    answers = _answers_of(turn_id)
    if any(answer.state == Answer.State.QUEUED for answer in answers):
        return
    Turn.objects.filter(pk=turn_id).update(state=Turn.State.DONE, finished_at=Now(), lease_until=None)
    if not all(answer.can_be_judged for answer in answers):
        first = Battle.objects.filter(turns=turn_id, turns__index=0, voided_at=None)
        if any(answer.can_be_judged for answer in answers):  # enough in modes without a vote
            first = first.filter(mode__in=Battle.VOTED_MODES)
        first.update(voided_at=Now())


def end_at_once(turn: Turn, *, state: Answer.State = Answer.State.STOPPED, error: str = "") -> None:
    """End a locked turn's unfinished sides with this state, revoke the claim and close the turn."""
    Answer.objects.unfinished().filter(turn=turn).update(state=state, error=error)
    Turn.objects.filter(pk=turn.pk).update(fence=F("fence") + 1)
    _close_if_finished(turn.pk)
    call_store.mark_lost(turn, is_final=True)


@transaction.atomic
def release(claimed: ClaimedTurn) -> None:
    """Requeue a claimed turn without counting the attempt."""
    turn = Turn.objects.held(claimed.turn_id, claimed.fence).select_for_update().first()
    if turn is not None:
        _requeue(Turn.objects.filter(pk=turn.pk), attempt=F("attempt") - 1)
        call_store.mark_lost(turn)


def requeue_expired(turn_id: int) -> bool:
    """Return False if another process did."""
    return _requeue(Turn.objects.abandoned().filter(pk=turn_id)) == 1


def make_due(turn_id: int) -> None:
    """Let the sweeper's next round wake a queued turn."""
    _requeue(Turn.objects.filter(pk=turn_id, state=Turn.State.QUEUED))


def _requeue(turns: TurnQuerySet, **changes: Any) -> int:
    due = Now() - timedelta(hours=1)
    return turns.update(state=Turn.State.QUEUED, lease_until=None, queued_at=due, **changes)


@transaction.atomic
def fail_expired(turn_id: int) -> Turn | None:
    """Fail a turn without attempts left; None if another process did."""
    turn = Turn.objects.abandoned().select_for_update(skip_locked=True).filter(pk=turn_id).first()
    if turn is not None:
        end_at_once(turn, state=Answer.State.FAILED, error=FailureCode.INTERRUPTED)
    return turn


def renew_leases(claims: list[ClaimedTurn]) -> dict[int, bool]:
    """Return {turn id: stop requested} for the claims that still hold."""
    claimed_turns = Q()
    for claimed in claims:
        claimed_turns |= Q(pk=claimed.turn_id, fence=claimed.fence)
    Turn.objects.filter(claimed_turns, state=Turn.State.ANSWERING).update(lease_until=Now() + LEASE)
    # A turn that was just closed is still held: cancelling its task would lose its `end`.
    held = Turn.objects.filter(claimed_turns, state__in=[Turn.State.ANSWERING, Turn.State.DONE])
    return {pk: stop is not None for pk, stop in held.values_list("pk", "stop_requested_at")}
