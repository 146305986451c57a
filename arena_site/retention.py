import logging
from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.sessions.backends.db import SessionStore
from django.db.models import QuerySet
from django.utils import timezone

from accounts.models import StaffNetwork, Team, Visitor
from accounts.teams.actions import remove_team
from battles.actions import delete_sessions, delete_team_sessions
from battles.models import Category, ModerationRule, NetworkCap, PromptSuggestion, RoutingDecision, Session, VoteNetwork
from benchmarks.actions.deletion import delete_old_runs, delete_team_benchmarks, delete_unused_files
from common.client_ip import kept_network_days
from common.valkey.connections import UNREACHABLE, rewrite_append_only_file
from gateway.models import Exchange
from leaderboard.models import AnomalyReview
from reviews.models import Review, Reviewer
from reviews.reports.actions import delete_reports_of_team
from routing.models import RouterSnapshot, Rule

logger = logging.getLogger(__name__)

# Decisions of auto mode and requests of other software are deleted after 90 days at the latest (docs/operating.md).
MAX_DECISION_DAYS = 90
BATCH = 2_000


class PurgeIncomplete(Exception):
    """Raised when sessions stayed; the log has the reasons."""


def purge() -> None:
    """Delete expired sessions, runs, decisions and network hashes, texts of archived teams, and compact Valkey's file.

    Votes stay, without a name; so do published runs and networks in bans. Raises PurgeIncomplete after everything else
    is deleted.
    """
    failures = 0
    _rewrite_append_only_file()
    SessionStore.clear_expired()
    days: int = settings.ARENA_KEEP_DAYS
    oldest_network = _before(kept_network_days())
    Visitor.objects.filter(created_at__lt=oldest_network).exclude(network="").update(network="")
    Reviewer.objects.filter(joined_at__lt=oldest_network).exclude(network="").update(network="")
    for model in (VoteNetwork, NetworkCap):
        model.objects.filter(day__lt=oldest_network.date()).delete()
    StaffNetwork.objects.filter(last_day__lt=oldest_network.date()).delete()
    AnomalyReview.objects.forget_networks(before=oldest_network.date())
    if days:
        owned = Session.objects.exclude(owner_user=None, owner_visitor=None)
        failures = delete_sessions(owned.filter(last_active_at__lt=_before(days)))
    failures += _remove_archived_teams()
    delete_unused_files()
    delete_old_runs(before=_before(days) if days else None)
    _delete_decisions(before=_before(min(days or MAX_DECISION_DAYS, MAX_DECISION_DAYS)))
    if failures:
        raise PurgeIncomplete(f"sessions that are kept longer than they should be: {failures}")


def _remove_archived_teams() -> int:
    """Delete the texts of teams that were archived long enough; return the number of sessions and runs that stayed."""
    failures = 0
    for team in Team.objects.due_for_removal():
        Exchange.objects.filter(team=team).exclude(texts=None).update(texts=None)
        stayed = delete_team_sessions(team) + delete_team_benchmarks(team)
        failures += stayed
        if not stayed:
            _delete_questions(team)
            delete_reports_of_team(team)
            remove_team(team)
    return failures


def _delete_questions(team: Team) -> None:
    for model in (Category, ModerationRule, PromptSuggestion):
        model.of_every_owner.filter(team=team).delete()
    Rule.objects.filter(team=team).delete()
    Review.objects.filter(team=team).delete()
    RouterSnapshot.objects.filter(team=team).delete()  # their parameters were learned from its texts


def _delete_decisions(*, before: datetime) -> None:
    """Delete exchanges, whose calls stay, and decisions, but those whose propensity an evaluation of a vote needs."""
    _delete_in_batches(Exchange.objects.filter(created_at__lt=before))
    _delete_in_batches(RoutingDecision.objects.filter(created_at__lt=before, battle__vote=None))


def _delete_in_batches(rows: QuerySet[Exchange] | QuerySet[RoutingDecision]) -> None:
    while pks := list(rows.order_by("pk").values_list("pk", flat=True)[:BATCH]):
        rows.model._default_manager.filter(pk__in=pks).delete()


def _rewrite_append_only_file() -> None:
    """Expired keys leave the disk. Best effort: a managed service may forbid it."""
    try:
        rewrite_append_only_file()
    except UNREACHABLE as error:
        logger.warning("Valkey's append-only file was not rewritten (%s)", error)


def _before(days: int) -> datetime:
    return timezone.now() - timedelta(days=days)
