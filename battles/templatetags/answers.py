"""`{% if "stopped" in turn.answers|states %}`: whether any of them is."""

from django import template

from battles.payload_types import AnswerPayload

register = template.Library()


@register.filter
def states(answers: list[AnswerPayload]) -> set[str]:
    """answers: as `battles.payloads` shows them."""
    return {answer["state"] for answer in answers}
