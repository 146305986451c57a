"""Responses, and their numbered events in the documented order."""

import time

import msgspec

from common.api.openai_errors import openai_error
from common.errors import ArenaError
from common.payload_types import JsonObject
from gateway.doors.blocks import CALL, REASONING, Block, BlockWriter
from gateway.doors.packed_state import pack_state
from gateway.doors.port import Head, WholeAnswer
from gateway.payload_types import UsagePayload

_encode = msgspec.json.encode
# Reasons of `incomplete_details`, by the finish reason of an answer that did not end by itself.
_INCOMPLETE = {"length": "max_output_tokens", "content_filter": "content_filter"}


class ResponseWriter(BlockWriter):
    """Writer of one response. calls: as responses.tools.Tools.calls."""

    def __init__(self, head: Head, *, echo: JsonObject, calls: dict[str, JsonObject]) -> None:
        super().__init__()
        self._head, self._echo, self._calls = head, echo, calls
        self._output: dict[int, JsonObject] = {}
        self._events = 0
        self._item_status = "completed"

    def begin(self) -> bytes:
        response = self._response("in_progress")
        return self._event("response.created", response=response) + self._event(
            "response.in_progress", response=response
        )

    def end(self, answer: WholeAnswer) -> bytes:
        self._set_item_status(answer)
        events = self._close_all()
        response = self._ended(answer)
        return events + self._event(f"response.{response['status']}", response=response)

    def error(self, refusal: ArenaError) -> bytes:
        self._item_status = "incomplete"
        detail = openai_error(refusal)["error"]
        code = {429: "rate_limit_exceeded"}.get(
            refusal.http_status, "server_error" if refusal.http_status >= 500 else detail["code"]
        )
        response = self._response("failed", error={"code": code, "message": detail["message"]})
        return self._event("response.failed", response=response)

    def whole(self, answer: WholeAnswer) -> JsonObject:
        self._set_item_status(answer)
        self._add_whole(answer)
        return self._ended(answer)

    def battle_events(self, texts: list[str], usage: UsagePayload) -> bytes:
        events = self.begin()
        for text in texts:
            events += self._add_text(text)
        return events + self._event("response.completed", response=self._response("completed", usage=_usage(usage)))

    def battle(self, texts: list[str], usage: UsagePayload) -> JsonObject:
        for text in texts:
            self._add_text(text)
        return self._response("completed", usage=_usage(usage))

    def _set_item_status(self, answer: WholeAnswer) -> None:
        self._item_status = "incomplete" if answer.finish in _INCOMPLETE else "completed"

    def _ended(self, answer: WholeAnswer) -> JsonObject:
        usage, reason = _usage(answer.usage), _INCOMPLETE.get(answer.finish)
        if reason is None:
            return self._response("completed", usage=usage)
        return self._response("incomplete", usage=usage, incomplete_details={"reason": reason})

    def _response(self, status: str, **fields: object) -> JsonObject:
        ended = {"completed_at": int(time.time())} if status == "completed" else {}
        return {
            **self._echo, "id": f"resp_{self._head.public_id}", "object": "response", "created_at": self._head.created,
            "model": self._head.model, "status": status, "error": None, "incomplete_details": None,
            "output": [self._output[index] for index in sorted(self._output)], "usage": None, **ended, **fields,
        }  # fmt: skip

    def _event(self, kind: str, **fields: object) -> bytes:
        event = {"type": kind, "sequence_number": self._events, **fields}
        self._events += 1
        return b"event: " + kind.encode() + b"\ndata: " + _encode(event) + b"\n\n"

    def _item_event(self, kind: str, block: Block, **fields: object) -> bytes:
        return self._event(f"response.{kind}", item_id=self._id(block), output_index=block.index, **fields)

    def _opened(self, block: Block) -> bytes:
        item = self._item(block, "in_progress")
        events = self._event("response.output_item.added", output_index=block.index, item=item)
        if block.kind == CALL or block.kind == REASONING:
            return events
        return events + self._item_event("content_part.added", block, content_index=0, part=_text_part(""))

    def _added(self, block: Block, text: str) -> bytes:
        if block.kind == CALL:
            if self._is_custom(block):
                return b""  # Its input is in JSON, which is read when it is whole.
            return self._item_event("function_call_arguments.delta", block, delta=text)
        if block.kind == REASONING:
            return self._summary_began(block, text) + self._item_event(
                "reasoning_summary_text.delta", block, summary_index=0, delta=text
            )
        return self._item_event("output_text.delta", block, content_index=0, delta=text, logprobs=[])

    def _summary_began(self, block: Block, text: str) -> bytes:
        if len(block.texts) > 1:
            return b""
        return self._item_event("reasoning_summary_part.added", block, summary_index=0, part=_summary(""))

    def _closed(self, block: Block) -> bytes:
        item = self._output[block.index] = self._item(block, self._item_status)
        return self._last_of_item(block, item) + self._event(
            "response.output_item.done", output_index=block.index, item=item
        )

    def _last_of_item(self, block: Block, item: JsonObject) -> bytes:
        text = block.text
        if block.kind == CALL and self._is_custom(block):
            return self._item_event("custom_tool_call_input.delta", block, delta=item["input"]) + self._item_event(
                "custom_tool_call_input.done", block, input=item["input"]
            )
        if block.kind == CALL:
            return self._item_event("function_call_arguments.done", block, name=item["name"], arguments=text)
        if block.kind == REASONING:
            if not text:
                return b""
            return self._item_event(
                "reasoning_summary_text.done", block, summary_index=0, text=text
            ) + self._item_event("reasoning_summary_part.done", block, summary_index=0, part=_summary(text))
        done = self._item_event("output_text.done", block, content_index=0, text=text, logprobs=[])
        return done + self._item_event("content_part.done", block, content_index=0, part=_text_part(text))

    def _item(self, block: Block, status: str) -> JsonObject:
        """Return the output item; one that has only begun is empty."""
        is_over = status != "in_progress"
        item: JsonObject = {"id": self._id(block), "status": status}
        if block.kind == CALL:
            item |= {"type": "function_call", "call_id": block.call_id, "name": block.name}
            item |= self._calls.get(block.name, {})
            return item | (
                {"input": _custom_input(block.text)} if self._is_custom(block) else {"arguments": block.text}
            )
        if block.kind == REASONING:
            item |= {"type": "reasoning", "summary": [_summary(block.text)] if block.text else []}
            return item | ({"encrypted_content": pack_state(block.state)} if block.state and is_over else {})
        return item | {"type": "message", "role": "assistant", "content": [_text_part(block.text)] if is_over else []}

    def _is_custom(self, block: Block) -> bool:
        return self._calls.get(block.name, {}).get("type") == "custom_tool_call"

    def _id(self, block: Block) -> str:
        kind = {CALL: "ctc" if self._is_custom(block) else "fc", REASONING: "rs"}.get(block.kind, "msg")
        return f"{kind}_{self._head.public_id}_{block.index}"


def _text_part(text: str) -> JsonObject:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _summary(text: str) -> JsonObject:
    return {"type": "summary_text", "text": text}


def _custom_input(arguments: str) -> str:
    """Return the one text of a custom tool's arguments; arguments of another shape as they are."""
    try:
        return str(msgspec.json.decode(arguments, type=dict)["input"])
    except (msgspec.MsgspecError, KeyError):
        return arguments


def _usage(usage: UsagePayload) -> JsonObject:
    return {
        "input_tokens": usage["prompt_tokens"],
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": usage["completion_tokens"],
        "output_tokens_details": {"reasoning_tokens": usage["completion_tokens_details"]["reasoning_tokens"]},
        "total_tokens": usage["total_tokens"],
    }
