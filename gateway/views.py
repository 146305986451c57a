from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec
from urllib.parse import quote

from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.views.decorators.csrf import csrf_exempt

from battles.moderation.examination import check_texts
from common.api.openai_errors import openai_error
from common.errors import ArenaError, TooLarge
from gateway import calls, idempotency
from gateway.answers import cache, upstream
from gateway.answers.answering import Answer
from gateway.answers.battles import is_battle, open_battle
from gateway.authentication import Caller, authenticate
from gateway.calls import Request
from gateway.candidates import choosable_models, find_candidates
from gateway.errors import BadFieldError, MethodNotAllowed, UnknownAddress, UnknownModel
from gateway.idempotency import Claim
from gateway.limits import MAX_BODY_BYTES, MAX_CHARACTERS, max_prompt_characters
from gateway.models import Exchange
from gateway.parsing.chat import ChatBody, parse_chat
from gateway.parsing.fields import BadField
from gateway.payloads import model_list_payload, model_payload
from gateway.sessions import session_digest
from gateway.slots import take_slot
from models_registry import model_limits
from site_content.terms import require_accepted

# Names of dropped fields come from the caller, and headers have a limit.
MAX_SESSION_CHARACTERS = 200
MAX_DROPPED, MAX_DROPPED_CHARACTERS = 20, 60

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, Caller, P], HttpResponseBase]


def gateway_view(method: str) -> Callable[[View[P]], Callable[Concatenate[HttpRequest, P], HttpResponseBase]]:
    """Authenticate by token only, hence without CSRF checks, and answer refusals in OpenAI's shape."""

    def decorate(view: View[P]) -> Callable[Concatenate[HttpRequest, P], HttpResponseBase]:
        @csrf_exempt
        @wraps(view)
        def wrapped(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
            try:
                caller = authenticate(request)
                if request.method != method and (method, request.method) != ("GET", "HEAD"):
                    raise MethodNotAllowed
                return view(request, caller, *args, **kwargs)
            except BadField as refusal:
                return error_response(BadFieldError.of(refusal))
            except ArenaError as refusal:
                return error_response(refusal)

        return wrapped

    return decorate


def error_response(error: ArenaError) -> JsonResponse:
    return JsonResponse(openai_error(error), status=error.http_status, headers=error.headers)


@gateway_view("GET")
def models(request: HttpRequest, caller: Caller) -> HttpResponse:
    caller.actor.count("read", fail_open=True)
    return JsonResponse(model_list_payload(choosable_models()))


@gateway_view("GET")
def model(request: HttpRequest, caller: Caller, name: str) -> HttpResponse:
    caller.actor.count("read", fail_open=True)
    payload = model_payload(name, choosable_models())
    if payload is None:
        raise UnknownModel(name)
    return JsonResponse(payload)


@gateway_view("POST")
def chat_completions(request: HttpRequest, caller: Caller) -> HttpResponseBase:
    body = _read_body(request)
    chat = parse_chat(body, max_prompt=max_prompt_characters(), max_characters=MAX_CHARACTERS)
    if is_battle(chat, caller):
        return _battle(request, caller, chat)
    if chat.n == 2:
        raise BadField("Only the model “battle” gives two choices.", "n")
    claim = None if chat.is_stream else idempotency.claim(request, caller, body)
    if claim is None:
        return _answer(request, caller, chat)
    if claim.answer is not None:
        return HttpResponse(claim.answer, content_type="application/json")
    try:
        return _answer(request, caller, chat, claim)
    except Exception:
        claim.release()
        raise


def _battle(request: HttpRequest, caller: Caller, chat: ChatBody) -> HttpResponseBase:
    caller.actor.count("gateway", fail_open=True)
    response = open_battle(caller, chat, take_slot(caller.actor.key))
    if names := [*chat.dropped, *chat.parameters]:
        response.headers["X-Arena-Dropped"] = _header_of(names)
    return response


def _answer(request: HttpRequest, caller: Caller, chat: ChatBody, claim: Claim | None = None) -> HttpResponseBase:
    """Check, decide, reserve and open the first call in this thread; the answer comes on the event loop."""
    require_accepted(caller.actor)
    digest = session_digest(caller.token, chat, _session_header(request))
    candidates = find_candidates(chat, caller, digest=digest)
    of_models = [] if candidates.routed else model_limits.counters(candidates.models)
    caller.actor.count("gateway", fail_open=True, beside=of_models)
    slot = take_slot(caller.actor.key)
    check_texts(actor=caller.actor, texts=chat.conversation.texts)
    upstream.load()
    exchange = Exchange(
        user=caller.actor.user, token=caller.token, asked_model=chat.model, is_stream=chat.is_stream,
        session_digest=digest,
    )  # fmt: skip
    model = candidates.models[0]
    cache_key = cache.cache_key(chat, caller, model)
    if (cached := cache.find(cache_key)) is not None:
        if claim is not None:
            claim.release()
        return cache.cached_response(chat, exchange, cached)
    gateway_request = Request(caller, chat, exchange, candidates, claim=claim)
    response = Answer(gateway_request, calls.open_first(gateway_request), slot, cache_key=cache_key)
    if names := [*chat.dropped, *model.provider.dialect.unsent(model.upstream_name, chat.parameters)]:
        response.headers["X-Arena-Dropped"] = _header_of(names)
    return response


@csrf_exempt
def unknown_address(request: HttpRequest, rest: str) -> HttpResponse:
    return error_response(UnknownAddress())


def _read_body(request: HttpRequest) -> bytes:
    """Raises TooLarge. `request.body` has the limit of forms."""
    body = request.read(MAX_BODY_BYTES + 1)
    if len(body) > MAX_BODY_BYTES:
        raise TooLarge
    return body


def _session_header(request: HttpRequest) -> str:
    header = request.headers.get("X-Arena-Session", "")
    if len(header) > MAX_SESSION_CHARACTERS:
        raise BadField("The header X-Arena-Session is too long.")
    return header


def _header_of(names: list[str]) -> str:
    return ", ".join(quote(name[:MAX_DROPPED_CHARACTERS], safe="._-") for name in names[:MAX_DROPPED])
