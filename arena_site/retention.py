"""How long the arena keeps what it could forget; each time is a setting in days, and 0 is for ever."""

from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.sessions.backends.db import SessionStore
from django.db.models import QuerySet
from django.utils import timezone

from accounts.models import Visitor
from battles.actions import delete_session
from battles.models import Session


def purge() -> None:
    """Forget what is older than the operator wants to keep it. Votes stay, without a name; so do networks in a ban."""
    SessionStore.clear_expired()
    if days := settings.ARENA_KEEP_DAYS["networks"]:
        Visitor.objects.filter(created_at__lt=_before(days)).exclude(network="").update(network="")
    if days := settings.ARENA_KEEP_DAYS["visitor_sessions"]:
        _delete_untouched(Session.objects.exclude(owner_visitor=None), days)
    if days := settings.ARENA_KEEP_DAYS["member_sessions"]:
        _delete_untouched(Session.objects.exclude(owner_user=None), days)


def _delete_untouched(sessions: QuerySet[Session], days: int) -> None:
    for session in sessions.filter(last_active_at__lt=_before(days)).iterator():
        delete_session(session)  # a transaction of its own: what is done stays done


def _before(days: int) -> datetime:
    return timezone.now() - timedelta(days=days)
