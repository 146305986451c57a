"""Error responses to Django's own refusals: JSON for programs, a page for people."""

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _
from django.views import defaults
from rest_framework.request import Request
from rest_framework.views import APIView

from common.db.execution import CONNECTION_ERRORS
from common.error_pages import error_response, json_error_response
from common.errors import ArenaError, DatabaseAway, InvalidInput, NotAllowed, NotFound, TooLarge, TooManyRequests
from common.origin import origin_mismatch


class CsrfRefused(NotAllowed):
    code = "csrf_failed"
    message = _("Your form has expired or came from another site. Go back and send it again.")


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return error_response(request, CsrfRefused(origin_mismatch(request, reason)))


def too_many_requests(request: HttpRequest) -> HttpResponse:
    """Answer 429 for allauth, whose own limits last a minute at most."""
    return error_response(request, TooManyRequests(retry_after=60))


class ServerError(ArenaError):
    code = "server_error"
    message = _("Something went wrong on our side. The error was logged.")
    http_status = 500


class UnknownEndpoint(APIView):
    """View for unknown paths of the API."""

    schema = None

    def initial(self, request: Request, *args: object, **kwargs: object) -> None:
        raise NotFound(_("This address does not exist. Addresses end in a slash and are listed at /api/v1/docs/."))


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    if isinstance(exception, RequestDataTooBig):
        return error_response(request, TooLarge())
    return json_error_response(request, InvalidInput()) or defaults.bad_request(request, exception)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    if getattr(request, "htmx", False):  # a whole page would land inside the open one
        return error_response(request, NotFound())
    try:
        return json_error_response(request, NotFound()) or defaults.page_not_found(request, exception)
    except CONNECTION_ERRORS:  # the page lists the reader's sessions
        return error_response(request, DatabaseAway())


def server_error(request: HttpRequest) -> HttpResponse:
    return json_error_response(request, ServerError()) or defaults.server_error(request)
