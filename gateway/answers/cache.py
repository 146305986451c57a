"""Answers to exactly repeated requests at temperature 0, for tokens whose owner chose it.

Valkey keeps them for a day, sealed with the token.
"""

import logging
import time
from decimal import Decimal

import msgspec
from django.http import HttpResponse
from django.utils.crypto import salted_hmac

from common.valkey.connections import UNREACHABLE, connection, fail_fast
from gateway.answers.completions import DONE, ChunkWriter, completion_payload
from gateway.answers.responses import EVENT_STREAM, HEADERS
from gateway.authentication import Caller
from gateway.calls import messages_for
from gateway.models import Exchange
from gateway.parsing.chat import ChatBody
from gateway.payload_types import ChoicePayload, DeltaPayload, UsagePayload
from gateway.sealing import seal, unseal
from models_registry.models import LanguageModel

logger = logging.getLogger(__name__)

TTL_S = 24 * 3_600
MAX_BYTES = 500_000


class CachedAnswer(msgspec.Struct):
    model: str
    choice: ChoicePayload
    usage: UsagePayload


def cache_key(chat: ChatBody, caller: Caller, model: LanguageModel) -> str:
    """Return "" for a request that is not cached. Each token has answers of its own."""
    if not caller.token.caches_answers or chat.parameters.get("temperature") != 0:
        return ""
    facts = msgspec.json.encode(
        [
            caller.token.pk, model.pk, model.upstream_name, model.parameters, messages_for(chat, model),
            chat.parameters, chat.max_tokens,
        ]
    )  # fmt: skip
    return f"gateway:answer:{salted_hmac('gateway.answers.cache', facts, algorithm='sha256').hexdigest()}"


def find(key: str, caller: Caller) -> CachedAnswer | None:
    if not key:
        return None
    try:
        with fail_fast():
            stored = connection().get(key)
    except UNREACHABLE as error:
        logger.warning("the cache of answers is not read: Valkey is away (%s)", error)
        return None
    if not isinstance(stored, str):
        return None
    return msgspec.json.decode(unseal(caller.secret, key, stored), type=CachedAnswer)


def store(key: str, caller: Caller, answer: CachedAnswer) -> None:
    encoded = msgspec.json.encode(answer)
    if len(encoded) > MAX_BYTES:
        return
    try:
        with fail_fast():
            connection().set(key, seal(caller.secret, key, encoded), ex=TTL_S)
    except UNREACHABLE as error:
        logger.warning("an answer is not cached: Valkey is away (%s)", error)


def cached_response(chat: ChatBody, exchange: Exchange, answer: CachedAnswer) -> HttpResponse:
    """Store the exchange and return its response, complete at once."""
    exchange.is_cached = True
    exchange.cost, exchange.finish_reason = Decimal(0), answer.choice["finish_reason"]
    exchange.save(force_insert=True)
    headers = {**HEADERS, "X-Arena-Model": answer.model, "X-Arena-Cached": "1"}
    created = int(time.time())
    if not chat.is_stream:
        payload = completion_payload(
            exchange.public_id, created=created, model=answer.model, choices=[answer.choice], usage=answer.usage
        )
        return HttpResponse(msgspec.json.encode(payload), content_type="application/json", headers=headers)
    writer = ChunkWriter(exchange.public_id, created=created, model=answer.model, includes_usage=chat.includes_usage)
    usage = writer.usage(answer.usage) if chat.includes_usage else b""
    body = writer.delta(_delta(answer.choice)) + writer.delta({}, finish=answer.choice["finish_reason"]) + usage + DONE
    return HttpResponse(body, content_type=EVENT_STREAM, headers=headers)


def _delta(choice: ChoicePayload) -> DeltaPayload:
    message = choice["message"]
    delta: DeltaPayload = {"role": "assistant", "content": message["content"] or ""}
    if "reasoning_content" in message:
        delta["reasoning_content"] = message["reasoning_content"]
    if "tool_calls" in message:
        delta["tool_calls"] = [{"index": index, **call} for index, call in enumerate(message["tool_calls"])]
    return delta
