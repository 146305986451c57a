"""How often people may do something: every limit on one page, to be changed without a restart."""

from collections.abc import Iterator
from typing import Any, cast

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from accounts import chosen_limits
from accounts.models import Limit, User
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


LONGEST_S = 366 * 24 * 3600  # what Valkey cannot count would shut everybody out, too


class LimitsForm(forms.Form):
    """A field for each limit there is, empty where the settings hold, and hidden beside it what it showed.

    What stayed as it was shown is what holds now, however old the page is.
    """

    def __init__(self, data: QueryDict | None = None, *, chosen: chosen_limits.Rates) -> None:
        self._now = {_name(*key): chosen.get(key, "") for key in settings.ARENA_LIMITS}
        self._shown = self._now
        if data is not None:
            data = data.copy()
            self._shown = {name: data.get(f"shown-{name}", rate) for name, rate in self._now.items()}
            for name, rate in self._shown.items():
                if data.get(name, rate).strip() == rate:
                    data[name] = self._now[name]
        super().__init__(data, initial=self._now)
        for (action, who), rate in settings.ARENA_LIMITS.items():
            self.fields[_name(action, who)] = forms.CharField(
                label=f"{ACTIONS[action]}, {WHO[who]}", required=False, max_length=100, validators=[_is_a_rate],
                widget=forms.TextInput(attrs={"placeholder": rate}),
            )  # fmt: skip

    def rows(self) -> Iterator[dict[str, Any]]:
        for action, who in settings.ARENA_LIMITS:
            yield {
                "action": ACTIONS[action],
                "who": WHO[who],
                "setting": f"ARENA_LIMIT_{action}_{who}".upper(),
                "field": self[_name(action, who)],
                "now": self._now[_name(action, who)],
            }

    def choose(self, *, by: User) -> int | None:
        """How many limits that changes; None when the form now says what somebody else chose meanwhile."""
        keys = [key for key in settings.ARENA_LIMITS if _name(*key) in self.changed_data]
        rates = {key: self.cleaned_data[_name(*key)] for key in keys}
        try:
            return chosen_limits.choose(rates, by=by, in_place_of={key: self._shown[_name(*key)] for key in keys})
        except chosen_limits.ChosenMeanwhile as others:
            for key, rate in others.rates.items():
                self.add_error(_name(*key), _meanwhile(rate))
            return None


def _name(action: str, who: str) -> str:
    return f"{action}-{who}"


def _meanwhile(rate: str) -> ValidationError:
    if not rate:
        return ValidationError(_("Meanwhile somebody else left this to the settings. Save again if yours is to hold."))
    problem = _("Meanwhile somebody else chose “%(rate)s” here. Save again if yours is to hold.")
    return ValidationError(problem, params={"rate": rate})


def _is_a_rate(rate: str) -> None:
    """Not zero times either: that of wrong passwords would shut everybody out for good."""
    try:
        is_one = all(item.amount and item.get_expiry() <= LONGEST_S for item in limits.parsed(rate))
    except ValueError:
        is_one = False
    if not is_one:
        problem = _("“%(rate)s” is no limit. Write “30/hour”, “30/hour,150/day”, “5/15 minutes” or “off”.")
        raise ValidationError(problem, params={"rate": rate})


@admin.register(Limit)
class LimitAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Limit | None = None) -> bool:
        return False

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """In place of a list of rows: there are rows only where the settings do not hold."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        may_change = self.has_change_permission(request)
        is_sent = request.method == "POST"
        if is_sent and not may_change:
            raise PermissionDenied
        form = LimitsForm(request.POST if is_sent else None, chosen=chosen_limits.chosen())
        changed = form.choose(by=cast(User, request.user)) if form.is_valid() else None
        if changed is not None:
            sentence = ngettext("%(n)d limit is changed.", "%(n)d limits are changed.", changed)
            messages.success(request, sentence % {"n": changed})
            return redirect(request.path)
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": _("Limits"),
            "form": form,
            "may_change": may_change,
        }
        status = 422 if form.errors else 200
        return TemplateResponse(request, "admin/accounts/limits.html", context, status=status)
