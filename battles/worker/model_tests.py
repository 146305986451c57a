"""Tests of models: an answer to the prompt of an administrator or a team's manager, streamed like a turn's.

Prompt and answer are in Valkey only and expire within minutes; the call, its cost and its outcome are logged.
"""

import asyncio
import secrets
import time
from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Any, cast

import msgspec
import redis.asyncio
from django.db import transaction

from battles.calls import store
from battles.calls.attempt import Attempt
from battles.calls.values import CallResult, PlannedCall, PreparedCall
from battles.models import Call
from battles.prompting.messages import with_system_prompt
from battles.streaming.protocol import FIELD, TurnEvent, model_test_stream_key
from battles.streaming.publisher import Publisher, TurnChannel
from common.db.execution import run_in_db
from common.payload_types import JsonObject
from common.text.money import plain_decimal
from common.valkey.connections import UNREACHABLE, connection
from models_registry.health import outcomes, server_tests
from models_registry.health.server_tests import ServerTest
from models_registry.models import Breaker, LanguageModel
from models_registry.payers import Payer
from models_registry.providers import ChatProvider, FailureCode
from models_registry.providers.base import Message

# How long a worker may take to begin, and how long a finished test can be read.
REQUEST_TTL_S = 60
RESULT_TTL_S = 900
# How long one of several tests waits while its provider takes no further call.
MAX_SLOT_WAIT_S = 300
SIDES = ("reasoning", "text")
# The provider's message about a key may hold parts of it.
_KEY_ERRORS = {FailureCode.REFUSED_KEY, FailureCode.NO_KEY}


class ModelTest(msgspec.Struct):
    """A test: its request, and its result once `is_over`. Milliseconds and US dollars.

    waits: for a free slot of its provider. person, team_id: of a payer; without one the site pays.
    messages: in place of the prompt. overrides: of the model's parameters. note: of those who asked, for themselves.
    upstream: the provider's message, without keys.
    """

    model_id: int
    prompt: str
    messages: list[Message] = []
    overrides: JsonObject = {}
    note: str = ""
    waits: bool = False
    person: str = ""
    team_id: int | None = None
    is_over: bool = False
    text: str = ""
    reasoning: str = ""
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
        return "" if self.cost is None else f"${plain_decimal(self.cost)}"


def _key(test_id: str) -> str:
    return f"model-test:{test_id}"


def store_request(
    model: LanguageModel, prompt: str, *, payer: Payer | None = None, messages: Sequence[Message] = (),
    overrides: JsonObject | None = None, note: str = "",
) -> str:  # fmt: skip
    """Store a test for a worker and return its random id. Raises one of common.valkey.connections.UNREACHABLE."""
    test_id = secrets.token_urlsafe(16)
    test = ModelTest(model.pk, prompt, list(messages), overrides or {}, note)
    if payer is not None:
        test.person, test.team_id = payer.person, payer.team_id
    request = msgspec.json.encode(test).decode()
    connection().set(_key(test_id), request, ex=REQUEST_TTL_S)
    return test_id


def store_requests(models: Sequence[LanguageModel], prompt: str) -> tuple[str, list[str]]:
    """Store a test of each model; return the id of all together and those of the tests. Raises as store_request."""
    tests = {secrets.token_urlsafe(16): ModelTest(model.pk, prompt, waits=True) for model in models}
    together = secrets.token_urlsafe(16)
    with connection().pipeline() as pipe:
        for test_id, test in tests.items():
            pipe.set(_key(test_id), msgspec.json.encode(test).decode(), ex=RESULT_TTL_S)
        pipe.set(_key(together), msgspec.json.encode(list(tests)).decode(), ex=RESULT_TTL_S)
        pipe.execute()
    return together, list(tests)


def read_all(together: str) -> dict[str, ModelTest]:
    """Return the tests by id without the text of those under way; none after they expired. Raises as `read`."""
    stored = connection().get(_key(together))
    ids: list[str] = msgspec.json.decode(cast(str, stored), type=list[str]) if stored else []
    values = cast("list[str | None]", connection().mget([_key(test_id) for test_id in ids])) if ids else []
    return {
        test_id: msgspec.json.decode(value, type=ModelTest)
        for test_id, value in zip(ids, values, strict=True)
        if value is not None
    }


def read(test_id: str) -> ModelTest | None:
    """Return the test so far; None if no worker began it in time, or its result has expired.

    Raises one of common.valkey.connections.UNREACHABLE.
    """
    stored: Any = connection().get(_key(test_id))
    if stored is None:
        return None
    test = msgspec.json.decode(stored, type=ModelTest)
    entries: Any = [] if test.is_over else connection().xrange(model_test_stream_key(test_id))
    for _, fields in entries:
        for event in msgspec.json.decode(fields[FIELD.decode()], type=list[TurnEvent]):
            if event.name == "text":
                setattr(test, event.side, getattr(test, event.side) + event.value)
    return test


def messages(model: LanguageModel, test: ModelTest) -> list[Message]:
    """Return what the first turn of a battle would send."""
    return with_system_prompt(model, test.messages or [{"role": "user", "content": test.prompt}])


async def run_test(test_id: str, provider: ChatProvider, publisher: Publisher, valkey: redis.asyncio.Redis) -> None:
    """Answer the request, unless another worker has claimed it or it has expired; publish the growing answer."""
    if not await valkey.set(f"{_key(test_id)}:claim", 1, nx=True, ex=RESULT_TTL_S):
        return
    stored = await valkey.getex(_key(test_id), ex=RESULT_TTL_S)
    if stored is None:
        return
    test = msgspec.json.decode(stored, type=ModelTest)
    channel = TurnChannel(publisher, model_test_stream_key(test_id), SIDES, is_plain=True, lifetime_s=RESULT_TTL_S)
    _clear(channel)  # the stream exists from here on
    call = await _next_call(test)
    if call is None:
        test.error = FailureCode.RATE_LIMITED
    else:
        result = await _PublishedAttempt(call, provider, channel).run()
        await run_in_db(_store_result, test, call, result)
    test.is_over = True
    await valkey.set(_key(test_id), msgspec.json.encode(test), ex=RESULT_TTL_S)
    channel.end()


async def _next_call(test: ModelTest) -> PreparedCall | None:
    """Wait for a slot of the provider, if the test does."""
    until = time.monotonic() + (MAX_SLOT_WAIT_S if test.waits else 0)
    while (call := await run_in_db(_create_call, test)) is None and time.monotonic() < until:  # noqa: ASYNC110 (a row)
        await asyncio.sleep(1)
    return call


class _PublishedAttempt(Attempt):
    def __init__(self, call: PreparedCall, provider: ChatProvider, channel: TurnChannel) -> None:
        super().__init__(call, provider)
        self._channel = channel

    def receive(self, text: str, reasoning: str) -> float:
        for side, piece in zip(SIDES, (reasoning, text), strict=True):
            if piece:
                self._channel.add(side, piece)
        return super().receive(text, reasoning)

    def take_back(self) -> None:
        super().take_back()
        _clear(self._channel)


def _clear(channel: TurnChannel) -> None:
    for side in SIDES:
        channel.reset_side(side)


def _create_call(test: ModelTest) -> PreparedCall | None:
    """Return None if the provider has no free slot, or the model is gone."""
    # Its page looked the model up among its owner's.
    model = LanguageModel.of_every_owner.select_related("provider__team").filter(pk=test.model_id).first()
    if model is None:
        return None
    with transaction.atomic():
        planned = PlannedCall(
            model, messages(model, test), purpose=Call.Purpose.TEST, lease=outcomes.PROBE_LEASE,
            person=test.person, team_id=test.team_id, overrides=test.overrides,
        )  # fmt: skip
        [call] = store.create_calls([planned])
        if call.must_wait:
            transaction.set_rollback(True)
            return None
        return call


def _store_result(test: ModelTest, call: PreparedCall, result: CallResult) -> None:
    """Store the call and fill in the test. An answer closes breakers like a probe's; a failure opens none."""
    with transaction.atomic():
        model = call.row.model
        if store.store_result(call, result) and result.error is None:
            for breaker in Breaker.objects.of_model(model.pk, model.provider_id).open().order_by("pk"):
                outcomes.record_probe(breaker.pk, None)
    _remember_server(model.pk, result)
    test.text, test.reasoning = "".join(result.texts), "".join(result.reasonings)
    test.error = result.error or ""
    test.upstream = "" if result.error in _KEY_ERRORS else result.upstream
    test.first_token_ms, test.total_ms = result.first_token_ms, result.total_ms
    for name in (
        "prompt_tokens", "completion_tokens", "reasoning_tokens", "tokens_estimated", "cost", "finish_reason"
    ):  # fmt: skip
        setattr(test, name, getattr(call.row, name))


def _remember_server(model_id: int, result: CallResult) -> None:
    completion = result.completion
    with suppress(*UNREACHABLE):
        server_tests.store(
            model_id,
            ServerTest(
                time.time(), result.error or "", sorted(completion.oddities), completion.repaired,
                completion.finish_reason,
            ),
        )  # fmt: skip
