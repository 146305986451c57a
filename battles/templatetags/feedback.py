"""`{% feedback_tags vote side as groups %}`, `{{ tag|tag_words }}`."""

from django import template

from battles import feedback
from battles.payload_types import VotePayload

register = template.Library()


@register.simple_tag
def feedback_tags(vote: VotePayload, side: str) -> list[list[dict[str, object]]]:
    """Return positive and negative tags as lists of {value, label, chosen}."""
    chosen = vote["tags"].get(side, [])
    return [
        [{"value": tag, "label": label, "chosen": tag in chosen} for tag, label in tags.items()]
        for tags in (feedback.GOOD, feedback.BAD)
    ]


@register.filter
def tag_words(tag: str) -> str:
    return str(feedback.TAGS.get(tag, tag))
