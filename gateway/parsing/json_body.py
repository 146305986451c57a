import msgspec

from common.payload_types import Json, JsonObject
from gateway.parsing.fields import BadField

# Messages, parts, tools and their schemas are not deeper; recursive functions read them.
MAX_DEPTH = 64
_ESCAPED_NUL = b"\\u0000"


def decode_body(body: bytes) -> JsonObject:
    """Raises BadField, also for NUL characters and deep nesting."""
    try:
        value: Json = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadField(f"The body is not valid JSON: {error}.", code="invalid_json") from None
    except RecursionError:
        raise BadField("The body is nested too deeply.", code="too_deep") from None
    if not isinstance(value, dict):
        raise BadField("The body must be an object.")
    _check_depth(value)
    if _ESCAPED_NUL in body and _has_nul(value):
        raise BadField("The body contains NUL characters.", code="invalid_characters")
    return value


def _check_depth(value: Json) -> None:
    level: list[Json] = [value]
    for _ in range(MAX_DEPTH):
        level = [child for parent in level for child in _children(parent)]
        if not level:
            return
    raise BadField(f"The body is nested more than {MAX_DEPTH} levels deep.", code="too_deep")


def strings_in(value: Json) -> list[str]:
    """Return all texts in a value of limited depth, and the names of its fields, in order."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for name, field in value.items() for text in (name, *strings_in(field))]
    return [text for child in _children(value, leaves=True) for text in strings_in(child)]


def _has_nul(value: Json) -> bool:
    if isinstance(value, str):
        return "\x00" in value
    if isinstance(value, dict) and any("\x00" in name for name in value):
        return True
    return any(_has_nul(child) for child in _children(value, leaves=True))


def _children(value: Json, *, leaves: bool = False) -> list[Json]:
    """Return the values in a list or object; without `leaves`, only lists and objects."""
    children = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    return children if leaves else [child for child in children if isinstance(child, dict | list)]
