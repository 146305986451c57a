"""Chunks of tool calls, as clients join them by position or by index."""

import json
from typing import Any

import pytest

from gateway.doors.chat_completions import ChunkWriter
from gateway.doors.port import Head, Piece, WholeAnswer
from models_registry.providers.base import ToolCallDelta

HEAD = Head("x", 0, "m")
USAGE: Any = {}
PARTS = [
    ToolCallDelta(0, "a", "weather", '{"ci'),
    ToolCallDelta(1, "b", "time", ""),
    ToolCallDelta(0, "", "", 'ty": 1'),
    ToolCallDelta(0, "", "", "}"),
    ToolCallDelta(1, "b", "time", "{"),  # id and name repeated
    ToolCallDelta(1, "", "", "}", {"extra_content": {"x": "y"}}),
]


def deltas_of(events: bytes) -> list[dict[str, Any]]:
    lines = [line[6:] for line in events.decode().splitlines() if line.startswith("data: {")]
    return [json.loads(line)["choices"][0]["delta"] for line in lines]


@pytest.mark.parametrize("together", [True, False])
def test_chunk_has_one_entry_and_names_a_call_once(together: bool):
    writer = ChunkWriter(HEAD, includes_usage=False)
    pieces = [Piece(tool_calls=PARTS)] if together else [Piece(tool_calls=[part]) for part in PARTS]
    deltas = deltas_of(b"".join(writer.deltas([piece]) for piece in pieces))
    assert {len(delta["tool_calls"]) for delta in deltas} == {1}
    entries = [delta["tool_calls"][0] for delta in deltas]
    for index, call_id, name, arguments in ((0, "a", "weather", '{"city": 1}'), (1, "b", "time", "{}")):
        own = [entry for entry in entries if entry["index"] == index]
        assert [entry["id"] for entry in own if "id" in entry] == [call_id]
        assert [entry["function"]["name"] for entry in own if "name" in entry["function"]] == [name]
        assert "".join(entry["function"]["arguments"] for entry in own) == arguments
    assert entries[-1]["extra_content"] == {"x": "y"}


def test_pieces_of_several_kinds_keep_their_order():
    writer = ChunkWriter(HEAD, includes_usage=False)
    pieces = [Piece("one "), Piece("two"), Piece(tool_calls=PARTS[:1]), Piece("three"), Piece(reasoning="hm")]
    assert [list(delta) for delta in deltas_of(writer.deltas(pieces))] == [
        ["content"], ["tool_calls"], ["content"], ["reasoning_content"],
    ]  # fmt: skip


def test_older_callers_get_one_function_call():
    writer = ChunkWriter(HEAD, includes_usage=False, wants_functions=True)
    deltas = deltas_of(writer.deltas([Piece(tool_calls=PARTS)]))
    assert deltas[0] == {"function_call": {"name": "weather", "arguments": '{"ci'}}
    assert "".join(delta["function_call"]["arguments"] for delta in deltas) == '{"city": 1}'
    call: Any = {"id": "a", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
    [choice] = writer.whole(WholeAnswer("", "", [call], "tool_calls", USAGE))["choices"]
    assert choice["message"]["function_call"] == call["function"]
    assert (choice["finish_reason"], "tool_calls" in choice["message"]) == ("function_call", False)
