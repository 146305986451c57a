"""Delete sessions and network hashes that are older than the operator keeps them."""

import logging
from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.sessions.backends.db import SessionStore
from django.utils import timezone

from accounts.models import Visitor
from battles.actions import delete_sessions
from battles.models import Session, VoteNetwork
from common.valkey.connections import UNREACHABLE, rewrite_append_only_file

logger = logging.getLogger(__name__)

# Promised to people, so no setting extends it.
MAX_NETWORK_DAYS = 60


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
    days: int = settings.ARENA_KEEP_DAYS
    oldest_network = _before(min(days or MAX_NETWORK_DAYS, MAX_NETWORK_DAYS))
    Visitor.objects.filter(created_at__lt=oldest_network).exclude(network="").update(network="")
    VoteNetwork.objects.filter(day__lt=oldest_network.date()).delete()
    if days:
        owned = Session.objects.exclude(owner_user=None, owner_visitor=None)
        failures = delete_sessions(owned.filter(last_active_at__lt=_before(days)))
    if failures:
        raise NotAllForgotten(f"sessions that are kept longer than they should be: {failures}")


def _rewrite_append_only_file() -> None:
    """Best effort: a service that rewrites its file by itself may forbid it."""
    try:
        rewrite_append_only_file()
    except UNREACHABLE as error:
        logger.warning("Valkey's append-only file was not rewritten (%s)", error)


def _before(days: int) -> datetime:
    return timezone.now() - timedelta(days=days)
