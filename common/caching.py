"""Cache-Control: private and not stored, unless the view is marked `public`."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

View = TypeVar("View", bound=Callable[..., HttpResponseBase])

# Not stored, so that the browser's Back button shows nothing after signing out.
PRIVATE = "private, no-store"
# Stored, but revalidated before each use.
PUBLIC = "public, no-cache"


def public(view: View) -> View:
    """Mark a view with the same response for all unknown visitors. For classes: `method_decorator`."""

    @wraps(view)
    def marked(*args: Any, **kwargs: Any) -> HttpResponseBase:
        response = view(*args, **kwargs)
        response.is_public = True  # type: ignore[attr-defined]
        return response

    return marked  # type: ignore[return-value]


class CacheControlMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if "Cache-Control" not in response.headers:
            response.headers["Cache-Control"] = PUBLIC if is_cacheable(request, response) else PRIVATE
        return response


def is_cacheable(request: HttpRequest, response: HttpResponseBase) -> bool:
    """False for known people, whose pages list their sessions, and private sites."""
    if not getattr(response, "is_public", False) or response.status_code != 200 or settings.ARENA_ACCESS == "private":
        return False
    known_by = {settings.SESSION_COOKIE_NAME, settings.ARENA_VISITOR_COOKIE}
    return "Authorization" not in request.headers and not known_by & request.COOKIES.keys()
