"""Tags of auto mode's decisions: the bars of the alternatives, and the models to compare."""

from collections.abc import Iterable
from typing import NamedTuple

from django import template

from battles.payload_types import AlternativePayload, BattlePayload

register = template.Library()


class Bar(NamedTuple):
    """Text, and the length of its bar in percent of the longest; None while unknown."""

    value: str | float | None
    percent: int


class Row(NamedTuple):
    name: str
    is_chosen: bool
    chance: Bar  # in percent
    price: Bar  # US dollars as a decimal string
    wait: Bar  # milliseconds


@register.simple_tag
def decision_rows(battle: BattlePayload) -> list[Row]:
    """Return the alternatives of a revealed decision; empty before."""
    decision = battle["decision"]
    found = decision.get("alternatives", []) if decision else []
    answering = {side["model"]["id"] for side in battle["sides"] or []}
    dearest = _largest(float(each["cost"]) for each in found if each["cost"] is not None)
    slowest = _largest(each["first_token_ms"] or 0 for each in found)
    return [_row(each, is_chosen=each["model"] in answering, dearest=dearest, slowest=slowest) for each in found]


def _largest(numbers: Iterable[float]) -> float:
    return max(numbers, default=0) or 1


def _row(each: AlternativePayload, *, is_chosen: bool, dearest: float, slowest: float) -> Row:
    chance, cost, wait = each["win_chance"], each["cost"], each["first_token_ms"]
    percent = None if chance is None else round(100 * chance)
    return Row(
        each["name"],
        is_chosen,
        Bar(percent, percent or 0),
        Bar(cost, round(100 * float(cost or 0) / dearest)),
        Bar(wait, round(100 * (wait or 0) / slowest)),
    )


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
