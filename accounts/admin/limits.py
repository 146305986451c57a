from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from accounts.admin.audited import AuditChangesMixin
from accounts.models import Limit
from common.valkey import limits

ACTIONS = {
    "battle": _("new battles"),
    "turn": _("follow-ups, and asking again"),
    "vote": _("votes"),
    "star": _("stars"),
    "report": _("reports"),
    "upload": _("files brought"),
    "export": _("downloads of votes and of one’s own data"),
    "signin": _("wrong passwords"),
    "signup": _("new accounts"),
    "signon": _("sign-ins begun with an organization"),
    "token": _("wrong API tokens"),
}
WHO = {
    "visitor": _("a visitor"),
    "member": _("a member"),
    "person": _("one e-mail address from one network, or from a browser in which it signed in before"),
    "address": _("one e-mail address from anywhere"),
    "network": _("one network (an IPv4 address or an IPv6 /64)"),
    "network48": _("one IPv6 /48"),
}
MAX_PERIOD_S = 366 * 24 * 3600  # Valkey rejects an expiry that is too long, which would refuse every request


def _validate_rate(rate: str) -> None:
    """Refuse an amount of zero, too: on wrong passwords it would stop every sign-in."""
    try:
        is_valid = all(item.amount and item.get_expiry() <= MAX_PERIOD_S for item in limits.parse_rate(rate))
    except ValueError:
        is_valid = False
    if not is_valid:
        problem = _("“%(rate)s” is no limit. Write “30/hour”, “30/hour,150/day”, “5/15 minutes” or “off”.")
        raise ValidationError(problem, params={"rate": rate})


def _label(action: str, who: str) -> str:
    return f"{ACTIONS[action]}, {WHO[who]}"


def _choices() -> list[tuple[str, str]]:
    return [
        (f"{action} {who}", f"{_label(action, who)}: {rate}") for (action, who), rate in settings.ARENA_LIMITS.items()
    ]


class LimitForm(forms.ModelForm):  # type: ignore[type-arg]
    limit = forms.ChoiceField(label=_("limit"), choices=_choices, help_text=_("With the default after the colon."))
    rate = forms.CharField(
        label=_("rate"), max_length=100, validators=[_validate_rate],
        help_text=_("For example “30/hour,150/day”, or “off” for no limit. Takes effect within five seconds."),
    )  # fmt: skip

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk and "limit" in self.fields:
            self.initial["limit"] = str(self.instance)
            self.fields["limit"].disabled = True


@admin.register(Limit)
class LimitAdmin(AuditChangesMixin):
    form = LimitForm
    fields = ("limit", "rate")
    list_display = ("limit", "rate", "default", "changed_at")
    ordering = ("action", "who")

    def state_of(self, row: Limit) -> dict[str, Any]:
        return {"rate": row.rate}

    def save_model(self, request: HttpRequest, obj: Limit, form: LimitForm, change: bool) -> None:
        """Replace an existing row: of two administrators the last one wins."""
        action, who = form.cleaned_data["limit"].split()
        row, _is_new = Limit.objects.update_or_create(action=action, who=who, defaults={"rate": obj.rate})
        obj.pk, obj.action, obj.who = row.pk, action, who

    @admin.display(description=_("limit"), ordering="action")
    def limit(self, row: Limit) -> str:
        return _label(row.action, row.who)

    @admin.display(description=_("default"))
    def default(self, row: Limit) -> str:
        return str(settings.ARENA_LIMITS.get((row.action, row.who), ""))
