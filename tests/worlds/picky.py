"""Refusals of single parts of a request, as models of the fake provider: name → (accepts, status, message)."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

Body = dict[str, Any]


def _roles(body: Body) -> list[str]:
    return [message["role"] for message in body["messages"]]


def _alternates(body: Body) -> bool:
    roles = [role for role in _roles(body) if role != "system"]
    return all((role == "user") == (number % 2 == 0) for number, role in enumerate(roles))


def _without(name: str) -> Callable[[Body], bool]:
    return lambda body: name not in body


PICKY: dict[str, tuple[Callable[[Body], bool], int, str]] = {
    "picky-max_tokens": (
        _without("max_tokens"), 400,
        "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    ),
    "picky-max_completion_tokens": (
        _without("max_completion_tokens"), 400, "Unrecognized request argument supplied: max_completion_tokens"
    ),
    "picky-cap": (
        lambda body: body.get("max_tokens", 0) <= 300, 400,
        "max_tokens is too large: This model supports at most 300 completion tokens.",
    ),
    "picky-temperature": (
        _without("temperature"), 400, "'temperature' does not support 0.7. Only the default (1) value is supported."
    ),
    "picky-top_p": (_without("top_p"), 400, "`temperature` and `top_p` cannot both be specified: remove top_p"),
    "picky-seed": (_without("seed"), 422, "property 'seed' is unsupported"),
    "picky-stream_options": (_without("stream_options"), 422, "Extra inputs are not permitted: stream_options"),
    "picky-repetition_penalty": (_without("repetition_penalty"), 400, "repetition_penalty is not supported"),
    "picky-stop": (_without("stop"), 400, "Unsupported parameter: 'stop'"),
    "picky-response_format": (_without("response_format"), 400, "This response_format type is unavailable now"),
    "picky-tools": (_without("tools"), 400, "picky does not support tools"),
    "picky-system": (lambda body: "system" not in _roles(body), 400, "System role not supported"),
    "picky-developer": (lambda body: "developer" not in _roles(body), 400, "Unexpected role 'developer'"),
    "picky-roles": (_alternates, 500, "Conversation roles must alternate user/assistant/user/assistant/..."),
    "picky-parts": (
        lambda body: all(isinstance(message["content"], str) for message in body["messages"]), 422,
        "messages.0.content: Input should be a valid string",
    ),
    "picky-null": (
        lambda body: all(message.get("content") is not None for message in body["messages"]), 400,
        "invalid message content type: <nil>",
    ),
    "picky-images": (
        lambda body: not any(isinstance(message["content"], list) for message in body["messages"]), 400,
        "This model does not support image input",
    ),
    "picky-system-place": (
        lambda body: "system" not in _roles(body)[1:], 400, "System message must be at the beginning."
    ),
    "picky-after-tool": (
        lambda body: ("tool", "user") not in set(pairwise(_roles(body))), 400,
        "Unexpected role 'user' after role 'tool'",
    ),
    "picky-no-reasoning": (
        lambda body: all("reasoning_content" in message for message in body["messages"] if "tool_calls" in message),
        400, "thinking is enabled but reasoning_content is missing in assistant tool call message at index 1",
    ),
    "picky-reasoning": (
        lambda body: not any("reasoning_content" in message for message in body["messages"]), 422,
        "body.messages.1.assistant.reasoning_content: Extra inputs are not permitted",
    ),
    "picky-always": (lambda body: False, 400, "'temperature' is not supported"),
}  # fmt: skip


def refusal_of(model: str, body: Body) -> tuple[int, Body] | None:
    """Return (status, error) if this model does not accept the request."""
    accepts, status, message = PICKY[model]
    return None if accepts(body) else (status, {"error": {"message": message, "type": "invalid_request_error"}})
