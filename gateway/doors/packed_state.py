"""State of a model in the fields that other languages have for it: encrypted reasoning, and signatures of thinking."""

import base64
import binascii

import msgspec

from common.payload_types import JsonObject

_MARK = "arena."


def pack_state(state: JsonObject) -> str:
    """state: fields of an assistant's message in chat completions; under `tool_calls` those of calls, by their ids."""
    return _MARK + base64.urlsafe_b64encode(msgspec.json.encode(state)).decode()


def unpack_state(packed: object) -> JsonObject:
    """Return {} for state that pack_state did not make; its parts carry tags of their own."""
    if not isinstance(packed, str) or not packed.startswith(_MARK):
        return {}
    try:
        return msgspec.json.decode(base64.urlsafe_b64decode(packed.removeprefix(_MARK)), type=dict)
    except (binascii.Error, ValueError, msgspec.MsgspecError, RecursionError):
        return {}
