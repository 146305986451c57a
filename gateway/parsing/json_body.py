import msgspec

from common.payload_types import Json, JsonObject
from gateway.parsing.fields import BadField

# Pictures and files are most of it.
MAX_BODY_BYTES = 16_000_000
# Messages, parts, tools and their schemas are not deeper; recursive functions read them.
MAX_DEPTH = 100
MAX_VALUES = 200_000
# Larger bodies are decoded message by message: the decoder lets no other thread run.
MAX_BYTES_AT_ONCE = 500_000
_ESCAPED_NUL = b"\\u0000"
_decode_fields = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_decode_entries = msgspec.json.Decoder(list[msgspec.Raw]).decode


def decode_body(body: bytes) -> JsonObject:
    """Raises BadField, also for NUL characters, deep nesting and too many values."""
    try:
        value = msgspec.json.decode(body) if len(body) <= MAX_BYTES_AT_ONCE else _decode_in_steps(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadField(f"The body is not valid JSON: {error}.", code="invalid_json") from None
    except RecursionError:
        raise BadField("The body is nested too deeply.", code="too_deep") from None
    if not isinstance(value, dict):
        raise BadField("The body must be an object.")
    _check_size(value)
    if _ESCAPED_NUL in body and _has_nul(value):
        raise BadField("The body contains NUL characters.", code="invalid_characters")
    return value


def _decode_in_steps(encoded: bytes) -> JsonObject:
    body: JsonObject = {}
    number = 0
    for name, raw in _decode_fields(encoded).items():
        is_list = bytes(memoryview(raw)[:1]) == b"["
        entries = _decode_entries(raw) if is_list else [raw]
        decoded: list[Json] = []
        for entry in entries:
            content = bytes(entry)
            if _has_more_values(content, MAX_VALUES - number):
                raise _too_many()
            decoded.append(value := msgspec.json.decode(content))
            number += _check_size(value)
        body[name] = decoded if is_list else decoded[0]
    return body


def _has_more_values(content: bytes, most: int) -> bool:
    """Compare by what is quickest to count: bytes, separators, and separators outside of texts."""
    return len(content) > most and _count_separators(content) > most and _count_values(content) > most


def _count_values(content: bytes) -> int:
    """Return how many values encoded JSON has, or somewhat more."""
    content = content.replace(b"\\\\", b"").replace(b'\\"', b"")
    if (quotes := content.count(b'"')) > 4 * MAX_VALUES:
        return quotes // 4
    return _count_separators(b"".join(content.split(b'"')[::2]))


def _count_separators(content: bytes) -> int:
    return 1 + sum(map(content.count, (b",", b"[", b"{")))


def _check_size(value: Json) -> int:
    """Return the number of values; refuse deep nesting, and more than MAX_VALUES."""
    level = [value]
    number = 1
    for _ in range(MAX_DEPTH):
        level = [child for parent in level for child in _children(parent)]
        if not level:
            return number
        number += len(level)
        if number > MAX_VALUES:
            raise _too_many()
        level = [child for child in level if isinstance(child, dict | list)]
    raise BadField(f"The body is nested more than {MAX_DEPTH} levels deep.", code="too_deep")


def _too_many() -> BadField:
    return BadField(f"The body may have at most {MAX_VALUES:,} values.", code="too_many_values")


def strings_in(value: Json, *, with_names: bool = True) -> list[str]:
    """Return all texts in a value of limited depth, and the names of its fields, in order."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict) and with_names:
        return [text for name, field in value.items() for text in (name, *strings_in(field))]
    return [text for child in _children(value) for text in strings_in(child, with_names=with_names)]


def _has_nul(value: Json) -> bool:
    if isinstance(value, str):
        return "\x00" in value
    if isinstance(value, dict) and any("\x00" in name for name in value):
        return True
    return any(_has_nul(child) for child in _children(value))


def _children(value: Json) -> list[Json]:
    return list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
