"""OpenAI's chat completions."""

import msgspec

from common.api.openai_errors import openai_error
from common.errors import ArenaError
from common.payload_types import JsonObject
from gateway.authentication import Caller
from gateway.doors.port import Head, Piece, WholeAnswer
from gateway.parsing.chat import ChatBody, parse_chat
from gateway.parsing.json_body import decode_body
from gateway.payload_types import ChoicePayload, DeltaPayload, MessagePayload, ToolCallPayload, UsagePayload
from models_registry.providers.base import ToolCallDelta

DONE = b"data: [DONE]\n\n"
_encode = msgspec.json.encode


class ChatCompletions:
    comment = b": still here\n\n"

    def parse(self, body: bytes, caller: Caller) -> ChatBody:
        return parse_chat(decode_body(body))

    def writer(self, head: Head, chat: ChatBody) -> "ChunkWriter":
        return ChunkWriter(head, includes_usage=chat.includes_usage)

    def refusal(self, error: ArenaError) -> JsonObject:
        return {**openai_error(error)}

    def error_event(self, error: ArenaError) -> bytes:
        return error_event(error)


def error_event(error: ArenaError) -> bytes:
    return b"data: " + _encode(openai_error(error)) + b"\n\n"


class ChunkWriter:
    """Writer of completions and of their chunks, whose common beginning is encoded once."""

    def __init__(self, head: Head, *, includes_usage: bool) -> None:
        self._common = {"id": f"chatcmpl-{head.public_id}", "created": head.created, "model": head.model}
        self._includes_usage = includes_usage
        encoded = b"data: " + _encode({**self._common, "object": "chat.completion.chunk"})[:-1]
        # OpenAI sends “usage”: null with every chunk if the last one has it.
        self._head = encoded + (b',"usage":null' if includes_usage else b"") + b',"choices":['
        self._usage_head = encoded + b',"choices":[],"usage":'

    def begin(self) -> bytes:
        return self._delta({"role": "assistant", "content": ""})

    def deltas(self, pieces: list[Piece]) -> bytes:
        return b"".join(map(self._delta, _deltas(pieces)))

    def end(self, answer: WholeAnswer) -> bytes:
        return self._delta({}, finish=answer.finish) + self._usage(answer.usage) + DONE

    def error(self, refusal: ArenaError) -> bytes:
        return error_event(refusal)

    def whole(self, answer: WholeAnswer) -> JsonObject:
        message: MessagePayload = {
            "role": "assistant", "content": answer.text or (None if answer.tool_calls else ""), "refusal": None,
        }  # fmt: skip
        if answer.reasoning:
            message["reasoning_content"] = answer.reasoning
        if answer.tool_calls:
            message["tool_calls"] = answer.tool_calls
        return self._completion([_choice(0, message, answer.finish)], answer.usage)

    def battle_events(self, texts: list[str], usage: UsagePayload) -> bytes:
        events = b""
        for index, text in enumerate(texts):
            events += self._delta({"role": "assistant", "content": text}, index=index)
            events += self._delta({}, index=index, finish="stop")
        return events + self._usage(usage) + DONE

    def battle(self, texts: list[str], usage: UsagePayload) -> JsonObject:
        messages: list[MessagePayload] = [{"role": "assistant", "content": text, "refusal": None} for text in texts]
        return self._completion([_choice(index, message, "stop") for index, message in enumerate(messages)], usage)

    def _completion(self, choices: list[ChoicePayload], usage: UsagePayload) -> JsonObject:
        return {**self._common, "object": "chat.completion", "choices": choices, "usage": usage}

    def _delta(self, delta: DeltaPayload, *, index: int = 0, finish: str | None = None) -> bytes:
        choice = {"index": index, "delta": delta, "logprobs": None, "finish_reason": finish}
        return self._head + _encode(choice) + b"]}\n\n"

    def _usage(self, usage: UsagePayload) -> bytes:
        return self._usage_head + _encode(usage) + b"}\n\n" if self._includes_usage else b""


def _choice(index: int, message: MessagePayload, finish: str) -> ChoicePayload:
    return {"index": index, "message": message, "logprobs": None, "finish_reason": finish}


def _deltas(pieces: list[Piece]) -> list[DeltaPayload]:
    """Return deltas for pieces that are sent together; neighbours of one kind become one."""
    deltas: list[DeltaPayload] = []
    for text, reasoning, tool_calls in pieces:
        last = deltas[-1] if deltas else {}
        for delta in tool_calls:
            _add_tool_call(deltas, delta)
        if reasoning:
            if last.keys() == {"reasoning_content"}:
                last["reasoning_content"] += reasoning
            else:
                deltas.append({"reasoning_content": reasoning})
                last = deltas[-1]
        if text:
            if last.keys() == {"content"}:
                last["content"] += text
            else:
                deltas.append({"content": text})
    return deltas


def _add_tool_call(deltas: list[DeltaPayload], part: ToolCallDelta) -> None:
    """Add a part of a tool call: clients want one entry in a chunk, since some number them by position."""
    if deltas and "tool_calls" in deltas[-1] and not part.id:
        [entry] = deltas[-1]["tool_calls"]
        if entry["index"] == part.index:
            entry["function"]["arguments"] += part.arguments
            return
    deltas.append({"tool_calls": [_tool_call(part)]})


def _tool_call(delta: ToolCallDelta) -> ToolCallPayload:
    payload: ToolCallPayload = {"index": delta.index, "function": {"arguments": delta.arguments}}
    if delta.id:
        payload |= {"id": delta.id, "type": "function"}
    if delta.name:
        payload["function"]["name"] = delta.name
    if "extra_content" in delta.state:
        payload["extra_content"] = delta.state["extra_content"]
    return payload
