"""Connections of existing accounts, only after a sign-in the old way."""

import time
from typing import TypedDict, cast

from allauth.account.internal.userkit import filter_users_by_email
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.models import SocialAccount, SocialLogin
from django.contrib import messages
from django.http import HttpRequest
from django.utils.translation import gettext as _

from accounts.models import User
from accounts.single_sign_on.identity import Identity
from accounts.single_sign_on.issuers import Issuer, issuer_by

LINK_TTL_S = 600
_KEY = "sign_on_link"


class _Pending(TypedDict):
    issuer: str
    subject: str
    email: str
    session: str
    user: int
    at: float


def user_of_address(email: str) -> User | None:
    return next(iter(filter_users_by_email(email, prefer_verified=True)), None)


def was_prepared(user: User, identity: Identity) -> bool:
    """Return whether an administrator added the account: without a password, never used."""
    return (
        identity.issuer.domains != []
        and user.email == identity.email
        and user.last_login is None
        and not user.has_usable_password()
        and not SocialAccount.objects.filter(user=user).exists()
    )


def remember(request: HttpRequest, identity: Identity, user: User) -> None:
    """Let this browser's next sign-in to the account, within LINK_TTL_S, connect it."""
    pending: _Pending = {
        "issuer": identity.issuer.url, "subject": identity.subject, "email": identity.email,
        "session": identity.session, "user": user.pk, "at": time.time(),
    }  # fmt: skip
    request.session[_KEY] = pending


def forget(request: HttpRequest) -> None:
    request.session.pop(_KEY, None)


def pending_issuer(request: HttpRequest) -> Issuer | None:
    pending = _pending(request)
    return None if pending is None else issuer_by(url=pending["issuer"])


def pending_session(request: HttpRequest, user: User) -> list[str] | None:
    """Return the issuer's URL and session if this sign-in connects `user`."""
    pending = _pending(request)
    return [pending["issuer"], pending["session"]] if pending is not None and pending["user"] == user.pk else None


def allows_password(request: HttpRequest, email: str) -> bool:
    pending = _pending(request)
    return pending is not None and pending["email"] == email.lower()


def finish(request: HttpRequest, user: User) -> None:
    """Connect the account after a complete sign-in, second factor included."""
    pending = _pending(request)
    forget(request)
    issuer = issuer_by(url=pending["issuer"]) if pending is not None else None
    if pending is None or issuer is None or pending["user"] != user.pk:
        return
    subject = {"provider": issuer.url, "uid": pending["subject"]}
    if SocialAccount.objects.filter(**subject).exists():  # connected in another browser meanwhile
        return
    account = SocialAccount(**subject, extra_data={"email": pending["email"]})
    login = SocialLogin(account=account, provider=get_adapter(request).get_provider(request, issuer.url))
    login.connect(request, user)
    messages.success(request, _("From now on you sign in with %(issuer)s.") % {"issuer": issuer.name})


def _pending(request: HttpRequest) -> _Pending | None:
    pending = cast("_Pending | None", request.session.get(_KEY))
    return pending if pending is not None and time.time() - pending["at"] < LINK_TTL_S else None
