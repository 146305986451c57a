"""A refusal as a page, or as a notice inside one."""

import logging
from collections.abc import Awaitable, Callable

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django_htmx.http import reswap, retarget

from common.database import AWAY
from common.errors import ArenaError, DatabaseAway

logger = logging.getLogger(__name__)


def page_for(request: HttpRequest, error: ArenaError) -> HttpResponse:
    """The error as a page, or as a toast when htmx asked for a fragment."""
    template = "error.html#notice" if getattr(request, "htmx", False) else error.page
    response = render(request, template, {"error": error}, status=error.http_status)
    for name, value in error.headers.items():
        response[name] = value
    if getattr(request, "htmx", False):  # not over the form that was sent: what was typed is still in it
        reswap(retarget(response, "#notices"), "innerHTML")
    return response


class ArenaErrorMiddleware:
    """Turns an ArenaError, or a database that is away, into a page; the API has its own handler."""

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase | Awaitable[HttpResponseBase]]) -> None:
        self.get_response = get_response
        if iscoroutinefunction(get_response):
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if isinstance(exception, AWAY):
            logger.warning("the database is away: %s", str(exception).strip())
            return page_for(request, DatabaseAway())
        return page_for(request, exception) if isinstance(exception, ArenaError) else None
