"""Who may keep a response: nobody, unless its view says that everybody may."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

View = TypeVar("View", bound=Callable[..., HttpResponseBase])

# Not stored, so that going back after signing out shows nothing.
PRIVATE = "private, no-store"
# Stored, and asked about before each use: it may have changed.
PUBLIC = "public, no-cache"


def public(view: View) -> View:
    """Mark what a view answers to strangers as the same for all of them. For classes: `method_decorator`."""

    @wraps(view)
    def marked(*args: Any, **kwargs: Any) -> HttpResponseBase:
        response = view(*args, **kwargs)
        response.is_public = True  # type: ignore[attr-defined]
        return response

    return marked  # type: ignore[return-value]


class CacheControlMiddleware:
    """Sets Cache-Control where nothing else did."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if "Cache-Control" not in response.headers:
            response.headers["Cache-Control"] = PUBLIC if _is_for_everybody(request, response) else PRIVATE
        return response


def _is_for_everybody(request: HttpRequest, response: HttpResponseBase) -> bool:
    """Pages that anybody may see list the sessions of whoever is known, and of a private arena nothing is public."""
    if not getattr(response, "is_public", False) or response.status_code != 200 or settings.ARENA_ACCESS == "private":
        return False
    known_by = {settings.SESSION_COOKIE_NAME, settings.ARENA_VISITOR_COOKIE}
    return "Authorization" not in request.headers and not known_by & request.COOKIES.keys()
