"""Addresses that no row can have: PostgreSQL stores no NUL, and asking it for one is an error."""

from collections.abc import Callable

from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponseBase


def refuse_nul(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    """Middleware, so that no view has to think of it."""

    def respond(request: HttpRequest) -> HttpResponseBase:
        if "\x00" in request.path_info:
            raise Http404
        if "%00" in request.META["QUERY_STRING"]:
            raise BadRequest("NUL in the query")
        return get_response(request)

    return respond
