from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.views.decorators.csrf import csrf_exempt

from common.errors import ArenaError, TooLarge
from gateway import idempotency
from gateway.answers.battles import is_battle, open_battle
from gateway.answers.opening import open_answer
from gateway.authentication import Caller, authenticate
from gateway.candidates import choosable_models
from gateway.doors.chat_completions import ChatCompletions
from gateway.doors.port import Door
from gateway.errors import BadFieldError, MethodNotAllowed, UnknownAddress, UnknownModel
from gateway.limits import MAX_BODY_BYTES
from gateway.parsing.fields import BadField
from gateway.payloads import model_list_payload, model_payload
from gateway.slots import take_slot

MAX_SESSION_CHARACTERS = 200

CHAT = ChatCompletions()

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, Caller, P], HttpResponseBase]


def gateway_view(
    method: str, door: Door = CHAT
) -> Callable[[View[P]], Callable[Concatenate[HttpRequest, P], HttpResponseBase]]:
    """Authenticate by token only, hence without CSRF checks, and answer refusals in the door's language."""

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
                return refusal_response(BadFieldError.of(refusal), door)
            except ArenaError as refusal:
                return refusal_response(refusal, door)

        return wrapped

    return decorate


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


def answer_view(door: Door) -> Callable[[HttpRequest], HttpResponseBase]:
    """Return the view that answers conversations in a door's language."""

    @gateway_view("POST", door)
    def answer(request: HttpRequest, caller: Caller) -> HttpResponseBase:
        body = _read_body(request)
        chat = door.parse(body)
        starts_battle = is_battle(chat, caller)
        if chat.n == 2 and not starts_battle:
            raise BadField("Only the model “battle” gives two choices.", "n")
        session = _session_header(request)
        claim = None if chat.is_stream else idempotency.claim(request, caller, body)
        if claim is not None and claim.answer is not None:
            return HttpResponse(claim.answer, content_type="application/json")
        try:
            if starts_battle:
                with take_slot(caller.actor.key) as slot:
                    return open_battle(caller, chat, door, slot, claim)
            return open_answer(caller, chat, door, session=session, claim=claim)
        except Exception:
            if claim is not None:
                claim.release()
            raise

    return answer


chat_completions = answer_view(CHAT)


def refusal_response(refusal: ArenaError, door: Door) -> JsonResponse:
    return JsonResponse(door.refusal(refusal), status=refusal.http_status, headers=refusal.headers)


@csrf_exempt
def unknown_address(request: HttpRequest, rest: str) -> HttpResponse:
    return refusal_response(UnknownAddress(), CHAT)


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
