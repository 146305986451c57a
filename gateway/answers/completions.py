"""Completions and chunks in OpenAI's shape."""

from collections.abc import Sequence

import msgspec

from battles.models import Call
from battles.worker.calls import CallResult
from common.api.openai_errors import openai_error
from common.errors import ArenaError
from gateway.payload_types import (
    ChoicePayload,
    CompletionPayload,
    DeltaPayload,
    MessagePayload,
    ToolCallPayload,
    UsagePayload,
)
from models_registry.providers.base import ToolCallDelta

DONE = b"data: [DONE]\n\n"
COMMENT = b": still here\n\n"
KEEP_ALIVE_S = 15.0
FINISH_REASONS = ("stop", "length", "tool_calls", "content_filter")
_encode = msgspec.json.encode


def error_event(error: ArenaError) -> bytes:
    return b"data: " + _encode(openai_error(error)) + b"\n\n"


def finish_reason(result: CallResult, *, has_tool_calls: bool) -> str:
    """Return OpenAI's word; some servers have others, or call an end with tool calls “stop”."""
    reason = result.completion.finish_reason
    if has_tool_calls and reason != "length":
        return "tool_calls"
    return reason if reason in FINISH_REASONS else "stop"


def usage_payload(call: Call) -> UsagePayload:
    prompt, completion = call.prompt_tokens or 0, call.completion_tokens or 0
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "completion_tokens_details": {"reasoning_tokens": call.reasoning_tokens or 0},
    }


def choice_payload(
    index: int, *, text: str, reasoning: str, tool_calls: list[ToolCallPayload], finish: str
) -> ChoicePayload:
    message: MessagePayload = {"role": "assistant", "content": text or (None if tool_calls else ""), "refusal": None}
    if reasoning:
        message["reasoning_content"] = reasoning
    if tool_calls:
        message["tool_calls"] = tool_calls
    return {"index": index, "message": message, "logprobs": None, "finish_reason": finish}


def completion_payload(
    public_id: str, *, created: int, model: str, choices: list[ChoicePayload], usage: UsagePayload
) -> CompletionPayload:
    return {
        "id": f"chatcmpl-{public_id}", "object": "chat.completion", "created": created, "model": model,
        "choices": choices, "usage": usage,
    }  # fmt: skip


def tool_call_chunk(delta: ToolCallDelta) -> ToolCallPayload:
    payload: ToolCallPayload = {"index": delta.index, "function": {"arguments": delta.arguments}}
    if delta.id:
        payload |= {"id": delta.id, "type": "function"}
    if delta.name:
        payload["function"]["name"] = delta.name
    if "extra_content" in delta.state:
        payload["extra_content"] = delta.state["extra_content"]
    return payload


def joined_tool_calls(deltas: Sequence[ToolCallDelta]) -> list[ToolCallPayload]:
    """Return whole calls from their parts."""
    calls: dict[int, ToolCallPayload] = {}
    for delta in deltas:
        call = calls.setdefault(delta.index, {"id": "", "type": "function", "function": {"name": "", "arguments": ""}})
        call["id"] = delta.id or call["id"]
        call["function"]["name"] = delta.name or call["function"]["name"]
        call["function"]["arguments"] += delta.arguments
        if "extra_content" in delta.state:
            call["extra_content"] = delta.state["extra_content"]
    return [calls[index] for index in sorted(calls)]


class ChunkWriter:
    """Writer of a stream's events, whose common beginning is encoded once."""

    def __init__(self, public_id: str, *, created: int, model: str, includes_usage: bool) -> None:
        head = _encode(
            {
                "id": f"chatcmpl-{public_id}", "object": "chat.completion.chunk", "created": created, "model": model,
            }
        )  # fmt: skip
        # OpenAI sends “usage”: null with every chunk if the last one has it.
        self._head = b"data: " + head[:-1] + (b',"usage":null' if includes_usage else b"") + b',"choices":['
        self._usage_head = b"data: " + head[:-1] + b',"choices":[],"usage":'

    def delta(self, delta: DeltaPayload, *, index: int = 0, finish: str | None = None) -> bytes:
        choice = {"index": index, "delta": delta, "logprobs": None, "finish_reason": finish}
        return self._head + _encode(choice) + b"]}\n\n"

    def usage(self, usage: UsagePayload) -> bytes:
        return self._usage_head + _encode(usage) + b"}\n\n"
