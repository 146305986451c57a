"""Requests to models, opened in one thread; the answer comes on the event loop."""

from django.http import HttpResponseBase

from battles.moderation.examination import check_passages
from gateway.answers import cache, calls, upstream
from gateway.answers.answering import Answer
from gateway.answers.calls import Request
from gateway.answers.candidates import find_candidates
from gateway.answers.idempotency import Claim
from gateway.answers.responses import set_dropped
from gateway.answers.sessions import session_digest
from gateway.answers.slots import RequestSlot, take_slot
from gateway.authentication import Caller
from gateway.doors.port import Door
from gateway.models import Exchange
from gateway.outgoing.parameters import dropped_for
from gateway.parsing.chat import ChatBody
from models_registry import model_limits
from site_content.terms import require_accepted


def open_answer(caller: Caller, chat: ChatBody, door: Door, *, session: str, claim: Claim | None) -> HttpResponseBase:
    """session: of the header, or ""."""
    require_accepted(caller.actor)
    digest = session_digest(caller.token, chat, session)
    candidates = find_candidates(chat, caller, digest=digest)
    of_models = [] if candidates.routed else model_limits.counters(candidates.models)
    caller.actor.count("gateway", fail_open=True, extra_counters=of_models)
    exchange = Exchange(
        user=caller.actor.user, token=caller.token, asked_model=chat.model, is_stream=chat.is_stream,
        session_digest=digest, team_id=caller.actor.place_id,
    )  # fmt: skip
    with take_slot(caller.actor.key) as slot:
        return _open_in_slot(Request(caller, chat, exchange, candidates, door, claim=claim), slot)


def _open_in_slot(request: Request, slot: RequestSlot) -> HttpResponseBase:
    caller, chat, model = request.caller, request.chat, request.candidates.models[0]
    check_passages(actor=caller.actor, passages=chat.passages)
    upstream.load()
    cache_key = cache.cache_key(chat, caller, model)
    if (cached := cache.find(cache_key, caller)) is not None:
        if request.claim is not None:
            request.claim.release()
        return cache.cached_response(request, cached)
    response = Answer(request, calls.open_first(request), slot, cache_key=cache_key)
    set_dropped(response, dropped_for(chat, model))
    return response
