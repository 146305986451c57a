import re
from typing import Any, NamedTuple

from django import forms
from django.conf import settings
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _

from accounts.admin.audited import AuditedAdmin
from accounts.limiting.networks import parse_network
from accounts.limiting.rates import HELP, validate_rate
from accounts.limiting.words import ACTIONS, WHO
from accounts.models import Limit, LimitGroup

MAX_NETWORKS = 200


def _label(action: str, who: str) -> str:
    return f"{ACTIONS[action]}, {WHO[who]}"


def _choices() -> list[tuple[str, str]]:
    return [
        (f"{action} {who}", f"{_label(action, who)}: {rate}") for (action, who), rate in settings.ARENA_LIMITS.items()
    ]


class LimitInForce(NamedTuple):
    """row: None for the default."""

    key: str
    rate: str
    row: Limit | None


def _limits_in_force() -> list[tuple[str, list[tuple[str, LimitInForce]]]]:
    """Return (action, [(who, limit)]) in words."""
    chosen = {(row.action, row.who): row for row in Limit.objects.all()}
    rows: dict[str, list[tuple[str, LimitInForce]]] = {}
    for (action, who), default in settings.ARENA_LIMITS.items():
        row = chosen.get((action, who))
        cell = LimitInForce(f"{action} {who}", default if row is None else row.rate, row)
        rows.setdefault(str(ACTIONS[action]), []).append((str(WHO[who]), cell))
    return list(rows.items())


class LimitForm(forms.ModelForm):  # type: ignore[type-arg]
    limit = forms.ChoiceField(label=_("limit"), choices=_choices, help_text=_("With the default after the colon."))
    rate = forms.CharField(label=_("rate"), max_length=100, validators=[validate_rate], help_text=HELP)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk and "limit" in self.fields:
            self.initial["limit"] = str(self.instance)
            self.fields["limit"].disabled = True


@admin.register(Limit)
class LimitAdmin(AuditedAdmin):
    form = LimitForm
    fields = ("limit", "rate")
    list_display = ("limit", "rate", "default", "changed_at")
    ordering = ("action", "who")

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, object] | None = None) -> HttpResponse:
        context = {"in_force": _limits_in_force(), "groups": LimitGroup.objects.select_related("members")}
        return super().changelist_view(request, {**(extra_context or {}), **context})

    def state_of(self, row: Limit) -> dict[str, object]:
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


class NetworksField(forms.CharField):
    """Networks, one a line."""

    widget = forms.Textarea

    def prepare_value(self, value: object) -> object:
        return "\n".join(value) if isinstance(value, list) else value

    def clean(self, value: str) -> list[str]:
        networks, refusals = [], []
        for text in re.split(r"[\s,;]+", super().clean(value)):
            try:
                networks += [str(parse_network(text))] if text else []
            except ValidationError as refusal:
                refusals.append(refusal)
        if len(networks) > MAX_NETWORKS:
            refusals.append(ValidationError(_("Write at most %(most)d networks."), params={"most": MAX_NETWORKS}))
        if refusals:
            raise ValidationError(refusals)
        return list(dict.fromkeys(networks))


class LimitGroupForm(forms.ModelForm):  # type: ignore[type-arg]
    networks = NetworksField(
        label=_("Networks"), required=False, max_length=10_000,
        help_text=_("One a line: 192.0.2.7, 192.0.2.0/24, 2001:db8:1::/48. Each limit of a network holds for them "
        "this many times, and so does the daily cap on counted votes."),
    )  # fmt: skip

    class Meta:
        model = LimitGroup
        fields = ["name", "networks", "members", "times"]
        help_texts = {
            "members": _("Each limit of a member holds for the group’s members this many times."),
            "times": _("2 to 100. For a class of 120 behind one address, 4 is enough."),
        }


@admin.register(LimitGroup)
class LimitGroupAdmin(AuditedAdmin):
    form = LimitGroupForm
    list_display = ("name", "listed_networks", "members", "times", "changed_at")
    list_select_related = ("members",)
    search_fields = ("name",)
    ordering = ("name",)

    def state_of(self, row: LimitGroup) -> dict[str, object]:
        return {"networks": row.networks, "members": str(row.members or ""), "times": row.times}

    @admin.display(description=_("networks"))
    def listed_networks(self, row: LimitGroup) -> str:
        return ", ".join(row.networks)
