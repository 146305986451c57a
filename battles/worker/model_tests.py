"""Testing a model: a real answer to an administrator's prompt, on the way of every call, shown while it grows.

The prompt and the answer are in Valkey only and gone within minutes; the call, its cost and its outcome are in the log.
"""

import asyncio
import secrets
from collections.abc import AsyncIterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import msgspec
import redis.asyncio
from django.core import signing
from django.db import transaction

from battles.streaming.protocol import BEGINNING, FIELD, TurnEvent, entry
from battles.streaming.reader import Gone, follow
from battles.worker import call_store, probes
from battles.worker.call_store import PreparedCall, Question, Said
from common import sse
from common.db.execution import in_database
from common.errors import NotFound
from common.text.money import plain
from common.valkey.connections import connection
from models_registry.health import outcomes
from models_registry.models import Breaker, LanguageModel
from models_registry.providers import ChatProvider, FailureCode
from models_registry.providers.base import Message

# How long a worker may take to begin, and how long a finished test can be read again.
REQUEST_LIVES_S = 60
RESULT_LIVES_S = 900
TICK_S = 0.05
_SALT = "battles.worker.model_tests"
# Upstream's words about a key may hold parts of it.
_UNTOLD = {FailureCode.REFUSED_KEY, FailureCode.NO_KEY}


class TestRequest(msgspec.Struct):
    __test__ = False  # not one of pytest's

    model_id: int
    prompt: str


class Outcome(msgspec.Struct):
    """How a test ended. Milliseconds and US dollars; `upstream` are the provider's words, without keys."""

    error: str = ""
    upstream: str = ""
    first_token_ms: int | None = None
    total_ms: int | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    tokens_estimated: bool = False
    cost: Decimal | None = None
    finish_reason: str = ""

    @property
    def cost_words(self) -> str:
        return "" if self.cost is None else f"${plain(self.cost)}"


@dataclass
class Heard:
    """What a test has said so far; `outcome` is None while it goes on, `position` is where a reader continues.

    Lost: nobody took it up in time, or it is too old to be read.
    """

    prompt: str = ""
    text: str = ""
    reasoning: str = ""
    outcome: Outcome | None = None
    position: str = BEGINNING
    is_lost: bool = False


def leave_request(model: LanguageModel, prompt: str) -> str:
    """For a worker to take up; the test's random id. Raises one of common.valkey.connections.UNREACHABLE."""
    test_id = secrets.token_urlsafe(16)
    asked = msgspec.json.encode(TestRequest(model.pk, prompt)).decode()
    connection().set(_request_key(test_id), asked, ex=REQUEST_LIVES_S)
    return test_id


def _request_key(test_id: str) -> str:
    return f"model-test:{test_id}:request"


def _stream_key(test_id: str) -> str:
    return f"model-test:{test_id}"


def messages(model: LanguageModel, prompt: str) -> list[Message]:
    """As the first turn of a battle would send it."""
    system = [{"role": "system", "content": model.system_prompt}] if model.system_prompt else []
    return [*system, {"role": "user", "content": prompt}]


async def run_test(test_id: str, provider: ChatProvider, valkey: redis.asyncio.Redis) -> None:
    """Answer the request, unless somebody else took it; what is said goes to its stream."""
    asked = await valkey.getdel(_request_key(test_id))
    if asked is None:
        return
    speaker = _Speaker(valkey, _stream_key(test_id))
    request = msgspec.json.decode(asked, type=TestRequest)
    await speaker.begin(request.prompt)
    call = await in_database(_begin, request)
    if call is None:
        await speaker.end(Outcome(error=FailureCode.RATE_LIMITED))
        return
    speaking = asyncio.create_task(speaker.run())
    try:
        said = await probes.ask(call, provider, hear=speaker.hear)
    finally:
        speaking.cancel()
    await speaker.end(await in_database(_end, call, said))


def _begin(asked: TestRequest) -> PreparedCall | None:
    """None when the provider has no room for one more call, or the model is gone."""
    model = LanguageModel.objects.select_related("provider").filter(pk=asked.model_id).first()
    if model is None:
        return None
    with transaction.atomic():
        [call] = call_store.begin([Question(model, messages(model, asked.prompt))], person="")
        if call.must_wait:
            transaction.set_rollback(True)
            return None
        return call


def _end(call: PreparedCall, said: Said) -> Outcome:
    """An answer closes breakers, as a probe's does; a failure opens none: nobody's battle is behind it."""
    with transaction.atomic():
        model = call_store.close(call, said)
        if model is not None and said.error is None:
            for breaker in Breaker.objects.about(model.pk, model.provider_id).open().order_by("pk"):
                outcomes.record_probe(breaker.pk, None)
    row = call.row
    return Outcome(
        error=said.error or "",
        upstream="" if said.error in _UNTOLD else said.upstream,
        first_token_ms=said.first_token_ms,
        total_ms=said.total_ms,
        prompt_tokens=row.prompt_tokens,
        completion_tokens=row.completion_tokens,
        reasoning_tokens=row.reasoning_tokens,
        tokens_estimated=row.tokens_estimated,
        cost=row.cost,
        finish_reason=row.finish_reason,
    )


class _Speaker:
    """Writes what is heard to the test's stream, gathered on a tick."""

    def __init__(self, valkey: redis.asyncio.Redis, key: str) -> None:
        self._valkey = valkey
        self._key = key
        self._unsaid: list[TurnEvent] = []

    async def begin(self, prompt: str) -> None:
        """From now on a reader knows that somebody has taken it up."""
        self._unsaid.append(TurnEvent("reset", "", prompt))
        await self._say()

    def hear(self, text: str, reasoning: str) -> None:
        pieces = (("text", text), ("reasoning", reasoning))
        self._unsaid += [TurnEvent("text", side, piece) for side, piece in pieces if piece]

    async def run(self) -> None:
        while True:
            await asyncio.sleep(TICK_S)
            await self._say()

    async def _say(self) -> None:
        said, self._unsaid = self._unsaid, []
        if said:
            async with self._valkey.pipeline(transaction=False) as pipeline:
                pipeline.xadd(self._key, entry(said))
                pipeline.expire(self._key, RESULT_LIVES_S)
                await pipeline.execute()

    async def end(self, outcome: Outcome) -> None:
        self._unsaid += [TurnEvent("state", "", msgspec.json.encode(outcome).decode()), TurnEvent("end")]
        await self._say()


def heard(test_id: str) -> Heard:
    """What was said until now. Raises one of common.valkey.connections.UNREACHABLE."""
    so_far = Heard()
    entries: Any = connection().xrange(_stream_key(test_id))
    so_far.is_lost = not entries and not connection().exists(_request_key(test_id))
    for so_far.position, fields in entries:
        for event in msgspec.json.decode(fields[FIELD.decode()], type=list[TurnEvent]):
            if event.name == "state":
                so_far.outcome = msgspec.json.decode(event.value, type=Outcome)
            elif event.name == "reset":
                so_far.prompt = event.value
            elif event.side == "reasoning":
                so_far.reasoning += event.value
            elif event.side == "text":
                so_far.text += event.value
    return so_far


def sign(test_id: str) -> str:
    return signing.dumps(test_id, salt=_SALT)


def read_or_404(token: str) -> str:
    """The test's id. Raises NotFound for a forged or old token."""
    try:
        return str(signing.loads(token, salt=_SALT, max_age=RESULT_LIVES_S))
    except signing.BadSignature as error:
        raise NotFound from error


async def events(test_id: str, after: str) -> AsyncIterator[bytes]:
    """`text` with {"of": "text" or "reasoning", "text": …} as it comes, then `end`."""
    try:
        async for numbered in follow(_stream_key(test_id), after=after):
            yield b"".join([_as_event(id, event) for id, event in numbered]) or sse.KEEP_ALIVE
    except Gone:
        yield sse.event("end", "")


def _as_event(id: str, event: TurnEvent) -> bytes:
    if event.name == "text":
        return sse.event("text", msgspec.json.encode({"of": event.side, "text": event.value}).decode(), id=id)
    return sse.event("end", "", id=id) if event.name == "end" else b""
