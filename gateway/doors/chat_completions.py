import msgspec

from common.api.openai_errors import openai_error
from common.errors import ArenaError
from common.payload_types import JsonObject
from gateway.authentication import Caller
from gateway.doors.port import Head, Piece, WholeAnswer
from gateway.parsing.chat import ChatBody, parse_chat
from gateway.parsing.json_body import decode_body
from gateway.payload_types import (
    ChoicePayload,
    DeltaPayload,
    FunctionPayload,
    MessagePayload,
    ToolCallPayload,
    UsagePayload,
)
from models_registry.providers.base import ToolCallDelta

DONE = b"data: [DONE]\n\n"
_encode = msgspec.json.encode


class ChatCompletions:
    comment = b": still here\n\n"

    def parse(self, body: bytes, caller: Caller) -> ChatBody:
        return parse_chat(decode_body(body))

    def writer(self, head: Head, chat: ChatBody) -> "ChunkWriter":
        return ChunkWriter(head, includes_usage=chat.includes_usage, wants_functions=chat.wants_functions)

    def refusal(self, error: ArenaError) -> JsonObject:
        return {**openai_error(error)}

    def error_event(self, error: ArenaError) -> bytes:
        return error_event(error)


def error_event(error: ArenaError) -> bytes:
    return b"data: " + _encode(openai_error(error)) + b"\n\n"


class ChunkWriter:
    """Writer of completions and of their chunks, whose common beginning is encoded once."""

    def __init__(self, head: Head, *, includes_usage: bool, wants_functions: bool = False) -> None:
        """wants_functions: for callers of the API before tools, who get one call as `function_call`."""
        self._common = {"id": f"chatcmpl-{head.public_id}", "created": head.created, "model": head.model}
        self._includes_usage, self._wants_functions = includes_usage, wants_functions
        # Indexes of tool calls whose name is sent.
        self._announced: set[int] = set()
        encoded = b"data: " + _encode({**self._common, "object": "chat.completion.chunk"})[:-1]
        # OpenAI sends “usage”: null with every chunk if the last one has it.
        self._head = encoded + (b',"usage":null' if includes_usage else b"") + b',"choices":['
        self._usage_head = encoded + b',"choices":[],"usage":'

    def begin(self) -> bytes:
        return self._delta({"role": "assistant", "content": ""})

    def deltas(self, pieces: list[Piece]) -> bytes:
        return b"".join(map(self._delta, self._joined(pieces)))

    def end(self, answer: WholeAnswer) -> bytes:
        return self._delta({}, finish=self._finish(answer.finish)) + self._usage(answer.usage) + DONE

    def error(self, refusal: ArenaError) -> bytes:
        return error_event(refusal)

    def whole(self, answer: WholeAnswer) -> JsonObject:
        message: MessagePayload = {
            "role": "assistant", "content": answer.text or (None if answer.tool_calls else ""), "refusal": None,
        }  # fmt: skip
        if answer.reasoning:
            message["reasoning_content"] = answer.reasoning
        if answer.tool_calls and self._wants_functions:
            message["function_call"] = answer.tool_calls[0]["function"]
        elif answer.tool_calls:
            message["tool_calls"] = answer.tool_calls
        message.update(answer.state)  # type: ignore[typeddict-item]  # fields of servers
        return self._completion([_choice(0, message, self._finish(answer.finish))], answer.usage)

    def battle_events(self, texts: list[str], usage: UsagePayload) -> bytes:
        events = b""
        for index, text in enumerate(texts):
            events += self._delta({"role": "assistant", "content": text}, index=index)
            events += self._delta({}, index=index, finish="stop")
        return events + self._usage(usage) + DONE

    def battle(self, texts: list[str], usage: UsagePayload) -> JsonObject:
        messages: list[MessagePayload] = [{"role": "assistant", "content": text, "refusal": None} for text in texts]
        return self._completion([_choice(index, message, "stop") for index, message in enumerate(messages)], usage)

    def _joined(self, pieces: list[Piece]) -> list[DeltaPayload]:
        """Return deltas for pieces that are sent together; neighbours of one kind become one."""
        deltas: list[DeltaPayload] = []
        last = ""
        for text, reasoning, tool_calls, state in pieces:
            if reasoning and last == "reasoning":
                deltas[-1]["reasoning_content"] += reasoning
            elif reasoning:
                deltas.append({"reasoning_content": reasoning})
                last = "reasoning"
            if text and last == "text":
                deltas[-1]["content"] += text
            elif text:
                deltas.append({"content": text})
                last = "text"
            if tool_calls or state:
                last = ""
            for part in tool_calls:
                self._add_tool_call(deltas, part)
            if state:
                deltas.append(state)  # type: ignore[arg-type]  # fields of servers
        return deltas

    def _add_tool_call(self, deltas: list[DeltaPayload], part: ToolCallDelta) -> None:
        """Add a part of a tool call: clients want one entry in a chunk, since some number them by position.

        Id and name come once: some clients join repeated names, or take a repeated id for another call.
        """
        function: FunctionPayload = {"arguments": part.arguments}
        is_new = part.index not in self._announced
        if is_new and part.name:
            self._announced.add(part.index)
            function = {"name": part.name, "arguments": part.arguments}
        if self._wants_functions:
            if part.index == 0:
                deltas.append({"function_call": function})
            return
        last = deltas[-1].get("tool_calls") if deltas else None
        if not is_new and last and last[0]["index"] == part.index:
            last[0]["function"]["arguments"] += part.arguments
            last[0].update(part.state)  # type: ignore[typeddict-item]
            return
        call: ToolCallPayload = {"index": part.index, "function": function}
        if is_new and part.id:
            call |= {"id": part.id, "type": "function"}
        call.update(part.state)  # type: ignore[typeddict-item]
        deltas.append({"tool_calls": [call]})

    def _finish(self, finish: str) -> str:
        return "function_call" if self._wants_functions and finish == "tool_calls" else finish

    def _completion(self, choices: list[ChoicePayload], usage: UsagePayload) -> JsonObject:
        return {**self._common, "object": "chat.completion", "choices": choices, "usage": usage}

    def _delta(self, delta: DeltaPayload, *, index: int = 0, finish: str | None = None) -> bytes:
        choice = {"index": index, "delta": delta, "logprobs": None, "finish_reason": finish}
        return self._head + _encode(choice) + b"]}\n\n"

    def _usage(self, usage: UsagePayload) -> bytes:
        return self._usage_head + _encode(usage) + b"}\n\n" if self._includes_usage else b""


def _choice(index: int, message: MessagePayload, finish: str) -> ChoicePayload:
    return {"index": index, "message": message, "logprobs": None, "finish_reason": finish}
