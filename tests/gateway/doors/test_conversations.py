import json
from typing import Any

import pytest

from accounts.models import ApiToken
from gateway.authentication import Caller
from gateway.doors.messages.door import Messages
from gateway.doors.port import Door
from gateway.doors.responses.door import Responses
from gateway.parsing.chat import ChatBody

TURN: list[dict[str, Any]] = [{"role": "user", "content": "Correct it."}]
LATER: list[dict[str, Any]] = [*TURN, {"role": "assistant", "content": "Done."}, *TURN]
REMINDER = {"role": "system", "content": "The file has changed."}


def parse(door: Door, **body: Any) -> ChatBody:
    caller = Caller(actor=None, token=ApiToken(), secret="")  # type: ignore[arg-type]
    return door.parse(json.dumps({"model": "auto", **body}).encode(), caller)


@pytest.mark.parametrize(("door", "field"), [(Messages(), "messages"), (Responses(), "input")])
def test_later_system_messages_keep_the_conversation(door: Door, field: str):
    more = {"system": "Be brief.", "max_tokens": 9} if field == "messages" else {"instructions": "Be brief."}
    first, second = (parse(door, **{field: said}, **more) for said in (TURN, [*TURN, REMINDER, *LATER[1:]]))
    assert first.conversation.opening == second.conversation.opening
    other = parse(door, **{field: [{"role": "user", "content": "Another."}]}, **more)
    assert other.conversation.opening != first.conversation.opening


def test_blocks_of_one_answer_become_one_message():
    answer = [
        {"type": "thinking", "thinking": "hm", "signature": "x"}, {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "c1", "name": "read", "input": {"a": 1}},
    ]  # fmt: skip
    result = [
        {"type": "text", "text": "And?"},
        {"type": "tool_result", "tool_use_id": "c1", "content": "x", "cache_control": {"type": "ephemeral"}},
    ]  # fmt: skip
    messages = [*TURN, {"role": "assistant", "content": answer}, {"role": "user", "content": result}]
    chat = parse(Messages(), messages=messages, max_tokens=9)
    call = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"a":1}'}}
    assert chat.conversation.messages == [
        *TURN,
        {"role": "assistant", "content": "I look.", "reasoning_content": "hm", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1",
         "content": [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}]},
        {"role": "user", "content": "And?"},
    ]  # fmt: skip


def test_namespaces_become_names_and_back():
    inner = {"type": "function", "name": "search", "parameters": {}}
    tools = [{"type": "namespace", "name": "mcp__files__", "tools": [inner]}]
    chat = parse(Responses(), input="x", tools=tools)
    [tool] = chat.parameters["tools"]
    assert tool["function"]["name"] == "mcp__files__search"
    assert chat.for_door["calls"] == {
        "mcp__files__search": {"type": "function_call", "name": "search", "namespace": "mcp__files__"}
    }
