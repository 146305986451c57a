"""How often people may do something: every limit on one page, to be changed without a restart."""

from collections.abc import Iterator
from typing import Any, cast

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from accounts import chosen_limits
from accounts.models import Limit, User
from common import limits

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
    "visitor": _("a visitor, and visitors of one network"),
    "member": _("a member, and members of one network"),
    "address": _("one e-mail address"),
    "network": _("one network"),
}


LONGEST_S = 366 * 24 * 3600  # what Valkey cannot count would shut everybody out, too


class LimitsForm(forms.Form):
    """A field for each limit there is, empty where the settings hold."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for (action, who), rate in settings.ARENA_LIMITS.items():
            self.fields[f"{action}-{who}"] = forms.CharField(
                label=f"{ACTIONS[action]}, {WHO[who]}", required=False, max_length=100, validators=[_is_a_rate],
                widget=forms.TextInput(attrs={"placeholder": rate}),
            )  # fmt: skip

    def rows(self) -> Iterator[dict[str, Any]]:
        for action, who in settings.ARENA_LIMITS:
            yield {
                "action": ACTIONS[action],
                "who": WHO[who],
                "setting": f"ARENA_LIMIT_{action}_{who}".upper(),
                "field": self[f"{action}-{who}"],
            }

    def rates(self) -> dict[tuple[str, str], str]:
        return {(action, who): self.cleaned_data[f"{action}-{who}"] for action, who in settings.ARENA_LIMITS}


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
        chosen = {f"{action}-{who}": rate for (action, who), rate in chosen_limits.in_force().items()}
        is_sent = request.method == "POST"
        if is_sent and not may_change:
            raise PermissionDenied
        form = LimitsForm(request.POST if is_sent else None, initial=chosen)
        if form.is_valid():
            changed = chosen_limits.choose(form.rates(), by=cast(User, request.user))
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
