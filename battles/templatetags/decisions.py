from collections.abc import Iterable
from decimal import Decimal
from typing import NamedTuple

from django import template
from django.utils.functional import Promise
from django.utils.translation import gettext

from battles.auto.options import DIAL_LABELS
from battles.auto.payload_types import AlternativePayload
from battles.payload_types import BattlePayload
from battles.templatetags.battles import seconds
from common.text.money import rounded_dollars
from models_registry.templatetags.energy import watt_hours

register = template.Library()


class Bar(NamedTuple):
    """Text, None while unknown, and the length of its bar in percent of the longest."""

    text: str | None
    percent: int


class Row(NamedTuple):
    """bars: chance, price, wait, and energy unless that of every row is unknown."""

    name: str
    is_chosen: bool
    bars: list[Bar]


@register.simple_tag
def decision_rows(battle: BattlePayload) -> list[Row]:
    """Return the alternatives of a revealed decision; empty before."""
    decision = battle["decision"]
    alternatives = decision.get("alternatives", []) if decision else []
    answering = {side["model"]["id"] for side in battle["sides"] or []}
    dearest = _largest(float(each["cost"]) for each in alternatives if each["cost"] is not None)
    slowest = _largest(each["first_token_ms"] or 0 for each in alternatives)
    energies = [each["energy"]["wh_high"] for each in alternatives if each["energy"]]
    hungriest = max(energies, default=None)
    return [
        _row(each, is_chosen=each["model"] in answering, dearest=dearest, slowest=slowest, hungriest=hungriest)
        for each in alternatives
    ]


def _largest(numbers: Iterable[float]) -> float:
    return max(numbers, default=0) or 1


def _row(each: AlternativePayload, *, is_chosen: bool, dearest: float, slowest: float, hungriest: float | None) -> Row:
    chance, cost, wait, energy = each["win_chance"], each["cost"], each["first_token_ms"], each["energy"]
    percent = round(100 * (chance or 0))
    bars = [
        Bar(None if chance is None else gettext("%(percent)s %%") % {"percent": percent}, percent),
        Bar(None if cost is None else rounded_dollars(Decimal(cost)), round(100 * float(cost or 0) / dearest)),
        Bar(None if wait is None else seconds(wait), round(100 * (wait or 0) / slowest)),
    ]
    if hungriest is not None:
        percent = round(100 * energy["wh_high"] / hungriest) if energy else 0
        bars.append(Bar(watt_hours(energy) if energy else None, percent))
    return Row(each["name"], is_chosen, bars)


@register.simple_tag
def models_to_compare(battle: BattlePayload) -> list[str]:
    """Return slugs of the chat's model and the best alternative; empty if there is none, or the chat has no answer."""
    decision, sides = battle["decision"], battle["sides"]
    if battle["mode"] != "direct" or not decision or not sides or battle["hidden"] or battle["turns"][0]["is_live"]:
        return []
    answering = sides[0]["model"]["id"]
    others = (each["model"] for each in decision.get("alternatives", []) if each["model"] != answering)
    other = next(others, None)
    return [] if other is None else [answering, other]


@register.simple_tag
def dial_labels() -> dict[str, Promise]:
    return DIAL_LABELS
