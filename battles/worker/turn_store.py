"""Database access of turns being answered.

A worker's changes check the fencing token; those of sweeps and actions check the state.
"""

# Order of locks in every transaction here and in call_store: turns by pk, their answers, ended calls, sides and
# battles; providers (slots) by pk; new calls; charges by pk; spending days by account; breakers by pk. A transaction
# passes through this list once, so closing earlier calls and creating new ones are two transactions.

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from random import SystemRandom
from typing import Any, NamedTuple

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Exists, F, OuterRef
from django.db.models.functions import Now
from django.utils.safestring import SafeString

from battles.calls import store
from battles.calls.store import StoredAnswer
from battles.calls.values import CallResult, PlannedCall, PreparedCall
from battles.models import Answer, Attachment, Battle, RoutingDecision, Side, Turn, TurnQuerySet
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
from battles.queries import set_prices
from battles.sql import read_sql
from battles.text.self_identification import leaks_identity
from battles.worker import answer_states
from common.prepared import PreparedQuery, any_of
from models_registry.models import Breaker, LanguageModel
from models_registry.providers import FailureCode

LEASE = timedelta(seconds=10)
MAX_ATTEMPTS = 2
_random = SystemRandom()

_lock_turns = PreparedQuery(
    lambda turn_ids: (
        Turn.objects.filter(any_of("id", turn_ids), state=Turn.State.ANSWERING)
        .annotate(has_failing_models=Exists(Breaker.objects.reset_by_answers()))
        .only("fence")
        .order_by("pk")
        .select_for_update(of=("self",))
    ),
    list,
)
_answers_of_turns = PreparedQuery(
    lambda turn_ids: (
        Answer.objects.filter(any_of("turn_id", turn_ids))
        .select_related("turn__battle__session", "side__model__provider", "charge__price")
        .annotate(attached=Attachment.facts_of(OuterRef("turn")))
        .in_order()
    ),
    list,
)


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
    mode: str = ""
    origin: str = ""
    trace: str = ""  # traceparent of the request, or ""
    queued_since: datetime | None = None  # of a first attempt


@transaction.atomic
def claim_and_start(turn_ids: Sequence[int]) -> list[tuple[ClaimedTurn, list[PreparedCall] | None]]:
    """Claim the queued ones of these turns, with calls on a turn's first claim, otherwise None."""
    ids = Turn.objects.claim(turn_ids, lease=LEASE, max_attempts=MAX_ATTEMPTS)
    if not ids:
        return []
    claimed, planned = {}, []
    for turn, answers in _with_answers(ids):
        claimed[turn.pk] = _claimed_turn(turn)
        if turn.fence == 1:
            planned += _plan_calls(claimed[turn.pk], turn, answers)
    calls = store.create_calls(planned)
    return [
        (turn, [call for call in calls if call.turn_id == turn.turn_id] if turn.fence == 1 else None)
        for turn in claimed.values()
    ]


def _claimed_turn(turn: Turn) -> ClaimedTurn:
    return ClaimedTurn(
        turn_id=turn.pk, fence=turn.fence, attempt=turn.attempt, index=turn.index, regenerated=turn.regenerated,
        battle_public_id=turn.battle.public_id, is_blind=turn.battle.is_blind,
        stop_requested=turn.stop_requested_at is not None, mode=turn.battle.mode, origin=turn.battle.origin,
        trace=turn.trace, queued_since=turn.created_at if turn.fence == 1 else None,
    )  # fmt: skip


def _lock_turn(claimed: ClaimedTurn) -> None:
    """Lock the turn's row. Raises LeaseLost."""
    if [turn.fence for turn in _lock_turns([claimed.turn_id])] != [claimed.fence]:
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
            store.mark_lost(_lock_turn_with_battle(claimed))
    with transaction.atomic():
        return _start_sides(claimed, _lock_turn_with_battle(claimed))


def _with_answers(turn_ids: list[int]) -> list[tuple[Turn, list[Answer]]]:
    """Return turns with battle, session and attachments, and all that calls need of their answers."""
    answers = _answers_of_turns(turn_ids)
    set_prices([answer.side for answer in answers])
    return [(turn, list(group)) for turn, group in groupby(answers, key=_turn_of)]


def _turn_of(answer: Answer) -> Turn:
    answer.turn.attached = answer.attached  # type: ignore[attr-defined]
    return answer.turn


def _start_sides(claimed: ClaimedTurn, turn: Turn) -> list[PreparedCall]:
    [(_, answers)] = _with_answers([turn.pk])
    if not any(answer.state == Answer.State.QUEUED for answer in answers):
        # An earlier claim stored them all and did not close the turn.
        if turn.stop_requested_at is not None and any(answer.state == Answer.State.STOPPED for answer in answers):
            _end_alike(turn, state=Answer.State.STOPPED)
        close_finished([turn.pk])
    return store.create_calls(_plan_calls(claimed, turn, answers))


def _plan_calls(claimed: ClaimedTurn, turn: Turn, answers: Sequence[Answer]) -> list[PlannedCall]:
    """answers: of all sides, as _with_answers."""
    turns = [*Turn.objects.before(turn), turn] if turn.index else [turn]
    contents = load_attachment_contents(turns, with_images=True)
    sides = [answer.side for answer in answers]
    context_from = first_turn_in_context(sides, turns, reply_tokens=settings.ARENA_MAX_TOKENS, contents=contents)
    if context_from != turn.context_from:
        turn.context_from = context_from
        turn.save(update_fields=["context_from"])
    unfinished = [answer for answer in answers if answer.state == Answer.State.QUEUED]
    return [_plan_call(claimed, turn, turns, answer, contents) for answer in unfinished]


def _plan_call(
    claimed: ClaimedTurn, turn: Turn, turns: list[Turn], answer: Answer, contents: dict[str, AttachmentContent]
) -> PlannedCall:
    side, battle = answer.side, turn.battle
    remembered = remembered_turns(side, turns, context_from=turn.context_from)
    messages = messages_for(side, turns, context_from=turn.context_from, contents=contents)
    return PlannedCall(
        model=side.model,
        messages=answer_states.with_states(messages, side, remembered),
        answer=answer, side=side.position,
        turns=[*(earlier.index for earlier in remembered), turn.index],
        person=battle.session.person, team_id=battle.session.team_id,
        is_quoted=battle.is_blind and not turn.after_vote, attempt=claimed.attempt, fence=claimed.fence,
        hides_model=claimed.is_blind, conversation=f"battle:{turn.battle_id}",
    )  # fmt: skip


@transaction.atomic
def acquire_slot(claimed: ClaimedTurn, call: PreparedCall) -> bool:
    """Raises LeaseLost."""
    _lock_turn_with_battle(claimed)
    return store.acquire_slot(call)


def redraw(claimed: ClaimedTurn, failed: PreparedCall, result: CallResult) -> PreparedCall | None:
    """Close the failed call and create one to another model drawn for its side. Raises LeaseLost.

    None if a person chose the model, if the side was redrawn before or if no model fits.
    """
    with transaction.atomic():  # of its own: see the order of locks
        _lock_turn_with_battle(claimed)
        store.close(failed, result)
    with transaction.atomic():
        turn = _lock_turn_with_battle(claimed)
        answer = Answer.objects.select_related("side").get(pk=failed.answer_id)
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
        [(_, answers)] = _with_answers([turn.pk])
        answer = next(fresh for fresh in answers if fresh.pk == answer.pk)
        [call] = store.create_calls([_plan_call(claimed, turn, [turn], answer, contents)])
        return call


def _draw_another(battle: Battle, side: Side, requirements: ModelRequirements) -> Pair | None:
    """Draw a model (`right`) for the side; in a chat of auto mode take the next one that it considered."""
    considered = _considered_by_auto_mode(battle)
    opponent = battle.sides.exclude(pk=side.pk).select_related("model").first()
    if opponent is None:
        models = LanguageModel.objects.in_place(battle.session.team_id).drawable()
        drawable = {model.full_slug: model.pk for model in models}
        others = (drawable[slug] for slug in considered if slug in drawable and drawable[slug] != side.model_id)
        return next((Pair(side.model_id, model, 1.0) for model in others), None)
    filters = Filters(**battle.filters)
    return draw_opponent(
        staying=opponent.model,
        leaving=side.model_id,
        random=_random,
        is_eligible=lambda model: (
            filters.matches(model)
            and requirements.are_met_by(model)
            and (not considered or model.full_slug in considered)
        ),
        team_id=battle.session.team_id,
    )


def _considered_by_auto_mode(battle: Battle) -> list[str]:
    """Return slugs by utility; empty for another battle."""
    decision = RoutingDecision.objects.filter(battle=battle).only("candidates").first()
    candidates = [] if decision is None else decision.candidates
    return [candidate["model"] for candidate in candidates if not candidate["reason_out"]]


@dataclass(frozen=True)
class EndedSide:
    claimed: ClaimedTurn
    call: PreparedCall
    result: CallResult
    closes_turn: bool = True

    @property
    def state(self) -> Answer.State:
        if self.result.error:
            return Answer.State.FAILED
        return Answer.State.STOPPED if self.result.stopped else Answer.State.DONE

    @property
    def answer(self) -> StoredAnswer:
        text = "".join(self.result.texts)
        return {
            "answer_id": self.call.answer_id, "answer_state": self.state, "answer_error": self.result.error or "",
            "text": text, "html": str.__str__(self.result.html), "reasoning": "".join(self.result.reasonings),
            "leaks_identity": names_its_model(text, self.call.row.model),
        }  # fmt: skip


@transaction.atomic
def store_answers(ended: Sequence[EndedSide]) -> list[Answer.State | None]:
    """Store answers, close their calls, and the turns whose last sides these are.

    Return each side's state, None if its turn's lease is lost. A failure is stored alone.
    """
    locked = _lock_turns([side.claimed.turn_id for side in ended])
    fences = {turn.pk: turn.fence for turn in locked}
    held = [side for side in ended if fences.get(side.claimed.turn_id) == side.claimed.fence]
    if held:
        stored = [(side.call, side.result, side.answer) for side in held]
        closed = store.store_calls_of_answers(stored)
        answer_states.store([(side.call.answer_id, side.call.row.model, side.result) for side in held])
        close_finished([side.claimed.turn_id for side in held if side.closes_turn])
        store.settle(closed)
        if any(side.result.error for side in held) or locked[0].has_failing_models:  # type: ignore[attr-defined]
            store.record_outcomes(closed)
    return [side.state if side in held else None for side in ended]


@transaction.atomic
def close_turn(claimed: ClaimedTurn) -> None:
    """Raises LeaseLost."""
    _lock_turn(claimed)
    close_finished([claimed.turn_id])


class ShownAnswer(NamedTuple):
    answer_id: int
    text: str
    html: SafeString


def stored_texts(claimed: ClaimedTurn) -> dict[int, str]:
    return dict(Answer.objects.filter(turn=claimed.turn_id).values_list("pk", "text"))


@transaction.atomic
def close_as_shown(claimed: ClaimedTurn, shown: Sequence[ShownAnswer]) -> None:
    """Raises LeaseLost."""
    _lock_turn(claimed)
    for answer_id, text, html in shown:
        Answer.objects.filter(pk=answer_id).update(state=Answer.State.STOPPED, error="", text=text, html=html)
    close_finished([claimed.turn_id])


def names_its_model(text: str, model: LanguageModel) -> bool:
    names = [model.name, *model.aliases]
    if not model.upstream_name.isalpha():  # a plain word would match ordinary text
        names.append(model.upstream_name)
    return leaks_identity(text, names=names, organization=model.organization)


def close_finished(turn_ids: list[int]) -> None:
    """Close locked turns whose sides are all stored; void battles whose first turn cannot be judged."""
    if turn_ids:
        with connection.cursor() as cursor:
            cursor.execute(read_sql("close_turns.sql"), {"ids": turn_ids, "voted_modes": list(Battle.VOTED_MODES)})


def end_at_once(turn: Turn, *, state: Answer.State = Answer.State.STOPPED, error: str = "") -> None:
    """End a locked turn's unfinished sides with this state, revoke the claim and close the turn."""
    if Answer.objects.unfinished().filter(turn=turn).update(state=state, error=error):
        _end_alike(turn, state=state, error=error)
    Turn.objects.filter(pk=turn.pk).update(fence=F("fence") + 1)
    close_finished([turn.pk])
    store.mark_lost(turn, is_final=True)


def _end_alike(turn: Turn, *, state: Answer.State, error: str = "") -> None:
    """Empty all answers of a turn at equal pace that ends early: a stored one would be the faster model's."""
    if settings.ARENA_EQUAL_PACE and turn.battle.is_blind and not turn.regenerated:
        Answer.objects.filter(turn=turn).update(state=state, error=error, text="", html="")


@transaction.atomic
def release(claimed: ClaimedTurn) -> None:
    """Requeue a claimed turn without counting the attempt."""
    turn = Turn.objects.held(claimed.turn_id, claimed.fence).select_for_update().first()
    if turn is not None:
        _requeue(Turn.objects.filter(pk=turn.pk), attempt=F("attempt") - 1)
        store.mark_lost(turn)


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


def renew_leases(claims: Sequence[ClaimedTurn]) -> dict[int, bool]:
    """Return {turn id: stop requested} for the claims that still hold."""
    ids, fences = [claimed.turn_id for claimed in claims], [claimed.fence for claimed in claims]
    with connection.cursor() as cursor:
        cursor.execute(read_sql("renew_leases.sql"), {"ids": ids, "fences": fences, "lease_s": LEASE.total_seconds()})
        return dict(cursor.fetchall())
