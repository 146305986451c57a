"""Device cookies (OWASP): marks of browsers in which an account signed in before.

Attempts from such a browser have their own limit, so that failures elsewhere cannot lock the owner out. The cookie does
not authenticate. It is signed with the password's hash, so a new password invalidates it.
"""

from allauth.account.signals import password_changed, password_reset, password_set
from django.conf import settings
from django.contrib.auth.signals import user_logged_in
from django.core import signing
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponseBase
from django.utils.crypto import salted_hmac

from accounts.models import User
from common.ids import new_public_id

MAX_AGE_S = 365 * 24 * 3600
MAX_DEVICE_COOKIES = 10  # per browser: a browser shared by many people must not send a cookie for each of them


def get_nonce(request: HttpRequest, email: str) -> str:
    if _cookie_name(email) not in request.COOKIES:
        return ""
    user = User.objects.filter(email=email.lower()).first()
    return "" if user is None else _nonce_for(request, user)


@receiver([user_logged_in, password_changed, password_reset, password_set])
def grant(request: HttpRequest | None, user: User, **_: object) -> None:
    if request is not None:
        request.device_cookie_for = user  # type: ignore[attr-defined]


def set_cookie(request: HttpRequest, response: HttpResponseBase) -> None:
    user = getattr(request, "device_cookie_for", None)
    if user is None:
        return
    name = _cookie_name(user.email)
    # A browser keeps its nonce: each sign-in with a new one would start a new limit.
    nonce = _nonce_for(request, user) or new_public_id()
    response.set_cookie(
        name, _signer(user).sign(nonce), max_age=MAX_AGE_S,
        httponly=True, samesite="Lax", secure=settings.SESSION_COOKIE_SECURE,
    )  # fmt: skip
    others = [other for other in request.COOKIES if other.startswith(settings.ARENA_DEVICE_COOKIE) and other != name]
    for other in others[: -(MAX_DEVICE_COOKIES - 1)]:
        response.delete_cookie(other, samesite="Lax")
        response.cookies[other]["secure"] = settings.SESSION_COOKIE_SECURE  # browsers ignore __Host- cookies without it


def _nonce_for(request: HttpRequest, user: User) -> str:
    try:
        return _signer(user).unsign(request.COOKIES.get(_cookie_name(user.email), ""), max_age=MAX_AGE_S)
    except signing.BadSignature:
        return ""


def _cookie_name(email: str) -> str:
    digest = salted_hmac("accounts.sign_in.device_cookies", email.lower(), algorithm="sha256").hexdigest()
    return f"{settings.ARENA_DEVICE_COOKIE}_{digest[:16]}"


def _signer(user: User) -> signing.TimestampSigner:
    return signing.TimestampSigner(salt=f"accounts.sign_in.device_cookies:{user.pk}:{user.password}")
