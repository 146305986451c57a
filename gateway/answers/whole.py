"""Complete answers, joined from the pieces that a model's server sent."""

from collections.abc import Sequence

from battles.calls import CallResult
from battles.models import Call
from gateway.answers.upstream import Upstream
from gateway.doors.port import WholeAnswer
from gateway.payload_types import ToolCallPayload, UsagePayload
from models_registry.providers.base import ToolCallDelta

FINISH_REASONS = ("stop", "length", "tool_calls", "content_filter")


def whole_answer(upstream: Upstream) -> WholeAnswer:
    """The call's row has its tokens."""
    result, tool_calls = upstream.result, upstream.tool_calls
    return WholeAnswer(
        text="".join(result.texts), reasoning="".join(result.reasonings), tool_calls=joined_tool_calls(tool_calls),
        finish=_finish_reason(result, has_tool_calls=bool(tool_calls)), usage=_usage(upstream.call.row),
        state=upstream.state,
    )  # fmt: skip


def _finish_reason(result: CallResult, *, has_tool_calls: bool) -> str:
    """Return OpenAI's word; some servers have others, or call an end with tool calls “stop”."""
    reason = result.completion.finish_reason
    if has_tool_calls and reason != "length":
        return "tool_calls"
    return reason if reason in FINISH_REASONS else "stop"


def _usage(call: Call) -> UsagePayload:
    prompt, completion = call.prompt_tokens or 0, call.completion_tokens or 0
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "completion_tokens_details": {"reasoning_tokens": call.reasoning_tokens or 0},
    }


def joined_tool_calls(deltas: Sequence[ToolCallDelta]) -> list[ToolCallPayload]:
    """Return whole calls from their parts."""
    calls: dict[int, ToolCallPayload] = {}
    for delta in deltas:
        call = calls.setdefault(delta.index, {"id": "", "type": "function", "function": {"name": "", "arguments": ""}})
        call["id"] = delta.id or call["id"]
        call["function"]["name"] = delta.name or call["function"]["name"]
        call["function"]["arguments"] += delta.arguments
        call.update(delta.state)  # type: ignore[typeddict-item]  # fields of servers
    return [calls[index] for index in sorted(calls)]
