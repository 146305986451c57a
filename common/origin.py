import re

from django.http import HttpRequest
from django.middleware.csrf import REASON_BAD_ORIGIN
from django.utils.translation import gettext as _

_ORIGIN = re.compile(r"https?://[a-z0-9.:\[\]-]{1,260}", re.IGNORECASE)


def origin_mismatch(request: HttpRequest, reason: str) -> str:
    """Return a sentence when a CSRF check refused the header Origin, else ""; `reason` is the check's."""
    origin = request.META.get("HTTP_ORIGIN", "")
    if reason != REASON_BAD_ORIGIN % origin or not _ORIGIN.fullmatch(origin):
        return ""
    return _(
        "The request came from %(origin)s, but the arena is at %(expected)s. If you use the arena at the first "
        "address, its proxy must pass on the headers Host, with the port, and X-Forwarded-Proto."
    ) % {"origin": origin, "expected": f"{request.scheme}://{request.get_host()}"}
