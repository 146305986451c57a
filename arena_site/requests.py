"""Middleware: give each request an id, count it and log one line, without personal data."""

import logging
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.utils.functional import LazyObject, empty

from accounts.actor import Actor
from common import logs, tracing
from common.client_ip import is_from_trusted_proxy
from common.late_response import LateResponse
from common.tracing import Attribute, Span, SpanName
from common.valkey import counters

logger = logging.getLogger(__name__)

HEADER = "X-Request-ID"
TRACE_HEADER = "traceparent"
# Others may be any text of a client's.
_METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
# URL parameters that are secrets.
_SECRET_PARAMETERS = ("token", "key", "uidb36")
# Label of the request counters by prefix of the path; all other paths are pages.
_HANDLERS = {
    "/api/": "api", "/v1/": "gateway", "/stream/": "streams", "/leaderboard/stream/": "streams", "/admin/": "admin",
    "/livez": "monitoring", "/readyz": "monitoring", "/metrics": "monitoring",
}  # fmt: skip


class RequestMiddleware:
    """Outermost middleware, so that refusals by others are logged, too."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        given = _of_proxy(request, HEADER)
        request_id = logs.begin_request(given)
        began = time.perf_counter()
        try:
            with _begin_span(request) as span:
                response = self.get_response(request)
                response.headers[HEADER] = request_id
                seconds = time.perf_counter() - began
                if isinstance(response, LateResponse):
                    span.stay_open()
                    response.on_status = partial(_log_late_request, request, request_id, seconds, span)
                else:
                    _describe(span, request, response.status_code)
                    _log_request(request, response.status_code, seconds=seconds)
        finally:
            logs.end_request()
        return response


def _of_proxy(request: HttpRequest, header: str) -> str:
    """Return the header's value if a trusted proxy sent it, else ""."""
    given = request.headers.get(header, "")
    return given if given and is_from_trusted_proxy(request) else ""


def _begin_span(request: HttpRequest) -> Span:
    if not tracing.is_on() or _handler(request) == "monitoring":
        return tracing.NO_SPAN
    return tracing.span("request", parent=_of_proxy(request, TRACE_HEADER))


def _describe(span: Span, request: HttpRequest, status: int) -> None:
    """Name the span by its route; a path may hold a secret."""
    if not span.is_recording:
        return
    method = request.method if request.method in _METHODS else "OTHER"
    match = request.resolver_match
    name = method if match is None else SpanName.REQUEST.format(method=method, route=match.view_name)
    route = None if match is None else f"/{match.route}"
    span.rename(name)
    error = str(status) if status >= 500 else None
    span.set({Attribute.METHOD: method, Attribute.ROUTE: route, Attribute.STATUS: status, Attribute.ERROR: error})


def _log_late_request(request: HttpRequest, request_id: str, seconds: float, span: Span, status: int) -> None:
    """seconds: of the arena's own work; the rest is the model's."""
    logs.begin_request(request_id)
    _describe(span, request, status)
    span.end()
    _log_request(request, status, seconds=seconds)


def _handler(request: HttpRequest) -> str:
    return next((name for prefix, name in _HANDLERS.items() if request.path.startswith(prefix)), "pages")


def _log_request(request: HttpRequest, status: int, *, seconds: float) -> None:
    path, ms = redacted_path(request), round(seconds * 1000, 1)
    handler = _handler(request)
    counters.add("requests", handler, f"{status // 100}xx")
    counters.observe("request", handler, ms=ms)
    if handler == "gateway":
        counters.add("gateway_requests", str(status))
    facts = {"method": request.method, "path": path, "status": status, "ms": ms, "actor": _actor_kind(request)}
    logger.log(logging.ERROR if status >= 500 else logging.INFO, "request", extra=facts)


def redacted_path(request: HttpRequest) -> str:
    """Return the path without query and with "…" for secrets."""
    path = request.path
    match = request.resolver_match
    if match is not None:
        for name in _SECRET_PARAMETERS:
            if match.kwargs.get(name):
                path = path.replace(str(match.kwargs[name]), "…")
    return path


def _actor_kind(request: HttpRequest) -> str:
    """Return token, staff, member or visitor; "unknown" where the view did not load the actor."""
    actor: Any = getattr(request, "actor", None)
    if isinstance(actor, LazyObject):
        actor = None if actor._wrapped is empty else actor._wrapped
    if isinstance(actor, Actor) and actor.scopes is not None:
        return "token"
    user = getattr(request, "_cached_user", None)  # set by Django when it has loaded the user
    if user is not None and user.is_authenticated:
        return "staff" if user.is_staff else "member"
    return actor.kind if isinstance(actor, Actor) else "unknown"
