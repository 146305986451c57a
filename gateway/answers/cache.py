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
from gateway.answers.calls import Request, messages_for
from gateway.answers.responses import EVENT_STREAM, HEADERS
from gateway.answers.sealing import seal, unseal
from gateway.authentication import Caller
from gateway.doors.port import Head, WholeAnswer
from gateway.outgoing.parameters import parameters_for
from gateway.parsing.chat import ChatBody
from models_registry.models import LanguageModel

logger = logging.getLogger(__name__)

TTL_S = 24 * 3_600
MAX_BYTES = 500_000


class CachedAnswer(msgspec.Struct):
    model: str
    whole: WholeAnswer


def cache_key(chat: ChatBody, caller: Caller, model: LanguageModel) -> str:
    """Return "" for a request that is not cached. Each token has answers of its own."""
    if not caller.token.caches_answers or chat.parameters.get("temperature") != 0:
        return ""
    facts = msgspec.json.encode(
        [
            caller.token.pk, model.pk, model.upstream_name, model.parameters, messages_for(chat, model),
            parameters_for(chat, model, token=caller.token.pk), chat.max_tokens,
        ]
    )  # fmt: skip
    return f"gateway:answer:2:{salted_hmac('gateway.answers.cache', facts, algorithm='sha256').hexdigest()}"


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


def cached_response(request: Request, answer: CachedAnswer) -> HttpResponse:
    """Store the exchange and return its response, complete at once."""
    exchange, whole = request.exchange, answer.whole
    exchange.is_cached = True
    exchange.cost, exchange.finish_reason = Decimal(0), whole.finish
    exchange.save(force_insert=True)
    headers = {**HEADERS, "X-Arena-Model": answer.model, "X-Arena-Cached": "1"}
    writer = request.door.writer(Head(exchange.public_id, int(time.time()), answer.model), request.chat)
    if not request.chat.is_stream:
        body = msgspec.json.encode(writer.whole(whole))
        return HttpResponse(body, content_type="application/json", headers=headers)
    events = writer.begin() + writer.deltas(whole.pieces) + writer.end(whole)
    return HttpResponse(events, content_type=EVENT_STREAM, headers=headers)
