"""Stored battles that programs start; docs/gateway.md."""

import asyncio
import time

from django.utils.translation import gettext_lazy as _

from battles.actions import start_session
from battles.auto.options import AutoOptions
from battles.models import Answer, Turn
from battles.prompting.lineup import BattleRequest
from battles.prompting.messages import CHARACTERS_PER_TOKEN
from common.conversation.errors import BadField
from common.errors import NotAllowed
from common.late_response import in_thread, in_thread_with_retry, once
from gateway.answers.candidates import AUTO_MODELS, dial_of
from gateway.answers.failures import RETRY_AFTER_S
from gateway.answers.idempotency import Claim
from gateway.answers.responses import CompletionResponse, Content, set_dropped
from gateway.answers.slots import RequestSlot
from gateway.authentication import Caller
from gateway.doors.port import Door, Head
from gateway.errors import ModelsFailed
from gateway.models import Exchange
from gateway.parsing.chat import ChatBody
from gateway.payload_types import UsagePayload

BATTLE = "battle"
# Exponential backoff between queries for the finished turn.
FIRST_BACKOFF_S, MAX_BACKOFF_S = 0.2, 2.0
# Both answers must be complete by then; the wait in the queue counts.
MAX_WAIT_S = 600.0


class TextsNotKept(NotAllowed):
    code = "texts_not_kept"
    message = _("A battle is stored: make a token that keeps texts.")


def is_battle(chat: ChatBody, caller: Caller) -> bool:
    """Return whether the answer is a stored battle. Raises TextsNotKept and BadField."""
    if chat.model != BATTLE:
        may_be_battle = chat.model in AUTO_MODELS and chat.allow_battle and caller.token.keeps_texts
        return may_be_battle and chat.is_single_prompt
    if not caller.token.keeps_texts:
        raise TextsNotKept
    if chat.n == 1:
        raise BadField("The model “battle” gives two choices.", "n")
    if not chat.is_single_prompt:
        raise BadField(
            "The model “battle” takes one text of the user, without tools, formats and logprobs.", "messages"
        )
    return True


def open_battle(caller: Caller, chat: ChatBody, door: Door, slot: RequestSlot, claim: Claim | None) -> "BattleAnswer":
    """Start a battle, or what auto mode decides, unless the claim has one. Raises as battles.actions.start_session."""
    exchange = claim.exchange if claim is not None else None
    if exchange is None:
        caller.actor.count("gateway", fail_open=True)
        exchange = _start(caller, chat)
        if claim is not None:
            claim.store_battle(exchange)
    response = BattleAnswer(caller, chat, exchange, door, slot, claim)
    set_dropped(response, [*chat.dropped, *chat.parameters, *chat.others])
    return response


def _start(caller: Caller, chat: ChatBody) -> Exchange:
    auto = None
    if chat.model in AUTO_MODELS:
        auto = AutoOptions(context=chat.context, dial=dial_of(chat), max_cost=chat.max_cost)
    battle = start_session(
        actor=caller.actor, place=caller.actor.place, prompt=chat.conversation.prompts[0],
        battle_request=BattleRequest(auto=auto),
    )  # fmt: skip
    return Exchange.objects.create(
        user=caller.actor.user, token=caller.token, team_id=caller.actor.place_id, asked_model=chat.model,
        is_stream=chat.is_stream, battle=battle,
    )  # fmt: skip


class BattleAnswer(CompletionResponse):
    """Unlabelled choices, all at once when both are complete: neither their pace nor their order tells models apart."""

    def __init__(
        self,
        caller: Caller,
        chat: ChatBody,
        exchange: Exchange,
        door: Door,
        slot: RequestSlot,
        claim: Claim | None,
    ) -> None:
        super().__init__(slot, caller, door, is_stream=chat.is_stream)
        assert exchange.battle is not None
        self.headers["X-Arena-Battle"] = exchange.battle.public_id
        self._chat, self._battle, self._exchange, self._claim = chat, exchange.battle, exchange, claim

    async def _answer(self) -> Content:
        texts = await self._wait()
        if texts is None:
            if self._claim is not None:
                await in_thread(self._claim.forget)
            raise ModelsFailed(retry_after=RETRY_AFTER_S)
        writer = self._door.writer(Head(self._exchange.public_id, self._created, BATTLE), self._chat)
        usage = self._usage(texts)
        return once(writer.battle_events(texts, usage)) if self._is_stream else writer.battle(texts, usage)

    async def end(self) -> None:
        await self._stop_answering()
        await super().end()

    async def _wait(self) -> list[str] | None:
        """Return the answers from left to right once all are complete; None if one failed."""
        until, pause_s = time.monotonic() + MAX_WAIT_S, FIRST_BACKOFF_S
        while time.monotonic() < until:
            turn = await in_thread_with_retry(_finished_turn, self._battle.pk)
            if turn is not None:
                answers = turn.answers.all()
                is_complete = all(answer.state == Answer.State.DONE for answer in answers)
                by_side = sorted(answers, key=lambda answer: answer.side.position)
                return [answer.text for answer in by_side] if is_complete else None
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, MAX_BACKOFF_S)
        return None

    def _usage(self, texts: list[str]) -> UsagePayload:
        """Return an estimate by characters: the models' own counts would tell them apart."""
        prompt = -(-self._chat.characters // CHARACTERS_PER_TOKEN) * len(texts)
        completion = sum(-(-len(text) // CHARACTERS_PER_TOKEN) for text in texts)
        return {
            "prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion,
            "completion_tokens_details": {"reasoning_tokens": 0},
        }  # fmt: skip


def _finished_turn(battle_id: int) -> Turn | None:
    finished = Turn.objects.filter(battle=battle_id, index=0, state=Turn.State.DONE)
    return finished.prefetch_related("answers__side").first()
