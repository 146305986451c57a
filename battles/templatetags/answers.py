"""`{% if "stopped" in turn.answers|states %}`: whether any of them is."""

from typing import Any

from django import template

register = template.Library()


@register.filter
def states(answers: list[dict[str, Any]]) -> set[str]:
    """answers: as `battles.payloads` shows them."""
    return {answer["state"] for answer in answers}
