from django.conf import settings
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from battles.models import Session
from battles.sessions.listing import SessionList, list_sessions
from common.valkey.connections import is_away


def sidebar(request: HttpRequest) -> dict[str, object]:
    """Return lazy values, evaluated only by pages that print them.

    latest_sessions: a SessionList. is_paused: Valkey is unreachable, which stops new battles and streams.
    has_gallery, has_statistics: the arena has these pages.
    """

    def latest() -> SessionList:
        actor = getattr(request, "actor", None)
        if actor is None:
            return SessionList()
        return list_sessions(actor, Session.objects.owned_by(actor).filter(archived=False))

    return {
        "latest_sessions": SimpleLazyObject(latest),
        "is_paused": SimpleLazyObject(is_away),
        "has_gallery": settings.ARENA_GALLERY,
        "has_statistics": settings.ARENA_PUBLIC_STATISTICS,
    }
