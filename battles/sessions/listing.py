"""Pages of sessions grouped by day, latest first."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import groupby

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from accounts.actor import Actor
from accounts.models import Team
from battles.models import Session
from battles.models.sessions import SessionQuerySet

PER_PAGE = 40


@dataclass(frozen=True)
class SessionGroup:
    """Sessions of a day, a week or a month. The title is empty if an earlier page has it."""

    title: str
    sessions: list[Session]


@dataclass(frozen=True)
class SessionList:
    days: list[SessionGroup] = field(default_factory=list)
    next: str = ""  # cursor of the following page, "" on the last one


def list_sessions(actor: Actor, sessions: SessionQuerySet, *, after: str = "") -> SessionList:
    """Return one page in one query. after: `next` of the previous page; an invalid cursor returns the first page."""
    cursor = parse_cursor(after)
    remaining = sessions.after(*cursor) if cursor else sessions
    page = list(remaining.with_revealed_names().latest_first()[: PER_PAGE + 1])
    sessions_shown = page[:PER_PAGE]
    set_teams(actor, sessions_shown)
    previous_title = _title(cursor[0]) if cursor else ""
    last = sessions_shown[-1] if len(page) > PER_PAGE else None
    days = groupby(sessions_shown, key=lambda session: _title(session.last_active_at))
    return SessionList(
        [SessionGroup("" if title == previous_title else title, list(group)) for title, group in days],
        f"{last.last_active_at.isoformat()}~{last.public_id}" if last else "",
    )


def set_teams(actor: Actor, sessions: Sequence[Session]) -> None:
    """Set `team` from the actor's memberships; a query only for teams that the actor has left."""
    wanted = {session.team_id for session in sessions if session.team_id is not None}
    if not wanted:
        return
    teams = {pk: member.team for pk, member in actor.memberships.items()}
    if left := wanted - teams.keys():
        teams |= Team.objects.in_bulk(left)
    for session in sessions:
        if session.team_id is not None:
            session.team = teams[session.team_id]


def parse_cursor(after: str) -> tuple[datetime, str] | None:
    """Return the time and the id of a cursor; None for an invalid one."""
    moment, _tilde, public_id = after.partition("~")
    try:
        at = datetime.fromisoformat(moment)
        if timezone.is_naive(at) or not public_id.isprintable():
            return None
        return at.astimezone(UTC), public_id
    except (ValueError, OverflowError):  # not a date, or out of range
        return None


def _title(moment: datetime) -> str:
    today, day = timezone.localdate(), timezone.localdate(moment)
    if day >= today:
        return _("Today")
    if day == today - timedelta(days=1):
        return _("Yesterday")
    if day > today - timedelta(days=8):
        return _("Previous 7 days")
    return date_format(day, "YEAR_MONTH_FORMAT")
