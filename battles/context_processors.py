"""What every page shows beside its own content."""

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from battles.models import Session
from battles.sessions.listing import SessionList, listed
from common.valkey.connections import is_away


def sidebar(request: HttpRequest) -> dict[str, object]:
    """Both are asked for only by pages that print them.

    `latest_sessions`: the person's, as a SessionList. `is_paused`: whether new battles and live text have to wait.
    """

    def latest() -> SessionList:
        actor = getattr(request, "actor", None)
        if actor is None:
            return SessionList()
        return listed(Session.objects.owned_by(actor).filter(archived=False))

    return {"latest_sessions": SimpleLazyObject(latest), "is_paused": SimpleLazyObject(is_away)}
