"""Changes of a refused request: a part left out, or its other form.

A repair is named as it is stored and shown: “-temperature” leaves it out, “max_tokens → max_completion_tokens” renames
it.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import NamedTuple

from common.conversation.contents import count_images
from models_registry.providers import refused_parts as parts
from models_registry.providers.base import ChatRequest, FailureCode, Message, ProviderError
from models_registry.providers.kinds import CAPS, TOOLING, ReasoningBack

# Refusals of one call that are answered by a repeat, each about another part.
MAX_REPAIRS = 5
MIN_CAP = 16
# A request without them is another one, and one that a caller did not make.
_NEVER_LEFT_OUT = {"tools", "n", "stream", "model", "messages"}
_CALLERS_OWN = TOOLING | {"stop"}


class Form(NamedTuple):
    """Another form of the same request. part: of refused_parts, after whose refusal it is tried."""

    part: str
    change: Callable[[ChatRequest], ChatRequest]


def parameter_of(repair: str) -> str:
    """Return "" for another form of the same request."""
    return repair.removeprefix("-") if repair.startswith("-") else ""


def is_part_of(part: str, request: ChatRequest) -> bool:
    if part in request.parameters:
        return True
    roles = {message["role"] for message in request.messages}
    contents = [message.get("content") for message in request.messages]
    return {
        parts.SYSTEM: "system" in roles,
        parts.DEVELOPER: "developer" in roles,
        parts.ALTERNATION: True,
        parts.SYSTEM_PLACE: bool(roles & {"system", "developer"}),
        parts.TEXT_PARTS: any(isinstance(content, list) for content in contents),
        parts.NULL_CONTENT: None in contents,
        parts.AFTER_TOOL: True,
        parts.NO_REASONING: any("tool_calls" in message for message in request.messages),
        parts.REASONING: request.reasoning_back is not None,
        parts.IMAGES: any(count_images(message) for message in request.messages),
    }.get(part, False)


def find_repair(error: ProviderError, request: ChatRequest) -> str:
    """Return the repair of a refused part; "" if there is none, or `request` must keep the part."""
    part = error.parameter
    if error.code is not FailureCode.UNSUPPORTED or not part:
        return ""
    if part in CAPS:
        repair = _repair_of_cap(part, request, error.upstream)
    elif part in _FORM_OF_PART:
        repair = _FORM_OF_PART[part]
    elif part in request.parameters and not _must_stay(part, request):
        repair = f"-{part}"
    else:
        return ""
    return repair if repair and apply_repair(repair, request) != request else ""


def _must_stay(name: str, request: ChatRequest) -> bool:
    if name == "tool_choice" and request.parameters[name] == "auto":  # the default
        return False
    return name in _NEVER_LEFT_OUT or name in request.kept or name in request.callers & _CALLERS_OWN


def _repair_of_cap(name: str, request: ChatRequest, upstream: str) -> str:
    # It is never left out: an answer without a cap has no bound, and no price.
    if name not in request.parameters:
        return ""
    cap = int(request.parameters[name])
    rest = upstream.lower().partition(name)[2]
    if re.search(r"too large|at most|less than|valid range|must be|maximum|<=|exceed|should be", rest):
        lower = [number for number in map(int, re.findall(r"\d{2,9}", rest)) if MIN_CAP <= number < cap]
        if lower:
            return f"{name} ≤ {max(lower)}"
    (other,) = CAPS - {name}
    return f"{name} → {other}"


def apply_repair(repair: str, request: ChatRequest) -> ChatRequest:
    """Return the repaired request, the same if nothing applies."""
    if parameter := parameter_of(repair):
        return replace(request, parameters={k: v for k, v in request.parameters.items() if k != parameter})
    name, sign, other = repair.partition(" → ")
    if name in CAPS and sign:
        renamed = {other if key == name else key: value for key, value in request.parameters.items()}
        return replace(request, parameters=renamed)
    name, sign, bound = repair.partition(" ≤ ")
    if sign:
        if int(request.parameters.get(name, 0)) <= int(bound):
            return request
        return replace(request, parameters=request.parameters | {name: int(bound)})
    form = FORMS.get(repair)
    return form.change(request) if form else request


def apply_all(repairs: Iterable[str], request: ChatRequest) -> ChatRequest:
    for repair in repairs:
        request = apply_repair(repair, request)
    return request


def _system_to_user(messages: list[Message]) -> list[Message]:
    instructions = [message for message in messages if message["role"] in ("system", "developer")]
    rest = [message for message in messages if message["role"] not in ("system", "developer")]
    texts = [text for message in instructions if (text := _text(message["content"]))]
    if not instructions or not rest:
        return messages
    before: Message = {"role": "user", "content": "\n\n".join(texts)}
    if not texts:
        return rest
    return [_joined(before, rest[0]), *rest[1:]] if rest[0]["role"] == "user" else [before, *rest]


def _developer_to_system(messages: list[Message]) -> list[Message]:
    return [{**message, "role": "system"} if message["role"] == "developer" else message for message in messages]


def _system_first(messages: list[Message]) -> list[Message]:
    """Join the system's messages to one at the beginning."""
    systems = [message for message in messages if message["role"] in ("system", "developer")]
    if not systems:
        return messages
    first = systems[0]
    for message in systems[1:]:
        first = _joined(first, message)
    return [first, *(message for message in messages if message["role"] not in ("system", "developer"))]


def _merge_roles(messages: list[Message]) -> list[Message]:
    """Join neighbours of one role; put an answer between a tool's result and the user's next message."""
    merged: list[Message] = []
    for message in messages:
        may_merge = merged and message["role"] in ("user", "assistant", "system") and not (
            message.keys() | merged[-1].keys()
        ) - {"role", "content"}  # fmt: skip
        if may_merge and merged[-1]["role"] == message["role"]:
            merged[-1] = _joined(merged[-1], message)
        else:
            merged.append(message)
    return _bridge_tool_to_user(merged)


def _bridge_tool_to_user(messages: list[Message]) -> list[Message]:
    """Put an answer between a tool's result and the user's next message."""
    bridged: list[Message] = []
    for message in messages:
        if bridged and message["role"] == "user" and bridged[-1]["role"] == "tool":
            bridged.append({"role": "assistant", "content": "OK."})
        bridged.append(message)
    return bridged


def _joined(first: Message, second: Message) -> Message:
    contents = [first.get("content") or "", second.get("content") or ""]
    if all(isinstance(content, str) for content in contents):
        return {**second, "content": "\n\n".join(filter(None, contents))}
    return {**second, "content": [part for content in contents for part in _parts(content)]}


def _parts(content: object) -> list[object]:
    if isinstance(content, list):
        return content
    return [{"type": "text", "text": content}] if content else []


def _parts_to_text(messages: list[Message]) -> list[Message]:
    return [
        {**message, "content": _text(message["content"])} if _has_texts_only(message.get("content")) else message
        for message in messages
    ]


def _has_texts_only(content: object) -> bool:
    return isinstance(content, list) and all(isinstance(part, dict) and part.get("type") == "text" for part in content)


def _null_to_text(messages: list[Message]) -> list[Message]:
    return [{**message, "content": ""} if message.get("content") is None else message for message in messages]


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    return "\n\n".join(part.get("text", "") for part in content) if isinstance(content, list) else ""


def _of_messages(change: Callable[[list[Message]], list[Message]]) -> Callable[[ChatRequest], ChatRequest]:
    def changed(request: ChatRequest) -> ChatRequest:
        messages = change(request.messages)
        return request if messages == request.messages else replace(request, messages=messages)

    return changed


def _with_reasoning(request: ChatRequest) -> ChatRequest:
    back = request.reasoning_back or ReasoningBack()
    return replace(request, reasoning_back=replace(back, only_with_calls=False, fills_in=True))


def _without_reasoning(request: ChatRequest) -> ChatRequest:
    return replace(request, reasoning_back=None)


# All forms by name. A kind's dialect names those that its servers need always (kinds.Dialect.forms); the others are
# tried after a refusal of their part.
FORMS: dict[str, Form] = {
    "system → user": Form(parts.SYSTEM, _of_messages(_system_to_user)),
    "system first": Form(parts.SYSTEM_PLACE, _of_messages(_system_first)),
    "developer → system": Form(parts.DEVELOPER, _of_messages(_developer_to_system)),
    "merge roles": Form(parts.ALTERNATION, _of_messages(_merge_roles)),
    "bridge tool → user": Form(parts.AFTER_TOOL, _of_messages(_bridge_tool_to_user)),
    "parts → text": Form(parts.TEXT_PARTS, _of_messages(_parts_to_text)),
    "null → text": Form(parts.NULL_CONTENT, _of_messages(_null_to_text)),
    "with reasoning": Form(parts.NO_REASONING, _with_reasoning),
    "without reasoning": Form(parts.REASONING, _without_reasoning),
}
_FORM_OF_PART = {form.part: name for name, form in FORMS.items()}
