"""Decoded JSON of limited depth and size."""

from common.conversation.errors import BadField
from common.payload_types import Json

# Messages, parts, tools and their schemas are not deeper; recursive functions read them.
MAX_DEPTH = 100
MAX_VALUES = 200_000


def check_size(value: Json) -> int:
    """Return the number of values; refuse deep nesting, and more than MAX_VALUES."""
    level = [value]
    number = 1
    for _ in range(MAX_DEPTH):
        level = [child for parent in level for child in _children(parent)]
        if not level:
            return number
        number += len(level)
        if number > MAX_VALUES:
            raise too_many_values()
        level = [child for child in level if isinstance(child, dict | list)]
    raise BadField(f"The body is nested more than {MAX_DEPTH} levels deep.", code="too_deep")


def too_many_values() -> BadField:
    return BadField(f"The body may have at most {MAX_VALUES:,} values.", code="too_many_values")


def strings_in(value: Json, *, with_names: bool = True) -> list[str]:
    """Return all texts in a value of limited depth, and the names of its fields, in order."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict) and with_names:
        return [text for name, field in value.items() for text in (name, *strings_in(field))]
    return [text for child in _children(value) for text in strings_in(child, with_names=with_names)]


def has_nul(value: Json) -> bool:
    if isinstance(value, str):
        return "\x00" in value
    if isinstance(value, dict) and any("\x00" in name for name in value):
        return True
    return any(has_nul(child) for child in _children(value))


def _children(value: Json) -> list[Json]:
    return list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
