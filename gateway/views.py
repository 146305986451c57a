from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import render
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from common import tracing
from common.api.program_errors import program_error
from common.conversation.errors import BadField
from common.errors import ArenaError, TooLarge
from gateway.answers import idempotency
from gateway.answers.battles import is_battle, open_battle
from gateway.answers.candidates import choosable_models, find_model
from gateway.answers.idempotency import Claim
from gateway.answers.opening import open_answer
from gateway.answers.responses import CompletionResponse
from gateway.answers.slots import take_slot
from gateway.authentication import Caller, authenticate
from gateway.doors.chat_completions import ChatCompletions
from gateway.doors.messages.door import Messages, estimate_tokens
from gateway.doors.port import Door
from gateway.doors.responses.door import Responses
from gateway.errors import BadFieldError, MethodNotAllowed, UnknownAddress, UnknownModel
from gateway.parsing.chat import ChatBody
from gateway.parsing.json_body import MAX_BODY_BYTES
from gateway.payloads import (
    VIRTUAL_MODELS,
    anthropic_list_payload,
    anthropic_payload,
    anthropic_virtual_payload,
    model_list_payload,
    model_payload,
    virtual_payload,
)
from gateway.snippets import snippets
from models_registry.picking import read_picker

MAX_SESSION_CHARACTERS = 200
# Sent by Anthropic's clients.
ANTHROPICS_HEADER = "Anthropic-Version"

CHAT, MESSAGES = ChatCompletions(), Messages()

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, Caller, P], HttpResponseBase]


def gateway_view(
    method: str, door: Door | None = None
) -> Callable[[View[P]], Callable[Concatenate[HttpRequest, P], HttpResponseBase]]:
    """Authenticate by token only, hence without CSRF checks, and answer refusals in the door's language.

    door: None for what clients of both OpenAI's and Anthropic's API read.
    """

    def decorate(view: View[P]) -> Callable[Concatenate[HttpRequest, P], HttpResponseBase]:
        @csrf_exempt
        @wraps(view)
        def wrapped(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
            spoken = door or (MESSAGES if ANTHROPICS_HEADER in request.headers else CHAT)
            try:
                caller = authenticate(request)
                if request.method != method and (method, request.method) != ("GET", "HEAD"):
                    raise MethodNotAllowed
                return view(request, caller, *args, **kwargs)
            except BadField as refusal:
                return refusal_response(BadFieldError.of(refusal), spoken)
            except ArenaError as refusal:
                return refusal_response(refusal, spoken)

        return wrapped

    return decorate


@gateway_view("GET")
def models(request: HttpRequest, caller: Caller) -> HttpResponse:
    caller.actor.count("read", fail_open=True)
    listed = choosable_models(caller.actor.place_id)
    is_anthropics = ANTHROPICS_HEADER in request.headers
    return JsonResponse(anthropic_list_payload(listed) if is_anthropics else model_list_payload(listed))


@gateway_view("GET")
def model(request: HttpRequest, caller: Caller, name: str) -> HttpResponse:
    caller.actor.count("read", fail_open=True)
    is_anthropics = ANTHROPICS_HEADER in request.headers
    if name in VIRTUAL_MODELS:
        return JsonResponse(anthropic_virtual_payload(name) if is_anthropics else virtual_payload(name))
    model = find_model(name, caller.actor.place_id)
    if model is None:
        raise UnknownModel(name)
    return JsonResponse(anthropic_payload(model) if is_anthropics else model_payload(model))


def answer_view(door: Door) -> Callable[[HttpRequest], HttpResponseBase]:
    """Return the view that answers conversations in a door's language."""

    @gateway_view("POST", door)
    def answer(request: HttpRequest, caller: Caller) -> HttpResponseBase:
        body = _read_body(request)
        chat = door.parse(body, caller)
        starts_battle = is_battle(chat, caller)
        if chat.n == 2 and not starts_battle:
            raise BadField("Only the model “battle” gives two choices.", "n")
        session = _session_header(request)
        claim = None if chat.is_stream else idempotency.claim(request, caller, body)
        if claim is not None and claim.answer is not None:
            return HttpResponse(claim.answer, content_type="application/json")
        try:
            with tracing.span(tracing.SpanName.GATEWAY, person=caller.actor.key) as span:
                response = _open(caller, chat, door, session, claim, starts_battle=starts_battle)
                if isinstance(response, CompletionResponse):
                    response.take_over(span)
                return response
        except Exception:
            if claim is not None:
                claim.release()
            raise

    return answer


def _open(
    caller: Caller, chat: ChatBody, door: Door, session: str, claim: Claim | None, *, starts_battle: bool
) -> HttpResponseBase:
    if not starts_battle:
        return open_answer(caller, chat, door, session=session, claim=claim)
    with take_slot(caller.actor.key) as slot:
        return open_battle(caller, chat, door, slot, claim)


chat_completions = answer_view(CHAT)
responses = answer_view(Responses())
messages = answer_view(MESSAGES)


@gateway_view("POST", MESSAGES)
def count_tokens(request: HttpRequest, caller: Caller) -> HttpResponse:
    caller.actor.count("read", fail_open=True)
    return JsonResponse({"input_tokens": estimate_tokens(_read_body(request)), "is_estimate": True})


def refusal_response(refusal: ArenaError, door: Door) -> JsonResponse:
    return JsonResponse(door.refusal(refusal), status=refusal.http_status, headers=refusal.headers)


@csrf_exempt
def unknown_address(request: HttpRequest, rest: str) -> HttpResponse:
    refusal = UnknownAddress()
    return JsonResponse(program_error(request.path, refusal), status=refusal.http_status)


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


@require_safe
def software(request: HttpRequest) -> HttpResponse:
    base_url = request.build_absolute_uri("/v1")
    context = {
        "base_url": base_url,
        "picker": read_picker("ids", shows_all="all" in request.GET),
        "snippets": snippets(base_url),
    }
    return render(request, "gateway/software.html", context)
