"""Steps of every sign-in that depend on issuers."""

from allauth.socialaccount.models import SocialLogin
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from accounts.models import User
from accounts.sign_in.sessions import ISSUER_KEY
from accounts.single_sign_on import linking, own_sign_in, passwords
from accounts.single_sign_on.memberships import apply_teams, limit_session
from accounts.single_sign_on.rights import apply_groups


def before_sign_in(request: HttpRequest, user: User, login: SocialLogin | None) -> HttpResponse | None:
    """Refuse accounts that sign in with an issuer only, passkeys and e-mailed links included."""
    if login is not None:
        request.session[ISSUER_KEY] = [login.identity.issuer.url, login.identity.session]
        rules, memberships = apply_groups(user, login), apply_teams(user, login.identity)
        limit_session(request, user)
        own_sign_in.remember(user, login.identity, rules, memberships)
        return None
    issuer = passwords.issuer_instead_of_password(user)
    connecting = linking.pending_session(request, user)
    if issuer is not None and connecting is None:
        messages.error(request, passwords.refusal(issuer))
        return redirect("account_login")
    request.session.pop(ISSUER_KEY, None)
    if connecting is not None:
        request.session[ISSUER_KEY] = connecting
    return None
