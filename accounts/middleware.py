from collections.abc import Callable, Sequence
from typing import cast

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.utils.functional import SimpleLazyObject

from accounts.actor import VISITOR_COOKIE, Actor, ActorRequest, browser_actor, visitor_cookie_value
from accounts.sign_in import device_cookies, sessions
from common.caching import is_cacheable
from common.valkey.limits import NETWORKS, SHARED, Usage

# Prefixes of the paths that programs call.
PROGRAMS = ("/api/", "/v1/")
YEAR_S = 365 * 24 * 3600
Responder = Callable[[HttpRequest], HttpResponseBase]


class ActorMiddleware:
    """Sets `request.actor`, loaded at first use, and cookies of new visitors and known devices."""

    def __init__(self, get_response: Responder) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        cast(ActorRequest, request).actor = cast(Actor, SimpleLazyObject(lambda: browser_actor(request)))
        response = self.get_response(request)
        visitor = getattr(request, "new_visitor", None)
        if visitor is not None:
            response.set_cookie(
                VISITOR_COOKIE, visitor_cookie_value(visitor), max_age=YEAR_S,
                httponly=True, samesite="Lax", secure=settings.SESSION_COOKIE_SECURE,
            )  # fmt: skip
        device_cookies.set_cookie(request, response)
        return response


class RateLimitMiddleware:
    """Sets RateLimit headers, except of redirects and shared responses."""

    def __init__(self, get_response: Responder) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if not request.path_info.startswith(PROGRAMS) or 300 <= response.status_code < 400:
            return response
        actor = cast(ActorRequest, request).actor
        if type(actor) is Actor and not is_cacheable(request, response):  # lazy until the API has authenticated it
            for name, value in _rate_limit_headers(actor.usages).items():
                response.headers[name] = value
        return response


def _rate_limit_headers(usages: Sequence[Usage]) -> dict[str, str]:
    """Return the header fields of limits.

    `RateLimit-Policy` and `RateLimit` follow draft-ietf-httpapi-ratelimit-headers-11 (May 2026). `RateLimit-Limit`,
    `RateLimit-Remaining` and `RateLimit-Reset`, of drafts 00 to 06, describe the policy with the least left.
    """
    shown = _shown(usages)
    if not shown:
        return {}
    tightest = min(shown, key=lambda usage: (usage.remaining, -usage.reset_s))
    return {
        "RateLimit-Policy": ", ".join(
            f'"{_policy_name(usage)}";q={usage.counter.amount};w={usage.counter.window_s}' for usage in shown
        ),
        "RateLimit": ", ".join(f'"{_policy_name(usage)}";r={usage.remaining};t={usage.reset_s}' for usage in shown),
        "RateLimit-Limit": str(tightest.counter.amount),
        "RateLimit-Remaining": str(tightest.remaining),
        "RateLimit-Reset": str(tightest.reset_s),
    }


def _shown(usages: Sequence[Usage]) -> list[Usage]:
    """Leave out shared limits with something left: others' use is private."""
    persons = [usage for usage in usages if usage.counter.who not in SHARED]
    full = [usage for usage in usages if usage.counter.who in SHARED and not usage.remaining]
    shown = [*persons, *full] if persons else usages
    return list({_policy_name(usage): usage for usage in shown}.values())


def _policy_name(usage: Usage) -> str:
    """Return “battle-hour”, “battle-network-hour”."""
    counter = usage.counter
    who = [counter.who] if counter.who in NETWORKS else []
    return "-".join([counter.action, *who, counter.period])


class LastSeenMiddleware:
    """Records members' page requests; API requests cost no query."""

    def __init__(self, get_response: Responder) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if response.status_code < 500 and not request.path_info.startswith(PROGRAMS):
            sessions.record_if_due(request)
        return response
