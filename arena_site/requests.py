"""Every request has an id and leaves one line in the log: what was asked, how it went, and nothing of who asked."""

import logging
import time
from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.utils.functional import LazyObject, empty

from accounts.actor import Actor
from common import logs
from common.client_ip import is_from_trusted_proxy
from common.valkey import counters

logger = logging.getLogger(__name__)

HEADER = "X-Request-ID"
# What these parts of an address hold opens something.
_KEYS_IN_ADDRESSES = ("token", "key", "uidb36")
# Parts of the site by which requests are counted, by the beginning of their path; all others are pages.
_HANDLERS = {
    "/api/": "api", "/stream/": "streams", "/leaderboard/stream/": "streams", "/admin/": "admin",
    "/livez": "monitoring", "/readyz": "monitoring", "/metrics": "monitoring",
}  # fmt: skip


class RequestMiddleware:
    """Outside of all that can refuse a request."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        given = request.headers.get(HEADER, "") if is_from_trusted_proxy(request) else ""
        request_id = logs.begin_request(given)
        began = time.perf_counter()
        try:
            response = self.get_response(request)
            response.headers[HEADER] = request_id
            _note(request, response.status_code, seconds=time.perf_counter() - began)
        finally:
            logs.end_request()
        return response


def _note(request: HttpRequest, status: int, *, seconds: float) -> None:
    path, ms = path_to_log(request), round(seconds * 1000, 1)
    handler = next((name for start, name in _HANDLERS.items() if request.path.startswith(start)), "pages")
    counters.add("requests", handler, f"{status // 100}xx")
    counters.observe("request", handler, ms=ms)
    facts = {"method": request.method, "path": path, "status": status, "ms": ms, "actor": _actor_kind(request)}
    logger.log(logging.ERROR if status >= 500 else logging.INFO, "request", extra=facts)


def path_to_log(request: HttpRequest) -> str:
    """Without the query, and without a word in the address that opens something."""
    path = request.path
    found = request.resolver_match
    if found is not None:
        for name in _KEYS_IN_ADDRESSES:
            if found.kwargs.get(name):
                path = path.replace(str(found.kwargs[name]), "…")
    return path


def _actor_kind(request: HttpRequest) -> str:
    """token, staff, member or visitor; "unknown" where nobody had to know, as asking would cost queries."""
    actor: Any = getattr(request, "actor", None)
    if isinstance(actor, LazyObject):
        actor = None if actor._wrapped is empty else actor._wrapped
    if isinstance(actor, Actor) and actor.scopes is not None:
        return "token"
    user = getattr(request, "_cached_user", None)  # where Django keeps whom it looked up
    if user is not None and user.is_authenticated:
        return "staff" if user.is_staff else "member"
    return actor.kind if isinstance(actor, Actor) else "unknown"
