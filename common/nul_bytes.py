"""Middleware: reject NUL bytes in the path (404) and the query string (400); PostgreSQL text cannot hold them."""

from collections.abc import Callable

from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponseBase


def NulByteMiddleware(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:

    def respond(request: HttpRequest) -> HttpResponseBase:
        if "\x00" in request.path_info:
            raise Http404
        if "%00" in request.META["QUERY_STRING"]:
            raise BadRequest("NUL in the query")
        return get_response(request)

    return respond
