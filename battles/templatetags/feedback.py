"""`{% feedback_tags vote side as groups %}`: what may be said of an answer, the good before the bad."""

from typing import Any

from django import template

from battles import feedback

register = template.Library()


@register.simple_tag
def feedback_tags(vote: dict[str, Any], side: str) -> list[list[dict[str, Any]]]:
    """[[{value, label, chosen}]]; vote: as `battles.blind` shows it."""
    said = vote["tags"].get(side, [])
    return [
        [{"value": tag, "label": label, "chosen": tag in said} for tag, label in tags.items()]
        for tags in (feedback.GOOD, feedback.BAD)
    ]
