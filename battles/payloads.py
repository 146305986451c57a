"""What a person may see of a battle. Everything that leaves before the vote is made here, from an allow-list.

Revealed is: a vote exists, or the battle never was blind. Until then no name, id, count, time or upstream word of
either side is sent, and no reasoning: only few providers show any, and in it models speak of themselves and of their
makers' rules.
"""

from typing import cast

from django.conf import settings
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from battles.models import NUMBERED_POSITIONS, Answer, Battle, Position, Share, Side, Turn, Vote
from battles.models.turns import AttachedFile
from battles.payload_types import (
    AnswerPayload,
    AnswerState,
    AttachedFilePayload,
    BattlePayload,
    BattleState,
    Choice,
    Mode,
    PublicPagePayload,
    SideName,
    SidePayload,
    TurnPayload,
    VotePayload,
)
from battles.streaming.protocol import DEFAULT_SIDES, Format, StreamToken, sign
from common.text.money import plain_decimal
from common.valkey.stream_slots import person_hash
from models_registry.health.failure_messages import failure_message
from models_registry.payloads import model_summary

# Before the vote a failed side says nothing about why: refusals differ between providers.
NEUTRAL_ERROR = "failed"
NEUTRAL_MESSAGE = _("This model could not answer.")
_PLACES = (*Position.values, *NUMBERED_POSITIONS)


def shown_battle(battle: Battle, *, stream_format: Format = "api") -> BattlePayload:
    """The Battle of the API contract, from battles.queries. The page prints the same, plus links."""
    vote = battle.vote_or_none
    turns = list(battle.turns.all())
    sides = {side.pk: side for side in battle.sides.all()}
    live = next((turn for turn in turns if turn.is_live), None)
    is_revealed = vote is not None or not battle.is_blind
    shown: BattlePayload = {
        "id": battle.public_id,
        "session": battle.session.public_id,
        "mode": cast(Mode, battle.mode),
        "state": _state(battle, vote, live),
        "categories": list(vote.categories if vote is not None else battle.categories),
        "turns": [_turn(turn, battle, sides, is_revealed=is_revealed) for turn in turns],
        "vote": _vote(vote) if vote is not None else None,
        "sides": [_side(side) for side in _in_order(sides)] if is_revealed else None,
        "stream_url": _stream_url(battle, live, stream_format),
        "can_vote": battle.accepts_vote and vote is None and live is None and not battle.is_void,
        "can_follow_up": live is None and not battle.is_void,
        "can_stop": live is not None and live.stop_requested_at is None,
        "can_regenerate": turns[-1].can_be_regenerated and (vote is None or turns[-1].after_vote),
        "can_publish": is_revealed and live is None and not battle.is_void,
        "hidden": battle.is_hidden,
        "consent": battle.has_consent,
        "consent_withdrawn_at": battle.consent_withdrawn_at,
        "share": shown_share(battle.share) if battle.share_or_none is not None else None,
        "created_at": battle.created_at,
    }
    return _without_text(shown) if battle.is_hidden else shown


def _without_text(shown: BattlePayload) -> BattlePayload:
    """Of a battle that a moderator hid, there is what was decided in it, and nothing to do."""
    vote = shown["vote"]
    return {
        **shown,
        "turns": [_silenced(turn) for turn in shown["turns"]],
        "vote": None if vote is None else {**vote, "comment": ""},
        "stream_url": None,
        "can_vote": False,
        "can_follow_up": False,
        "can_stop": False,
        "can_regenerate": False,
        "can_publish": False,
    }


def _silenced(turn: TurnPayload) -> TurnPayload:
    answers = [_emptied(answer) for answer in turn["answers"]]
    return {**turn, "prompt": "", "attachments": [], "warnings": [], "is_live": False, "answers": answers}


def _emptied(answer: AnswerPayload) -> AnswerPayload:
    emptied: AnswerPayload = {**answer, "text": "", "html": ""}
    if "reasoning" in answer:
        emptied["reasoning"] = ""
    return emptied


def shown_share(share: Share) -> PublicPagePayload:
    return {
        "id": share.public_id,
        "url": share.get_absolute_url(),
        "turn_count": share.turn_count,
        "published_at": share.published_at,
    }


def _state(battle: Battle, vote: Vote | None, live: Turn | None) -> BattleState:
    if battle.is_void:
        return "void"
    if vote is not None:
        return "voted"
    if live is not None:
        return "answering"
    return "awaiting_vote" if battle.accepts_vote else "open"


def _stream_url(battle: Battle, live: Turn | None, stream_format: Format) -> str | None:
    if live is None:
        return None
    places = DEFAULT_SIDES if battle.accepts_vote else [side.position for side in battle.sides.all()]
    person = person_hash(battle.session.person)
    token = StreamToken(battle.public_id, live.index, stream_format, live.round, places, person)
    return reverse("battles:stream", args=[sign(token)])


def _turn(turn: Turn, battle: Battle, sides: dict[int, Side], *, is_revealed: bool) -> TurnPayload:
    return {
        "index": turn.index,
        "prompt": turn.prompt,
        "attachments": [_file(file) for file in turn.attached],
        "after_vote": turn.after_vote,
        "is_live": turn.is_live,
        "is_failed_follow_up": turn.is_failed_follow_up,
        "context_from": turn.context_from,
        "warnings": [gettext(category) for category in turn.warnings],
        "answers": [
            _answer(answer, sides[answer.side_id].position, turn, battle, is_revealed=is_revealed)
            for answer in turn.answers.all()
        ],
    }


def _file(file: AttachedFile) -> AttachedFilePayload:
    return {
        "id": file["id"],
        "name": file["name"],
        "media_type": file["media_type"],
        "kind": file["kind"],
        "size": file["size"],
    }


def _answer(answer: Answer, position: str, turn: Turn, battle: Battle, *, is_revealed: bool) -> AnswerPayload:
    # With equal pace a side that is stored already is shown as the other one: which was quicker stays unknown.
    is_held_back = settings.ARENA_EQUAL_PACE and battle.is_blind and turn.is_live and not turn.round
    is_unfinished = is_held_back or answer.state == Answer.State.QUEUED
    is_streaming = is_unfinished and turn.state == Turn.State.ANSWERING
    has_failed = answer.state == Answer.State.FAILED and not is_unfinished
    shown: AnswerPayload = {
        "side": cast(SideName, position),
        "state": "streaming" if is_streaming else "queued" if is_unfinished else cast(AnswerState, answer.state),
        "text": "" if is_unfinished else answer.text,
        "html": "" if is_unfinished else answer.html,
        "error": NEUTRAL_ERROR if has_failed else None,
        "error_message": str(NEUTRAL_MESSAGE) if has_failed else "",
    }
    if is_revealed:
        _add_numbers(shown, answer)
    if battle.mode == Battle.Mode.COMPARE:
        shown["stars"] = answer.stars
    return shown


def _add_numbers(shown: AnswerPayload, answer: Answer) -> None:
    call = answer.call
    shown |= {
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
        "finish": (call.finish_reason or None) if call else None,
    }


def _side(side: Side) -> SidePayload:
    return {"side": cast(SideName, side.position), "model": model_summary(side.model)}


def _in_order(sides: dict[int, Side]) -> list[Side]:
    return sorted(sides.values(), key=lambda side: _PLACES.index(side.position))


def _vote(vote: Vote) -> VotePayload:
    return {
        "choice": cast(Choice, vote.choice),
        "tags": vote.tags,
        "comment": vote.comment,
        "created_at": vote.created_at,
        "counted": vote.counts,
        # A vote under anomaly review reads as counted.
        "excluded_reason": None if vote.counts else vote.excluded_reason,
    }
