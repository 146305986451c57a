"""What members type into their account's pages."""

from datetime import datetime, timedelta
from typing import Any

from allauth.core import context
from django import forms
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.models import Scope, User

LIFETIMES = {"30": _("30 days"), "90": _("90 days"), "365": _("a year"), "": _("until it is revoked")}
SCOPE_HINTS = {
    Scope.READ: _("read: everything you can see"),
    Scope.BATTLE: _("battle: start battles, ask on, stop"),
    Scope.VOTE: _("vote: vote and give feedback"),
    Scope.BENCHMARK: _("benchmark: run benchmarks"),
    Scope.EXPORT: _("export: fetch all votes, under pseudonyms"),
}


class SignUpForm(forms.Form):
    """What allauth's form has beside its own fields."""

    invitation = forms.CharField(required=False, max_length=100, widget=forms.HiddenInput)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["invitation"].initial = context.request.GET.get("invitation", "")

    def signup(self, request: HttpRequest, user: User) -> None:
        """allauth wants it; the adapter's save_user did what there is to do."""


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

    def clean_scopes(self) -> list[Scope]:
        return [Scope(scope) for scope in self.cleaned_data["scopes"]]

    @property
    def asked(self) -> dict[str, Any]:
        """As actions.issue_token takes it."""
        days = self.cleaned_data["days"]
        expires_at: datetime | None = timezone.now() + timedelta(days=int(days)) if days else None
        return {
            "name": self.cleaned_data["name"],
            "scopes": self.cleaned_data["scopes"],
            "expires_at": expires_at,
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
