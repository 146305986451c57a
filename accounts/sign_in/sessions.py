"""Where members are signed in: a row for each browser, noted when it signs in and at most once an hour after that."""

from contextlib import suppress

from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.signals import user_logged_in
from django.db import Error
from django.db.models.functions import Now
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils import timezone

from accounts.models import SignIn, User
from accounts.sign_in.user_agents import browser_and_system

RECORD_INTERVAL_S = 3600
RECORDED_KEY = "sign_in_noted"  # in the session: for which key, and when


def active_sign_ins(user: User) -> list[SignIn]:
    """Where a request would be this member's now, the last seen first; one query.

    A session outlives the password it was opened with, but opens nothing any more.
    """
    opened_with = {user.get_session_auth_hash(), *user.get_session_auth_fallback_hash()}
    rows = SignIn.objects.alive().filter(user=user).select_related("session").order_by("-last_seen_at")
    return [row for row in rows if row.session.get_decoded().get(HASH_SESSION_KEY) in opened_with]


def record_if_due(request: HttpRequest) -> None:
    """Without a query within the hour, and for whoever is not signed in or not asked for."""
    session = request.session
    if not session.accessed or SESSION_KEY not in session or not session.session_key:
        return
    key, moment = session.get(RECORDED_KEY, ("", 0))
    if key == session.session_key[:8] and timezone.now().timestamp() - moment < RECORD_INTERVAL_S:
        return
    if isinstance(request.user, User):
        with suppress(Error):  # the page is answered; the next one notes it
            _record(request, request.user)


@receiver(user_logged_in)
def record_sign_in(request: HttpRequest | None, user: User, **_: object) -> None:
    if request is not None:
        _record(request, user)


def _record(request: HttpRequest, user: User) -> None:
    session = request.session
    if session.session_key is None:
        session.save()
    key = str(session.session_key)
    browser, system = browser_and_system(request.headers.get("User-Agent", ""))
    seen = {"user": user, "browser": browser, "system": system, "last_seen_at": Now()}
    SignIn.objects.update_or_create(session_id=key, defaults=seen)
    session[RECORDED_KEY] = (key[:8], timezone.now().timestamp())  # a new password gives the session another key
