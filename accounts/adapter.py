"""allauth's adapter: no user names, own rate limits, invitations."""

from typing import TYPE_CHECKING, cast

from allauth.account.adapter import DefaultAccountAdapter
from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.forms import Form
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _

from accounts import actions
from accounts.access import SignUp
from accounts.actor import ActorRequest
from accounts.bans import refuse_banned
from accounts.models import Invitation, User
from accounts.sign_in import rate_limit
from accounts.single_sign_on import linking, passwords
from accounts.single_sign_on.sign_in import before_sign_in
from accounts.teams.places import choose_place
from common.client_ip import network_hash

if TYPE_CHECKING:
    from allauth.account.models import EmailAddress


class ArenaAccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    error_messages = {
        **DefaultAccountAdapter.error_messages,
        "invited_under_another_address": _("Your invitation is for another e-mail address."),
    }

    def populate_username(self, request: HttpRequest, user: User) -> None:
        """Do nothing: users have no user name."""

    def get_client_ip(self, request: HttpRequest) -> str:
        """Return the network's hash: allauth's counters then hold no IP address."""
        return network_hash(request)

    def pre_authenticate(self, request: HttpRequest, **credentials: str) -> None:
        """Count the attempt: allauth's refusal has no waiting time. Raises TooManyRequests."""
        if not request.user.is_authenticated:  # then it is a reauthentication
            passwords.refuse_address(request, credentials.get("email", ""))
        self._sign_in_keys = rate_limit.attempt_keys(request, credentials.get("email", ""))
        rate_limit.count(self._sign_in_keys)

    def authenticate(self, request: HttpRequest, **credentials: str) -> User | None:
        user: User | None = super().authenticate(request, **credentials)
        if user is not None:
            rate_limit.uncount(self._sign_in_keys)
        return user

    def pre_login(
        self, request: HttpRequest, user: User, *, signal_kwargs: dict[str, object] | None, **of_login: object
    ) -> HttpResponse | None:
        refusal = super().pre_login(request, user, signal_kwargs=signal_kwargs, **of_login)
        return refusal or before_sign_in(request, user, (signal_kwargs or {}).get("sociallogin"))

    def post_login(self, request: HttpRequest, user: User, **of_login: object) -> HttpResponse:
        linking.finish(request, user)
        response: HttpResponse = super().post_login(request, user, **of_login)
        return response

    def should_send_confirmation_mail(self, request: HttpRequest, email_address: "EmailAddress", signup: bool) -> bool:
        """Return False where the arena sends no mail: nothing would arrive that allauth announces."""
        if settings.ACCOUNT_EMAIL_VERIFICATION != "mandatory":
            return False
        sends: bool = super().should_send_confirmation_mail(request, email_address, signup)
        return sends

    def _delete_login_attempts_cached_email(self, request: HttpRequest, **credentials: str) -> None:
        """Reset the limit; allauth calls this after a password reset."""
        rate_limit.reset(credentials.get("email", ""))

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Raises Banned: a new account must not evade a ban."""
        refuse_banned(cast(ActorRequest, request).actor, request)
        match SignUp(settings.ARENA_SIGNUP):
            case SignUp.OPEN:
                return True
            case SignUp.INVITATION:
                return _invitation_of(request) is not None
            case SignUp.CLOSED:
                return False

    def clean_email(self, email: str) -> str:
        # Every form that takes a new address calls this; only sign-up has an invitation.
        invitation = _invitation_of(self.request)
        if invitation is not None and invitation.email and invitation.email != email.lower():
            raise ValidationError(self.error_messages["invited_under_another_address"])
        return str(super().clean_email(email))

    def save_user(self, request: HttpRequest, user: User, form: Form, commit: bool = True) -> User:
        """Store account and used invitation in one transaction. Raises InvitationUsed."""
        with transaction.atomic():
            saved: User = super().save_user(request, user, form, commit)
            invitation = _invitation_of(request)
            if SignUp(settings.ARENA_SIGNUP) is SignUp.INVITATION or (invitation and invitation.team_id):
                actions.accept_invitation(token=_invitation_token(request), user=saved)
        if invitation is not None and invitation.team is not None:
            choose_place(request, invitation.team)
        return saved


def _invitation_token(request: HttpRequest) -> str:
    return request.POST.get("invitation") or request.GET.get("invitation") or ""


def _invitation_of(request: HttpRequest) -> Invitation | None:
    token = _invitation_token(request)
    return Invitation.objects.open().with_token(token).first() if token else None
