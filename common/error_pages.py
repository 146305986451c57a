import logging
from collections.abc import Callable

import redis
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import render
from django_htmx.http import reswap, retarget

from common.api.program_errors import PROGRAMS_PREFIX, program_error
from common.db.execution import CONNECTION_ERRORS
from common.errors import ArenaError, DatabaseAway, ServiceAway

logger = logging.getLogger(__name__)


def json_error_response(request: HttpRequest, error: ArenaError) -> JsonResponse | None:
    """Return the error as JSON for programs' URLs, None for pages."""
    if request.path.startswith(PROGRAMS_PREFIX):
        return JsonResponse(program_error(request.path, error), status=error.http_status, headers=error.headers)
    if not request.path.startswith(("/api/", "/stream/", "/leaderboard/stream/")):
        return None
    return JsonResponse(error.as_json(), status=error.http_status, headers=error.headers)


def error_response(request: HttpRequest, error: ArenaError) -> HttpResponse:
    """Return the error as a page, as a notice for htmx, or as JSON for programs' URLs."""
    if json_response := json_error_response(request, error):
        return json_response
    template = "error.html#notice" if getattr(request, "htmx", False) else error.page
    response = render(request, template, {"error": error}, status=error.http_status)
    for name, value in error.headers.items():
        response[name] = value
    if getattr(request, "htmx", False):  # not over the submitted form, which still holds the typed text
        reswap(retarget(response, "#notices"), "innerHTML")
    return response


def response_for_exception(request: HttpRequest, exception: Exception) -> HttpResponse | None:
    """Return the response to a refusal or an unreachable service; None for a bug."""
    if isinstance(exception, CONNECTION_ERRORS):
        logger.warning("the database is away: %s", str(exception).strip())
        return error_response(request, DatabaseAway())
    if isinstance(exception, redis.RedisError):  # for example from allauth's limits
        logger.warning("Valkey is away: %s", exception)
        return error_response(request, ServiceAway())
    return error_response(request, exception) if isinstance(exception, ArenaError) else None


class ArenaErrorMiddleware:
    """Turns an ArenaError or an unreachable service into a page; the API has its own handler."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        return response_for_exception(request, exception)
