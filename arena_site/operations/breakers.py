"""Breakers of models and providers that are open, or had a question in the last day."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext, ngettext

from models_registry.health.failure_messages import FAILURE_MESSAGES
from models_registry.models import Breaker, Inquiry
from models_registry.models.inquiries import inquiries_exist

SHOWN_FOR = timedelta(days=1)
MAX_BREAKERS = 30


@dataclass(frozen=True)
class BreakerState:
    """reason: the last failure. cause: why the breaker opened, or stayed closed."""

    subject: str
    model_id: int | None
    provider_id: int | None
    state: str
    is_open: bool
    reason: str
    cause: str
    since: datetime | None


def read_breakers() -> list[BreakerState]:
    """Return open ones first."""
    rows = Breaker.objects.select_related("model", "provider")
    if not inquiries_exist():
        return [_state(breaker, None) for breaker in rows.open()]
    has_questions = Q(inquiry__due_at__isnull=False) | Q(inquiry__cleared_at__gt=Now() - SHOWN_FOR)
    breakers = rows.select_related("inquiry").filter(Q(probe_at__isnull=False) | has_questions)
    states = [_state(breaker, _inquiry(breaker)) for breaker in breakers.order_by("-opened_at", "pk")[:MAX_BREAKERS]]
    return sorted(states, key=lambda state: not state.is_open)


def _inquiry(breaker: Breaker) -> Inquiry | None:
    inquiry: Inquiry | None = getattr(breaker, "inquiry", None)
    return inquiry


def _state(breaker: Breaker, inquiry: Inquiry | None) -> BreakerState:
    reason = FAILURE_MESSAGES.get(breaker.reason, breaker.reason)
    return BreakerState(
        str(breaker.model or breaker.provider), breaker.model_id, breaker.provider_id, _words(breaker, inquiry),
        breaker.probe_at is not None, str(reason), _cause(breaker, inquiry),
        breaker.opened_at or (inquiry.cleared_at if inquiry else None),
    )  # fmt: skip


def _words(breaker: Breaker, inquiry: Inquiry | None) -> str:
    if breaker.probe_at is None:
        if inquiry is not None and inquiry.due_at is not None:
            return gettext("healthy so far; a neutral question decides")
        return gettext("healthy")
    if breaker.is_on_trial:
        return gettext("drawn at the lowest weight until a call is answered")
    time = date_format(timezone.localtime(breaker.probe_at), "TIME_FORMAT")
    if breaker.is_by_people:
        return gettext("not drawn until %(time)s, then at the lowest weight") % {"time": time}
    return gettext("not drawn; probed from %(time)s on") % {"time": time}


def _cause(breaker: Breaker, inquiry: Inquiry | None) -> str:
    if inquiry is None:
        return ""
    if breaker.probe_at is not None:
        return str(Inquiry.Cause(inquiry.cause).label) if inquiry.cause else ""
    if not inquiry.cleared:
        return ""
    return ngettext(
        "%(n)d neutral question was answered: the failures belonged to their prompts.",
        "%(n)d neutral questions were answered: the failures belonged to their prompts.",
        inquiry.cleared,
    ) % {"n": inquiry.cleared}
