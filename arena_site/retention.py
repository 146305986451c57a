"""How long the arena keeps what it could forget; each time is a setting in days, and 0 is for ever."""

import logging
from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.sessions.backends.db import SessionStore
from django.db.models import QuerySet
from django.utils import timezone

from accounts.models import Visitor
from battles.actions import delete_each
from battles.models import Session, VoteNetwork
from common.valkey.connections import UNREACHABLE, rewrite_append_only_file

logger = logging.getLogger(__name__)


class NotAllForgotten(Exception):
    """Says what stays for now; the log says why."""


def purge() -> None:
    """Forget what is older than the operator wants to keep it. Votes stay, without a name; so do networks in a ban.

    Valkey's file, too, is rid of what Valkey has forgotten.

    Raises NotAllForgotten when the rest is done.
    """
    failures = 0
    _rewrite_append_only_file()
    SessionStore.clear_expired()
    if days := settings.ARENA_KEEP_DAYS["networks"]:
        Visitor.objects.filter(created_at__lt=_before(days)).exclude(network="").update(network="")
        VoteNetwork.objects.filter(day__lt=_before(days).date()).delete()
    if days := settings.ARENA_KEEP_DAYS["visitor_sessions"]:
        failures += _delete_untouched(Session.objects.exclude(owner_visitor=None), days)
    if days := settings.ARENA_KEEP_DAYS["member_sessions"]:
        failures += _delete_untouched(Session.objects.exclude(owner_user=None), days)
    if failures:
        raise NotAllForgotten(f"sessions that are kept longer than they should be: {failures}")


def _rewrite_append_only_file() -> None:
    """Best effort: a service that rewrites its file by itself may forbid it."""
    try:
        rewrite_append_only_file()
    except UNREACHABLE as error:
        logger.warning("Valkey's append-only file was not rewritten (%s)", error)


def _delete_untouched(sessions: QuerySet[Session], days: int) -> int:
    return delete_each(sessions.filter(last_active_at__lt=_before(days)))


def _before(days: int) -> datetime:
    return timezone.now() - timedelta(days=days)
