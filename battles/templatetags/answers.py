"""`{% if "stopped" in turn.answers|states %}`."""

from django import template

from battles.payload_types import AnswerPayload

register = template.Library()


@register.filter
def states(answers: list[AnswerPayload]) -> set[str]:
    return {answer["state"] for answer in answers}
