"""State of an answer that its server wants back: sealed reasoning, signatures, and ids; docs/adr/0067.

Its fields keep the server's names and shapes, which fit into a message of the next request.
"""

import re

from common.payload_types import Json, JsonObject

# Lists of parts of reasoning.
PARTS = ("reasoning_details", "thinking_blocks")
# Objects in which every text is sealed.
OBJECTS = ("extra_content", "provider_specific_fields")
_NAMES = {*PARTS, *OBJECTS}
# Field of this module for parts of reasoning that stand among those of the text.
IN_CONTENT = "content_blocks"
_REASONING_KINDS = re.compile(r"reason|think|thought|redact", re.IGNORECASE)
_SEALED = re.compile(r"signature|encrypt|opaque|redact", re.IGNORECASE)
MAX_DEPTH = 8
# Fields of a part that grow from chunk to chunk.
_GROWING = ("text", "summary", "thinking", "data")


def is_sealed_name(name: str) -> bool:
    """Return whether only the server that wrote the field of a part can read it."""
    return bool(_SEALED.search(name)) or name == "data"


def state_of(fields: JsonObject) -> JsonObject:
    """Return the state among the fields of a message, a delta, or a tool call."""
    state = {name: value for name, value in fields.items() if value and (name in _NAMES or _SEALED.search(name))}
    content = fields.get("content")
    if isinstance(content, list) and (blocks := [part for part in content if is_reasoning_part(part)]):
        state[IN_CONTENT] = blocks
    return state


def is_reasoning_part(part: Json) -> bool:
    """Return whether a part of a content is reasoning, in the words of any server."""
    return isinstance(part, dict) and bool(_REASONING_KINDS.search(str(part.get("type"))))


def has_seal(part: JsonObject) -> bool:
    """Return whether a part of reasoning has more than its text."""
    inner = [entry for value in part.values() if isinstance(value, list) for entry in value if isinstance(entry, dict)]
    return any(value and is_sealed_name(name) for entry in (part, *inner) for name, value in entry.items())


def merge(state: JsonObject, more: JsonObject, depth: int = 0) -> None:
    """Add the state of a later chunk."""
    for name, value in more.items():
        known = state.get(name)
        if isinstance(known, list) and isinstance(value, list):
            for part in value:
                _append(known, part)
        elif isinstance(known, dict) and isinstance(value, dict) and depth < MAX_DEPTH:
            merge(known, value, depth + 1)
        elif isinstance(value, list):
            state[name] = []
            merge(state, {name: value})
        else:
            state[name] = dict(value) if isinstance(value, dict) else value


def _append(parts: list[Json], part: Json) -> None:
    """Add a part, or what has been added to the last one."""
    last = parts[-1] if parts else None
    if isinstance(last, dict) and isinstance(part, dict) and _continues(last, part):
        for name, value in part.items():
            known = last.get(name)
            if name in _GROWING and isinstance(value, str) and isinstance(known, str):
                last[name] = known + value
            elif isinstance(value, list) and isinstance(known, list):
                for inner in value:
                    _append(known, inner)
            elif value is not None:
                last[name] = value
    else:
        parts.append(dict(part) if isinstance(part, dict) else part)


def _continues(last: JsonObject, part: JsonObject) -> bool:
    if last.get("type") != part.get("type") or _differ(last, part, "id") or _differ(last, part, "index"):
        return False
    return part.get("index") is not None or not has_seal(last)


def _differ(last: JsonObject, part: JsonObject, name: str) -> bool:
    return last.get(name) is not None and part.get(name) is not None and last[name] != part[name]


def with_state(message: JsonObject, state: JsonObject) -> JsonObject:
    """Return an assistant's message with its state, as its server sent both."""
    merged = message | {name: value for name, value in state.items() if name != IN_CONTENT}
    if blocks := state.get(IN_CONTENT):
        text = message.get("content")
        parts = text if isinstance(text, list) else [{"type": "text", "text": text}] if text else []
        merged["content"] = [*blocks, *parts]
    return merged
