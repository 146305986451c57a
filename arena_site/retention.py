import logging
from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.sessions.backends.db import SessionStore
from django.utils import timezone

from accounts.models import Visitor
from battles.actions import delete_sessions
from battles.models import NetworkCap, Session, VoteNetwork
from benchmarks.actions.deletion import delete_old_runs
from common.valkey.connections import UNREACHABLE, rewrite_append_only_file
from gateway.retention import delete_old_exchanges
from leaderboard.models import AnomalyReview

logger = logging.getLogger(__name__)

# Promised to people, so no setting extends it.
MAX_NETWORK_DAYS = 60


class PurgeIncomplete(Exception):
    """Raised when sessions could not be deleted; the log has the reasons."""


def purge() -> None:
    """Delete expired sessions and network hashes, and compact Valkey's file.

    Votes stay, without a name, and so do networks in bans. Raises PurgeIncomplete after everything else is deleted.
    """
    failures = 0
    _rewrite_append_only_file()
    SessionStore.clear_expired()
    days: int = settings.ARENA_KEEP_DAYS
    oldest_network = _before(min(days or MAX_NETWORK_DAYS, MAX_NETWORK_DAYS))
    Visitor.objects.filter(created_at__lt=oldest_network).exclude(network="").update(network="")
    for model in (VoteNetwork, NetworkCap):
        model.objects.filter(day__lt=oldest_network.date()).delete()
    AnomalyReview.objects.forget_networks(before=oldest_network.date())
    if days:
        owned = Session.objects.exclude(owner_user=None, owner_visitor=None)
        failures = delete_sessions(owned.filter(last_active_at__lt=_before(days)))
    runs_days: int = settings.ARENA_KEEP_RUNS_DAYS
    delete_old_runs(before=_before(runs_days) if runs_days else None)
    if exchange_days := settings.ARENA_KEEP_EXCHANGES_DAYS:
        delete_old_exchanges(before=_before(exchange_days))
    if failures:
        raise PurgeIncomplete(f"sessions that are kept longer than they should be: {failures}")


def _rewrite_append_only_file() -> None:
    """Expired keys leave the disk. Best effort: a managed service may forbid it."""
    try:
        rewrite_append_only_file()
    except UNREACHABLE as error:
        logger.warning("Valkey's append-only file was not rewritten (%s)", error)


def _before(days: int) -> datetime:
    return timezone.now() - timedelta(days=days)
