"""`{% feedback_tags vote side as groups %}`, `{{ tag|tag_words }}`: what may be said of an answer."""

from django import template

from battles import feedback
from battles.payload_types import VotePayload

register = template.Library()


@register.simple_tag
def feedback_tags(vote: VotePayload, side: str) -> list[list[dict[str, object]]]:
    """[[{value, label, chosen}]], the good before the bad; vote: as `battles.payloads` shows it."""
    said = vote["tags"].get(side, [])
    return [
        [{"value": tag, "label": label, "chosen": tag in said} for tag, label in tags.items()]
        for tags in (feedback.GOOD, feedback.BAD)
    ]


@register.filter
def tag_words(tag: str) -> str:
    return str(feedback.TAGS.get(tag, tag))
