from datetime import datetime, timedelta
from typing import TypedDict

from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.models import Role, Team
from accounts.teams.actions import MAX_USES
from common.errors import ArenaError

MAX_DAYS = 365
ROLE_HINTS = {
    Role.MEMBER: _("member: battles, votes and runs with the team's models and money"),
    Role.MANAGER: _("manager: also models, keys, prices and budgets"),
    Role.OWNER: _("owner: everything, also members and settings"),
    Role.GUEST: _("guest: only reviews to which the guest is invited"),
}


class InvitationArguments(TypedDict):
    role: Role
    uses: int
    expires_at: datetime
    email: str


class TeamForm(forms.ModelForm):  # type: ignore[type-arg]
    class Meta:
        model = Team
        fields = ["name", "slug", "colour"]

    def validate_unique(self) -> None:
        """The action refuses a taken address, for pages and the API alike."""

    def add_refusal(self, refusal: ArenaError) -> None:
        for name, lines in (refusal.fields or {}).items():
            self.add_error(name, lines)


class RoleForm(forms.Form):
    role = forms.ChoiceField(choices=Role.choices)


class InviteForm(forms.Form):
    role = forms.ChoiceField(
        label=_("Role"), choices=list(ROLE_HINTS.items()), initial=Role.MEMBER, widget=forms.RadioSelect
    )
    uses = forms.IntegerField(label=_("How many people can use the link"), min_value=1, max_value=MAX_USES, initial=1)
    days = forms.IntegerField(label=_("For how many days"), min_value=1, max_value=MAX_DAYS, initial=14)
    email = forms.EmailField(
        label=_("Only for this e-mail address"), required=False, help_text=_("Empty: anyone with the link can use it.")
    )

    def clean_email(self) -> str:
        email: str = self.cleaned_data["email"]
        if email and self.cleaned_data.get("uses", 1) > 1:
            raise forms.ValidationError(_("A link for one address has one use."))
        return email

    @property
    def arguments(self) -> InvitationArguments:
        return {
            "role": Role(self.cleaned_data["role"]),
            "uses": self.cleaned_data["uses"],
            "expires_at": timezone.now() + timedelta(days=self.cleaned_data["days"]),
            "email": self.cleaned_data["email"],
        }
