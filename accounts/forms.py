from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, TypedDict, cast

from allauth.account.forms import (
    AddEmailForm,
    ChangePasswordForm,
    ResetPasswordForm,
    SetPasswordForm,
    SignupForm,
)
from allauth.core import context
from django import forms
from django.contrib.auth.hashers import make_password
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.actor import network_limit_keys
from accounts.models import Invitation, Scope, Team, User
from accounts.single_sign_on import passwords
from common.valkey import limits

NOT_COUNTED = _("Signing up is temporarily unavailable. Please try again.")
# Attempts by one link are not without a limit: addresses that have an account use nothing up.
TIMES_OF_INVITATION = 20
LIFETIMES = {"30": _("30 days"), "90": _("90 days"), "365": _("a year"), "": _("until it is revoked")}
SCOPE_HINTS = {
    Scope.READ: _("read: everything you can see"),
    Scope.BATTLE: _("battle: start battles, ask on, stop"),
    Scope.VOTE: _("vote: vote and give feedback"),
    Scope.BENCHMARK: _("benchmark: make templates, start and change runs"),
    Scope.EXPORT: _("export: fetch all votes, under pseudonyms"),
    Scope.GATEWAY: _("gateway: use the models from other software"),
    Scope.METRICS: _("metrics: read figures over time, as an operator or owner of a team"),
}


class _NoAddressOfIssuer:
    """Mixin: refuse addresses that sign in with an issuer."""

    def clean_email(self) -> str:
        passwords.refuse_address(context.request, self.cleaned_data["email"])  # type: ignore[attr-defined]
        return str(super().clean_email())  # type: ignore[misc]


class SignUpForm(_NoAddressOfIssuer, SignupForm):  # type: ignore[misc]
    invitation = forms.CharField(required=False, max_length=100, widget=forms.HiddenInput)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["invitation"].initial = context.request.GET.get("invitation", "")

    def validate_unique_email(self, value: str) -> str:
        """Count before the lookup: known and unknown addresses reach the same limit.

        Raises TooManyRequests, and ServiceAway when Valkey is away.
        """
        limits.count("signup", self._limit_keys(), fail_open=False, not_counted=NOT_COUNTED)
        return str(super().validate_unique_email(value))

    def _limit_keys(self) -> limits.Keys:
        """Return the network's keys; of a team's open link its own key: its uses bound a class behind one address."""
        token = self.data.get("invitation", "")
        invitation = Invitation.objects.open().with_token(token).exclude(team=None).first() if token else None
        if invitation is None:
            return network_limit_keys(context.request)
        return {"network": limits.Key(f"invitation:{invitation.pk}", TIMES_OF_INVITATION)}

    def try_save(self, request: HttpRequest) -> tuple[User | None, HttpResponse | None]:
        """Hash the password for existing addresses, too: time must not reveal the account."""
        if self.account_already_exists:
            make_password(self.cleaned_data["password1"])
        return cast(tuple[User | None, HttpResponse | None], super().try_save(request))


class NewAddressForm(_NoAddressOfIssuer, AddEmailForm):  # type: ignore[misc]
    pass


class ResetForm(_NoAddressOfIssuer, ResetPasswordForm):  # type: ignore[misc]
    pass


class _NoPasswordBesideIssuer:
    """Mixin: refuse a password for accounts that sign in with an issuer."""

    def clean(self) -> dict[str, object] | None:
        issuer = passwords.issuer_instead_of_password(self.user)  # type: ignore[attr-defined]
        if issuer is not None:
            raise forms.ValidationError(passwords.refusal(issuer))
        return cast("dict[str, object] | None", super().clean())  # type: ignore[misc]


class PasswordForm(_NoPasswordBesideIssuer, ChangePasswordForm):  # type: ignore[misc]
    pass


class FirstPasswordForm(_NoPasswordBesideIssuer, SetPasswordForm):  # type: ignore[misc]
    pass


class TokenArguments(TypedDict):
    name: str
    scopes: list[Scope]
    expires_at: datetime | None
    keeps_texts: bool
    caches_answers: bool


class TokenForm(forms.Form):
    name = forms.CharField(label=_("What it is for"), max_length=100)
    scopes = forms.MultipleChoiceField(
        label=_("What it may do"),
        choices=list(SCOPE_HINTS.items()),
        widget=forms.CheckboxSelectMultiple,
        initial=[Scope.READ, Scope.BATTLE, Scope.VOTE],
    )
    days = forms.ChoiceField(
        label=_("How long it works"), choices=list(LIFETIMES.items()), required=False, initial="90"
    )

    # These two take effect with the scope `gateway` only.
    keeps_texts = forms.BooleanField(
        label=_("Keep prompts and answers, so that you can read them in your data and vote on battles"), required=False
    )
    caches_answers = forms.BooleanField(
        label=_("Answer repeated requests at temperature 0 from a cache, for a day"), required=False
    )

    def offer(self, teams: Sequence[Team]) -> None:
        """Add the choice of a team, to which the token then belongs for good."""
        choices = [("", _("Personal")), *((team.slug, team.name) for team in teams)]
        self.fields["team"] = forms.ChoiceField(label=_("Where it acts"), choices=choices, required=False)

    def clean_scopes(self) -> list[Scope]:
        return [Scope(scope) for scope in self.cleaned_data["scopes"]]

    @property
    def token_arguments(self) -> TokenArguments:
        days = self.cleaned_data["days"]
        expires_at: datetime | None = timezone.now() + timedelta(days=int(days)) if days else None
        return {
            "name": self.cleaned_data["name"],
            "scopes": self.cleaned_data["scopes"],
            "expires_at": expires_at,
            "keeps_texts": self.cleaned_data["keeps_texts"],
            "caches_answers": self.cleaned_data["caches_answers"],
        }


class DeleteForm(forms.Form):
    email = forms.CharField(label=_("Type your e-mail address"), widget=forms.EmailInput(attrs={"autocomplete": "off"}))

    def __init__(self, *args: Any, email: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._email = email

    def clean_email(self) -> str:
        typed: str = self.cleaned_data["email"]
        if typed.lower() != self._email.lower():
            raise forms.ValidationError(_("This is not the address of your account."))
        return typed
