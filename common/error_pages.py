"""A refusal as a page, or as a notice inside one."""

import logging
from collections.abc import Awaitable, Callable

import redis
from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import render
from django_htmx.http import reswap, retarget

from common.db.execution import CONNECTION_ERRORS
from common.errors import ArenaError, DatabaseAway, ServiceAway

logger = logging.getLogger(__name__)


def json_error_response(request: HttpRequest, error: ArenaError) -> JsonResponse | None:
    """The error as the API says it; None at an address that is a page's."""
    if not request.path.startswith(("/api/", "/stream/", "/leaderboard/stream/")):
        return None
    return JsonResponse(error.as_json(), status=error.http_status, headers=error.headers)


def error_response(request: HttpRequest, error: ArenaError) -> HttpResponse:
    """The error as a page, as a toast when htmx asked for a fragment, or as JSON where only programs come."""
    if said := json_error_response(request, error):
        return said
    template = "error.html#notice" if getattr(request, "htmx", False) else error.page
    response = render(request, template, {"error": error}, status=error.http_status)
    for name, value in error.headers.items():
        response[name] = value
    if getattr(request, "htmx", False):  # not over the form that was sent: what was typed is still in it
        reswap(retarget(response, "#notices"), "innerHTML")
    return response


def response_for_exception(request: HttpRequest, exception: Exception) -> HttpResponse | None:
    """Of a refusal, or of a service that is away; None for what is a bug."""
    if isinstance(exception, CONNECTION_ERRORS):
        logger.warning("the database is away: %s", str(exception).strip())
        return error_response(request, DatabaseAway())
    if isinstance(exception, redis.RedisError):  # from allauth's own limits, for example
        logger.warning("Valkey is away: %s", exception)
        return error_response(request, ServiceAway())
    return error_response(request, exception) if isinstance(exception, ArenaError) else None


class ArenaErrorMiddleware:
    """Turns an ArenaError, or a service that is away, into a page; the API has its own handler."""

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase | Awaitable[HttpResponseBase]]) -> None:
        self.get_response = get_response
        if iscoroutinefunction(get_response):
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        return response_for_exception(request, exception)
