"""Payloads of battles: an allow-list, and the only source of battle data that leaves the server before the vote.

A blind battle, or one of a review, is revealed by its vote. Before that a payload has no name, id, token count, time or
upstream text of either side, and no reasoning, in which models mention themselves.
"""

from collections.abc import Iterable
from typing import cast

from django.conf import settings
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.actor import Actor
from accounts.open_streams import reader_fields
from battles.auto.payload_types import BattleDecisionPayload
from battles.auto.payloads import battle_decision_payload
from battles.models import NUMBERED_POSITIONS, Answer, Battle, Call, Position, Share, Side, Turn, Vote
from battles.models.turns import AttachedFile
from battles.payload_types import (
    AnswerPayload,
    AnswerState,
    AttachedFilePayload,
    BattlePayload,
    BattleState,
    Choice,
    CountedPayload,
    Mode,
    PublicPagePayload,
    SideName,
    SidePayload,
    TurnPayload,
    VotePayload,
)
from battles.streaming.protocol import DEFAULT_SIDES, Format, TurnToken
from common.text.money import plain_decimal
from models_registry.energy.estimates import energy_of_answer
from models_registry.health.failure_messages import failure_message
from models_registry.models import LanguageModel
from models_registry.payloads import model_summary

# The cause of a failure is hidden before the vote, because refusals differ between providers.
NEUTRAL_ERROR = "failed"
NEUTRAL_MESSAGE = _("This model could not answer.")
_POSITIONS = (*Position.values, *NUMBERED_POSITIONS)


def battle_payload(battle: Battle, *, stream_format: Format = "api", token: int | None = None) -> BattlePayload:
    """battle: from battles.queries, with related rows. token: Actor.token, whose loss ends the stream."""
    vote = battle.vote_or_none
    turns = list(battle.turns.all())
    sides = {side.pk: side for side in battle.sides.all()}
    live = next((turn for turn in turns if turn.is_live), None)
    is_revealed = not battle.hides_names
    payload: BattlePayload = {
        "id": battle.public_id,
        "session": battle.session.public_id,
        "mode": cast(Mode, battle.mode),
        "state": _state(battle, vote, live),
        "categories": list(vote.categories if vote is not None else battle.categories),
        "turns": [_turn_payload(turn, battle, sides, is_revealed=is_revealed) for turn in turns],
        "vote": _vote_payload(vote) if vote is not None else None,
        "sides": _side_payloads(sides.values()) if is_revealed else None,
        "stream_url": _stream_url(battle, live, stream_format, token),
        "can_vote": battle.accepts_vote and vote is None and live is None and not battle.is_void,
        "can_follow_up": live is None and not battle.is_void and not battle.is_review,
        "can_stop": live is not None and live.stop_requested_at is None,
        "can_regenerate": turns[-1].can_be_regenerated and (vote is None or turns[-1].after_vote),
        "can_publish": is_revealed and live is None and not battle.is_void and _is_publishable(battle),
        "hidden": battle.is_hidden,
        "consent": battle.has_consent,
        "consent_withdrawn_at": battle.consent_withdrawn_at,
        "share": share_payload(battle.share) if battle.share_or_none is not None else None,
        "decision": _decision_payload(battle, sides.values(), is_revealed=is_revealed),
        "created_at": battle.created_at,
    }
    return _without_text(payload) if battle.is_hidden else payload


def payload_for(actor: Actor, battle: Battle) -> BattlePayload:
    """battle: as battle_payload."""
    payload = battle_payload(battle, token=actor.token)
    return read_only(payload) if battle.session.is_left_by(actor, asks_guests=battle.is_review) else payload


def _is_publishable(battle: Battle) -> bool:
    return battle.session.team_id is None and not battle.is_review


def read_only(payload: BattlePayload) -> BattlePayload:
    """Return the payload without what its reader could do: of a hidden battle, or of one in a team that they left."""
    return {
        **payload,
        "turns": [{**turn, "is_live": False} for turn in payload["turns"]],
        "stream_url": None,
        "can_vote": False,
        "can_follow_up": False,
        "can_stop": False,
        "can_regenerate": False,
    }


def _without_text(payload: BattlePayload) -> BattlePayload:
    """Return a hidden battle's payload: no texts and no possible action."""
    vote = payload["vote"]
    return {
        **read_only(payload),
        "turns": [_without_turn_text(turn) for turn in payload["turns"]],
        "vote": None if vote is None else {**vote, "comment": ""},
        "can_publish": False,
    }


def _without_turn_text(turn: TurnPayload) -> TurnPayload:
    answers = [_without_answer_text(answer) for answer in turn["answers"]]
    return {**turn, "prompt": "", "attachments": [], "warnings": [], "is_live": False, "answers": answers}


def _without_answer_text(answer: AnswerPayload) -> AnswerPayload:
    payload: AnswerPayload = {**answer, "text": "", "html": ""}
    if "reasoning" in answer:
        payload["reasoning"] = ""
    return payload


def share_payload(share: Share) -> PublicPagePayload:
    return {
        "id": share.public_id,
        "url": share.get_absolute_url(),
        "turn_count": share.turn_count,
        "published_at": share.published_at,
        "listed": share.listed_at is not None,
    }


def _state(battle: Battle, vote: Vote | None, live: Turn | None) -> BattleState:
    if battle.is_void:
        return "void"
    if vote is not None:
        return "voted"
    if live is not None:
        return "answering"
    return "awaiting_vote" if battle.accepts_vote else "open"


def _stream_url(battle: Battle, live: Turn | None, stream_format: Format, token: int | None) -> str | None:
    if live is None:
        return None
    positions = DEFAULT_SIDES if battle.accepts_vote else [side.position for side in battle.sides.all()]
    permission = TurnToken(
        battle.public_id, live.index, stream_format, live.regenerated, positions,
        **reader_fields(battle.session.person, token, battle.session.team_id),
    )  # fmt: skip
    return reverse("battles:stream", args=[permission.signed()])


def _turn_payload(turn: Turn, battle: Battle, sides: dict[int, Side], *, is_revealed: bool) -> TurnPayload:
    return {
        "index": turn.index,
        "prompt": turn.prompt,
        "attachments": [_file_payload(file) for file in turn.attached],
        "after_vote": turn.after_vote,
        "is_live": turn.is_live,
        "is_failed_follow_up": turn.is_failed_follow_up,
        "context_from": turn.context_from,
        "warnings": [gettext(category) for category in turn.warnings],
        "answers": [
            _answer_payload(answer, sides[answer.side_id], turn, battle, is_revealed=is_revealed)
            for answer in turn.answers.all()
        ],
    }


def _file_payload(file: AttachedFile) -> AttachedFilePayload:
    return {
        "id": file["id"],
        "name": file["name"],
        "media_type": file["media_type"],
        "kind": file["kind"],
        "size": file["size"],
    }


def _answer_payload(answer: Answer, side: Side, turn: Turn, battle: Battle, *, is_revealed: bool) -> AnswerPayload:
    # A stored side reads as unfinished at equal pace: otherwise the faster one would be known.
    is_held_back = settings.ARENA_EQUAL_PACE and battle.is_blind and turn.is_live and not turn.regenerated
    is_unfinished = is_held_back or answer.state == Answer.State.QUEUED
    is_streaming = is_unfinished and turn.state == Turn.State.ANSWERING
    has_failed = answer.state == Answer.State.FAILED and not is_unfinished
    payload: AnswerPayload = {
        "side": cast(SideName, side.position),
        "state": "streaming" if is_streaming else "queued" if is_unfinished else cast(AnswerState, answer.state),
        "text": "" if is_unfinished else answer.text,
        "html": "" if is_unfinished else answer.html,
        "error": NEUTRAL_ERROR if has_failed else None,
        "error_message": str(NEUTRAL_MESSAGE) if has_failed else "",
    }
    if is_revealed:
        _add_revealed_fields(payload, answer, side.model, None if battle.is_review else answer.call)
    if battle.mode == Battle.Mode.COMPARE:
        payload["stars"] = answer.stars
    return payload


def _add_revealed_fields(payload: AnswerPayload, answer: Answer, model: LanguageModel, call: Call | None) -> None:
    """call: whose tokens, times and cost are the person's; of a review they are those of another's run."""
    payload |= {
        "id": answer.public_id,
        "error": answer.error or None,
        "error_message": failure_message(answer.error),
        "reasoning": answer.reasoning,
        "prompt_tokens": call.prompt_tokens if call else None,
        "completion_tokens": call.completion_tokens if call else None,
        "reasoning_tokens": call.reasoning_tokens if call else None,
        "cost": plain_decimal(call.cost) if call and call.cost is not None else None,
        "first_token_ms": call.first_token_ms if call else None,
        "total_ms": call.total_ms if call else None,
        "finish": (answer.call.finish_reason or None) if answer.call else None,
        "energy": energy_of_answer(model, call.completion_tokens, call.total_ms) if call else None,
    }


def _side_payloads(sides: Iterable[Side]) -> list[SidePayload]:
    in_order = sorted(sides, key=lambda side: _POSITIONS.index(side.position))
    return [{"side": cast(SideName, side.position), "model": model_summary(side.model)} for side in in_order]


def _decision_payload(battle: Battle, sides: Iterable[Side], *, is_revealed: bool) -> BattleDecisionPayload | None:
    decision = battle.decision_or_none
    if decision is None:
        return None
    fell_back = battle.mode == Battle.Mode.DIRECT and any(side.redrawn for side in sides)
    return battle_decision_payload(decision, is_revealed=is_revealed, fell_back=fell_back)


def _vote_payload(vote: Vote) -> VotePayload:
    return {
        "choice": cast(Choice, vote.choice),
        "tags": vote.tags,
        "comment": vote.comment,
        "created_at": vote.created_at,
        **counted_payload(vote),
    }


def counted_payload(vote: Vote) -> CountedPayload:
    """Show a vote under review as counted."""
    return {"counted": vote.counts, "excluded_reason": None if vote.counts else vote.excluded_reason}
