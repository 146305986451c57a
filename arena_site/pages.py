"""Pages that belong to no floor: health, and refusals that Django itself makes."""

from django.http import HttpRequest, HttpResponse

from common.error_pages import page_for
from common.errors import NotAllowed


class CsrfRefused(NotAllowed):
    code = "csrf_failed"
    message = "Your form was open for too long or came from another site. Please go back and send it again."


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return page_for(request, CsrfRefused())
