import msgspec

from common.conversation.errors import BadField
from common.conversation.json_values import MAX_VALUES, check_size, has_nul, too_many_values
from common.payload_types import Json, JsonObject

# Pictures and files are most of it.
MAX_BODY_BYTES = 16_000_000
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
    check_size(value)
    if _ESCAPED_NUL in body and has_nul(value):
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
                raise too_many_values()
            decoded.append(value := msgspec.json.decode(content))
            number += check_size(value)
        body[name] = decoded if is_list else decoded[0]
    return body


def _has_more_values(content: bytes, maximum: int) -> bool:
    """Compare by what is quickest to count: bytes, separators, and separators outside of texts."""
    return len(content) > maximum and _count_separators(content) > maximum and _count_values(content) > maximum


def _count_values(content: bytes) -> int:
    """Return how many values encoded JSON has, or somewhat more."""
    content = content.replace(b"\\\\", b"").replace(b'\\"', b"")
    if (quotes := content.count(b'"')) > 4 * MAX_VALUES:
        return quotes // 4
    return _count_separators(b"".join(content.split(b'"')[::2]))


def _count_separators(content: bytes) -> int:
    return 1 + sum(map(content.count, (b",", b"[", b"{")))
