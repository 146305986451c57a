"""What every page shows beside its own content."""

from typing import Any

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from battles.models import Session
from common.valkey import is_away

SHOWN_IN_SIDEBAR = 40


def sidebar(request: HttpRequest) -> dict[str, Any]:
    """Both are asked for only by pages that print them.

    `sidebar_sessions`: the person's latest sessions. `is_paused`: whether new battles and live text have to wait.
    """

    def latest() -> list[dict[str, Any]]:
        actor = getattr(request, "actor", None)
        if actor is None:
            return []
        sessions = Session.objects.for_sidebar(actor)[:SHOWN_IN_SIDEBAR]
        return [
            {
                "id": session.public_id,
                "title": session.title,
                "last_active_at": session.last_active_at,
                "url": session.get_absolute_url(),
            }
            for session in sessions
        ]

    return {"sidebar_sessions": SimpleLazyObject(latest), "is_paused": SimpleLazyObject(is_away)}
