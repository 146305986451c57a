"""Somebody's sessions by day, the latest first, as many as fit a page at a time."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from itertools import groupby

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from battles.models import Session
from battles.models.sessions import SessionQuerySet

PER_PAGE = 40


@dataclass(frozen=True)
class Days:
    """Sessions of a day, a week or a month. The title is empty where the page before ended in the middle of them."""

    title: str
    sessions: list[Session]


@dataclass(frozen=True)
class SessionList:
    """`next`: what to ask for the following page with; empty on the last one."""

    days: list[Days] = field(default_factory=list)
    next: str = ""


def listed(sessions: SessionQuerySet, *, after: str = "") -> SessionList:
    """One page in one query. after: the `next` of the page before; what is none begins at the beginning."""
    place = _place(after)
    found = sessions.after(*place) if place else sessions
    page = list(found.with_revealed_names().latest_first()[: PER_PAGE + 1])
    shown = page[:PER_PAGE]
    before = _title(place[0]) if place else ""
    last = shown[-1] if len(page) > PER_PAGE else None
    return SessionList(_by_day(shown, before), f"{last.last_active_at.isoformat()}~{last.public_id}" if last else "")


def _place(after: str) -> tuple[datetime, str] | None:
    moment, _tilde, public_id = after.partition("~")
    try:
        at = datetime.fromisoformat(moment)
        if timezone.is_naive(at) or not public_id.isprintable():
            return None
        return at.astimezone(UTC), public_id
    except (ValueError, OverflowError):  # beyond what calendars have
        return None


def _by_day(sessions: Iterable[Session], before: str) -> list[Days]:
    days = groupby(sessions, key=lambda session: _title(session.last_active_at))
    return [Days("" if title == before else title, list(some)) for title, some in days]


def _title(moment: datetime) -> str:
    today, day = timezone.localdate(), timezone.localdate(moment)
    if day >= today:
        return _("Today")
    if day == today - timedelta(days=1):
        return _("Yesterday")
    if day > today - timedelta(days=8):
        return _("Previous 7 days")
    return _month(day)


def _month(day: date) -> str:
    return date_format(day, "YEAR_MONTH_FORMAT")
