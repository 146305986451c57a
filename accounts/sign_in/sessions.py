from contextlib import suppress

from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.signals import user_logged_in
from django.db import Error
from django.db.models.functions import Now
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils import timezone

from accounts.models import SignIn, StaffNetwork, User
from common.client_ip import client_networks

RECORD_INTERVAL_S = 3600
ISSUER_KEY = "issuer"  # in the session: [URL of the issuer that signed the person in, its session's id]
RECORDED_KEY = "sign_in_noted"  # in the session: [start of the session key, timestamp]
# Token of a user agent → name. The order matters: most browsers also contain the tokens of others.
BROWSERS = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Vivaldi/", "Vivaldi"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chromium/", "Chromium"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
SYSTEMS = (
    ("Android", "Android"),
    ("iPhone", "iOS"),
    ("iPad", "iPadOS"),
    ("Windows", "Windows"),
    ("CrOS", "ChromeOS"),
    ("Macintosh", "macOS"),
    ("Linux", "Linux"),
)


def active_sign_ins(user: User) -> list[SignIn]:
    """Return valid sign-ins, last seen first; one query."""
    # Sessions from before a change of password still have rows, but are no longer valid.
    valid_hashes = {user.get_session_auth_hash(), *user.get_session_auth_fallback_hash()}
    rows = SignIn.objects.active().filter(user=user).select_related("session").order_by("-last_seen_at")
    return [row for row in rows if row.session.get_decoded().get(HASH_SESSION_KEY) in valid_hashes]


def record_if_due(request: HttpRequest) -> None:
    """Record a signed-in browser that read its session, once per RECORD_INTERVAL_S."""
    session = request.session
    if not session.accessed or SESSION_KEY not in session or not session.session_key:
        return
    key, moment = session.get(RECORDED_KEY, ("", 0))
    if key == session.session_key[:8] and timezone.now().timestamp() - moment < RECORD_INTERVAL_S:
        return
    if isinstance(request.user, User):
        with suppress(Error):  # the response is complete; the next request tries again
            _record(request, request.user)


@receiver(user_logged_in)
def record_sign_in(request: HttpRequest | None, user: User, **_: object) -> None:
    if request is not None:
        _record(request, user)
        StaffNetwork.objects.record(user, client_networks(request))


def _record(request: HttpRequest, user: User) -> None:
    session = request.session
    if session.session_key is None:
        session.save()
    key = str(session.session_key)
    browser, system = browser_and_system(request.headers.get("User-Agent", ""))
    issuer, issuer_session = session.get(ISSUER_KEY, ("", ""))
    seen = {"user": user, "browser": browser, "system": system, "last_seen_at": Now()}
    seen |= {"issuer": issuer, "issuer_session": issuer_session}
    SignIn.objects.update_or_create(session_id=key, defaults=seen)
    session[RECORDED_KEY] = (key[:8], timezone.now().timestamp())  # a change of password changes the session key


def browser_and_system(user_agent: str) -> tuple[str, str]:
    """Return both names without versions; empty when unknown."""
    return _first_match(BROWSERS, user_agent), _first_match(SYSTEMS, user_agent)


def _first_match(names: tuple[tuple[str, str], ...], user_agent: str) -> str:
    return next((name for token, name in names if token in user_agent), "")
