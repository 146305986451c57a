"""allauth's adapter for sign-ins by issuers: accounts, addresses and connections."""

from typing import NoReturn, cast

from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialLogin
from allauth.socialaccount.providers.base import AuthError
from django.conf import settings
from django.contrib import messages
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.shortcuts import redirect
from django.utils.http import urlencode
from django.utils.translation import gettext as _

from accounts.access import SignUp
from accounts.actor import ActorRequest
from accounts.bans import refuse_banned
from accounts.models import User
from accounts.single_sign_on import linking, own_sign_in, passwords
from accounts.single_sign_on.errors import (
    AddressTaken,
    Cancelled,
    LastWayIn,
    NoNewAccounts,
    SignOnRefused,
    StateInvalid,
)
from accounts.single_sign_on.identity import Identity
from accounts.single_sign_on.issuers import all_issuers, issuer_by
from accounts.single_sign_on.provider import Provider, app_of


class ArenaSocialAccountAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    def list_apps(self, request: HttpRequest, provider: str = "", client_id: str = "") -> list[SocialApp]:
        """Return the settings' issuers without allauth's query."""
        return [app_of(issuer) for issuer in all_issuers() if provider in ("", None, "openid_connect", issuer.url)]

    def get_requests_session(self) -> NoReturn:
        raise NotImplementedError("requests to issuers go through accounts.single_sign_on.connections")

    def on_authentication_error(
        self,
        request: HttpRequest,
        provider: Provider,
        error: str = "",
        exception: Exception | None = None,
        extra_context: dict[str, object] | None = None,
    ) -> NoReturn:
        """Raises SignOnRefused."""
        issuer = issuer_by(url=provider.app.provider_id)
        assert issuer is not None
        if error == AuthError.CANCELLED:
            raise Cancelled(issuer) from exception
        is_state = exception is None and "state_id" in (extra_context or {})
        raise (StateInvalid if is_state else SignOnRefused)(issuer) from exception

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Raises SignOnRefused, and ImmediateHttpResponse where an account has the address already."""
        identity: Identity = sociallogin.identity
        linking.forget(request)
        is_connecting = sociallogin.state.get("process") == "connect"
        if is_connecting and isinstance(request.user, User):
            own_sign_in.remember(request.user, identity, [], [])
        if sociallogin.is_existing:
            return
        identity.check_address()
        user = None if is_connecting else linking.user_of_address(identity.email)
        if user is None:
            return
        if linking.was_prepared(user, identity):
            if not identity.is_verified:  # the setting that trusts an issuer's addresses is for new accounts
                raise AddressTaken(identity.issuer)
            sociallogin.connect(request, user)
            return
        linking.remember(request, identity, user)
        sentence = _(
            "An account with the address %(email)s exists already. Sign in to it once as before; from then on you sign "
            "in with %(issuer)s."
        )
        messages.info(request, sentence % {"email": identity.email, "issuer": identity.issuer.name})
        next_url = sociallogin.get_redirect_url(request)
        query = f"?{urlencode({'next': next_url})}" if next_url else ""
        raise ImmediateHttpResponse(redirect(f"{redirect('account_login').url}{query}"))

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        """Return True, or raise Banned or NoNewAccounts. An issuer's own domains may always sign up."""
        refuse_banned(cast(ActorRequest, request).actor, request)
        issuer = sociallogin.identity.issuer
        if SignUp(settings.ARENA_SIGNUP) is not SignUp.OPEN and not issuer.domains:
            raise NoNewAccounts(issuer)
        return True

    def save_user(self, request: HttpRequest, sociallogin: SocialLogin, form: None = None) -> User:
        """Raises SignOnRefused if another request stored the account."""
        try:
            with transaction.atomic():
                return cast(User, super().save_user(request, sociallogin, form))
        except IntegrityError as error:
            raise SignOnRefused(sociallogin.identity.issuer) from error

    def validate_disconnect(self, account: SocialAccount, accounts: QuerySet[SocialAccount]) -> None:
        """Raises LastWayIn where passwords are off; allauth checks that one exists."""
        issuer = issuer_by(url=account.provider)
        if issuer is not None and passwords.issuer_instead_of_password(account.user) and accounts.count() == 1:
            raise LastWayIn(issuer)
