from typing import cast

from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from accounts.access import SAFE_METHODS
from accounts.actor import ActorRequest


class ReadLimit(BaseThrottle):
    """Counts only reads; actions count the others. Raises LimitReached."""

    def allow_request(self, request: Request, view: object) -> bool:
        if request.method in SAFE_METHODS:
            cast(ActorRequest, request._request).actor.count("read", fail_open=True)
        return True
