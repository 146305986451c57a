"""Messages, and their events in the documented order."""

import msgspec

from common.errors import ArenaError
from common.payload_types import JsonObject
from gateway.doors.blocks import CALL, REASONING, Block, BlockWriter
from gateway.doors.messages.refusals import error_event
from gateway.doors.packed_state import pack_state
from gateway.doors.port import Head, WholeAnswer
from gateway.payload_types import UsagePayload

_STOP_REASONS = {"length": "max_tokens", "tool_calls": "tool_use", "content_filter": "refusal"}
_encode = msgspec.json.encode


class MessageWriter(BlockWriter):
    """Writer of one message. prompt_tokens: estimated, for the beginning of a stream."""

    def __init__(self, head: Head, *, prompt_tokens: int) -> None:
        super().__init__()
        self._head, self._prompt_tokens = head, prompt_tokens
        self._content: dict[int, JsonObject] = {}

    def begin(self) -> bytes:
        return _event("message_start", message=self._message(None, _usage(self._prompt_tokens, 0)))

    def end(self, answer: WholeAnswer) -> bytes:
        return self._close_all() + self._end(_stop_reason(answer), answer.usage)

    def error(self, refusal: ArenaError) -> bytes:
        return error_event(refusal)

    def whole(self, answer: WholeAnswer) -> JsonObject:
        self._add_whole(answer)
        return self._message(_stop_reason(answer), _usage_of(answer.usage))

    def battle_events(self, texts: list[str], usage: UsagePayload) -> bytes:
        events = b"".join(map(self._add_text, _headed(texts)))
        return self.begin() + events + self._end("end_turn", usage)

    def battle(self, texts: list[str], usage: UsagePayload) -> JsonObject:
        for text in _headed(texts):
            self._add_text(text)
        return self._message("end_turn", _usage_of(usage))

    def _end(self, stop_reason: str, usage: UsagePayload) -> bytes:
        delta = {"stop_reason": stop_reason, "stop_sequence": None}
        return _event("message_delta", delta=delta, usage=_usage_of(usage)) + _event("message_stop")

    def _message(self, stop_reason: str | None, usage: JsonObject) -> JsonObject:
        return {
            "id": f"msg_{self._head.public_id}", "type": "message", "role": "assistant", "model": self._head.model,
            "content": [self._content[index] for index in sorted(self._content)], "stop_reason": stop_reason,
            "stop_sequence": None, "usage": usage,
        }  # fmt: skip

    def _opened(self, block: Block) -> bytes:
        if block.kind == REASONING and block.is_silent:
            return b""
        return _event("content_block_start", index=block.index, content_block=_beginning(block))

    def _added(self, block: Block, text: str) -> bytes:
        if block.kind == CALL:
            delta = {"type": "input_json_delta", "partial_json": text}
        elif block.kind == REASONING:
            delta = {"type": "thinking_delta", "thinking": text}
        else:
            delta = {"type": "text_delta", "text": text}
        return _event("content_block_delta", index=block.index, delta=delta)

    def _closed(self, block: Block) -> bytes:
        content = self._content[block.index] = _content(block)
        if content["type"] == "redacted_thinking":
            events = _event("content_block_start", index=block.index, content_block=content)
        elif content["type"] == "thinking":
            delta = {"type": "signature_delta", "signature": content["signature"]}
            events = _event("content_block_delta", index=block.index, delta=delta)
        else:
            events = b""
        return events + _event("content_block_stop", index=block.index)


def _beginning(block: Block) -> JsonObject:
    if block.kind == CALL:
        return {"type": "tool_use", "id": block.call_id, "name": block.name, "input": {}}
    if block.kind == REASONING:
        return {"type": "thinking", "thinking": "", "signature": ""}
    return {"type": "text", "text": ""}


def _content(block: Block) -> JsonObject:
    if block.kind == CALL:
        return _beginning(block) | {"input": _input(block.text)}
    if block.kind == REASONING and block.is_silent:
        return {"type": "redacted_thinking", "data": pack_state(block.state)}
    if block.kind == REASONING:
        return {"type": "thinking", "thinking": block.text, "signature": pack_state(block.state)}
    return {"type": "text", "text": block.text}


def _input(arguments: str) -> JsonObject:
    """Return a call's arguments; those that are no JSON object under a name of their own."""
    try:
        return msgspec.json.decode(arguments or "{}", type=dict)
    except (msgspec.MsgspecError, RecursionError):
        return {"arguments": arguments}


def _headed(texts: list[str]) -> list[str]:
    return [f"## {letter}\n\n{text}\n\n" for letter, text in zip("AB", texts, strict=False)]


def _stop_reason(answer: WholeAnswer) -> str:
    return _STOP_REASONS.get(answer.finish, "end_turn")


def _usage_of(usage: UsagePayload) -> JsonObject:
    return _usage(usage["prompt_tokens"], usage["completion_tokens"])


def _usage(prompt: int, completion: int) -> JsonObject:
    return {
        "input_tokens": prompt, "output_tokens": completion, "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
    }  # fmt: skip


def _event(kind: str, **fields: object) -> bytes:
    return b"event: " + kind.encode() + b"\ndata: " + _encode({"type": kind, **fields}) + b"\n\n"
