import json
from urllib.parse import urlencode

from django import template
from django.urls import reverse
from django.utils.formats import number_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from accounts.teams.places import PARAMETER
from common.payload_types import Json
from models_registry.models import TEAM_SEPARATOR, LanguageModel
from models_registry.payloads import model_icon_url
from models_registry.picking import Row

register = template.Library()


@register.simple_tag
def model_icon(name: str, icon: str | None, organization: str = "") -> SafeString:
    """Return the icon, or initials: rather the organization's, because those of versions repeat."""
    if icon:
        return format_html('<img class="model-icon" src="{}" width="24" height="24" alt="" loading="lazy">', icon)
    return format_html('<span class="model-icon" aria-hidden="true">{}</span>', initials(organization or name))


@register.simple_tag
def icon_of(model: LanguageModel) -> SafeString:
    return model_icon(model.name, model_icon_url(model.pk), model.organization)


@register.simple_tag
def model_address(name: str, team: str = "") -> str:
    """Return the address of the page about a model. name: its id in payloads. team: of the boards to show."""
    address = reverse("leaderboard:model", args=[name])
    team = team or name.rpartition(TEAM_SEPARATOR)[0]
    return f"{address}?{urlencode({PARAMETER: team})}" if team else address


@register.simple_tag
def model_line(row: Row) -> SafeString:
    # An include of a template would take most of a picker's time.
    facts = format_html_join(" · ", "<bdi>{}</bdi>", ((fact,) for fact in row.facts))
    badge = format_html('<span class="badge">{}</span> ', row.gap) if row.gap else ""
    return format_html(
        '{} <span class="model-name"><bdi>{}</bdi></span> <span class="hint">{}{}</span>',
        icon_of(row.model), row.model, badge, facts,
    )  # fmt: skip


@register.filter
def ability_label(ability: str) -> str:
    return str(dict(LanguageModel.Ability.choices).get(LanguageModel.Ability(ability), ability))


@register.filter
def short_number(number: float) -> str:
    """Format without trailing zeros: 7, 70.5."""
    return number_format(int(number) if number == int(number) else number)


@register.filter
def parameter(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)


@register.filter
def change_label(change: str) -> str:
    labels = {"provider": _("provider"), "model": _("upstream model"), "system_prompt": _("system prompt")}
    return labels.get(change, change.removeprefix("parameters."))


def initials(name: str) -> str:
    words = ["".join(letter for letter in word if letter.isalnum()) for word in name.replace("-", " ").split()]
    words = [word for word in words if word]
    return ("".join(word[0] for word in words[:2]) if len(words) > 1 else "".join(words)[:2]).upper() or "?"
