"""Tool calls are told apart, numbered, and free of the provider's key."""

import pytest

from models_registry.providers.base import ProviderError
from models_registry.providers.reading.tool_calls import MAX_TOOL_CALLS, ToolCalls

KEY = "sk-canary-of-the-provider"
CITY = '{"city": "Bonn"}'
TOOLS = [{"type": "function", "function": {"name": name}} for name in ("weather", "time")]


def joined(*parts: object, key: str = KEY, tools: object = None) -> list[tuple[str, str, str]]:
    """Return (id, name, arguments) by call, joined as OpenAI's client does."""
    calls = ToolCalls(key, tools)  # type: ignore[arg-type]
    for part in parts:
        calls.add([part])  # type: ignore[list-item]
    calls.flush()
    calls_by_index: dict[int, tuple[str, str, str]] = {}
    for delta in calls.take():
        call_id, name, arguments = calls_by_index.get(delta.index, ("", "", ""))
        calls_by_index[delta.index] = call_id + delta.id, name + delta.name, arguments + delta.arguments
    assert list(calls_by_index) == list(range(len(calls_by_index))), "numbered from 0, in order"
    return [calls_by_index[index] for index in sorted(calls_by_index)]


def part(index: object = 0, *, call_id: object = None, **function: object) -> dict[str, object]:
    return {"index": index, "id": call_id, "function": function}


ONE_CALL = {
    "in parts": [part(call_id="c", name="weather", arguments=""), part(arguments=CITY[:7]), part(arguments=CITY[7:])],
    "id and name repeated": [
        part(call_id="c", name="weather", arguments=CITY[:7]), part(call_id="c", name="weather", arguments=CITY[7:]),
    ],
    "id, name and arguments apart": [part(call_id="c"), part(name="weather"), part(arguments=CITY)],
    "name in parts": [part(call_id="c", name="wea", arguments=""), part(name="ther", arguments=CITY)],
    "name letter by letter": [part(call_id="c"), *(part(name=letter) for letter in "weather"), part(arguments=CITY)],
    "name that grows": [part(call_id="c", name="wea"), part(name="weather"), part(arguments=CITY)],
    "no index": [part(None, call_id="c", name="weather", arguments=CITY)],
    "no index in parts": [part(None, call_id="c", name="weather", arguments=CITY[:7]), part(None, arguments=CITY[7:])],
    "index begins at 1": [part(1, call_id="c", name="weather"), part(1, arguments=CITY)],
    "index is text": [part("0", call_id="c", name="weather"), part(0, arguments=CITY)],
    "index of another type": [part([], call_id="c", name="weather"), part({}, arguments=CITY)],
    "enormous index": [part(1e40, call_id="c", name="weather", arguments=CITY)],
    "negative index": [part(-1, call_id="c", name="weather"), part(-1, arguments=CITY)],
    "a new id for each part": [
        part(call_id="c", name="weather", arguments=CITY[:7]), part(call_id="d", arguments=CITY[7:]),
    ],
    "arguments as an object": [part(call_id="c", name="weather", arguments={"city": "Bonn"})],
    "without function": [{"id": "c", "name": "weather", "arguments": CITY}],
    "input instead of arguments": [{"id": "c", "name": "weather", "input": {"city": "Bonn"}}],
    "parts of other types": [7, None, "x", [], part(call_id="c", name="weather", arguments=CITY)],
}  # fmt: skip


@pytest.mark.parametrize("parts", ONE_CALL.values(), ids=ONE_CALL)
@pytest.mark.parametrize("tools", [None, TOOLS])
def test_parts_of_one_call_are_joined(parts: list[object], tools: object):
    if tools is None and parts is ONE_CALL["name letter by letter"]:
        parts = [*parts[:1], *parts[1:3], part(name="ather"), *parts[-1:]]
    assert joined(*parts, tools=tools) == [("c", "weather", CITY)]


TWO_CALLS = {
    "by index": [part(0, call_id="c", name="weather", arguments=CITY), part(1, call_id="d", name="time")],
    "mixed": [part(0, call_id="c", name="weather"), part(1, call_id="d", name="time"), part(0, arguments=CITY)],
    "same index": [part(0, call_id="c", name="weather", arguments=CITY), part(0, call_id="d", name="time")],
    "no index": [part(None, call_id="c", name="weather", arguments=CITY), part(None, call_id="d", name="time")],
    "index begins at 1": [part(1, call_id="c", name="weather", arguments=CITY), part(2, call_id="d", name="time")],
}


@pytest.mark.parametrize("parts", TWO_CALLS.values(), ids=TWO_CALLS)
def test_two_calls_are_told_apart(parts: list[object]):
    assert joined(*parts) == [("c", "weather", CITY), ("d", "time", "{}")]


@pytest.mark.parametrize("index", [0, None])
@pytest.mark.parametrize("arguments", ["", "{}", None])
def test_calls_of_one_list_are_told_apart(index: object, arguments: object):
    """Calls without arguments, ids, and indexes of their own are told apart by standing in one list."""
    calls = ToolCalls(KEY, TOOLS)  # type: ignore[arg-type]
    calls.add([part(index, name=name, arguments=arguments) for name in ("time", "weather", "time")])  # type: ignore[list-item]
    calls.flush()
    assert [(delta.index, delta.name) for delta in calls.take() if delta.name] == [
        (0, "time"), (1, "weather"), (2, "time"),
    ]  # fmt: skip


@pytest.mark.parametrize("index", [0, None])
def test_calls_without_ids_are_told_apart_by_names(index: object):
    parts = [part(index, name=name, arguments=CITY) for name in ("weather", "time")]
    (first, *weather), (second, *time) = joined(*parts)
    assert (weather, time) == (["weather", CITY], ["time", CITY])
    assert {first[:5], second[:5]} == {"call_"}
    assert first != second


@pytest.mark.parametrize("arguments", [None, "", "null", {}, [], False])
def test_call_without_arguments_has_an_empty_object(arguments: object):
    assert joined(part(call_id="c", name="time", arguments=arguments)) == [("c", "time", "{}")]


def test_state_of_a_call_comes_with_its_first_part():
    signature = {"google": {"thought_signature": f"sig {KEY}"}}
    calls = ToolCalls(KEY)
    calls.add([{**part(call_id="c", name="time"), "extra_content": signature, "cache": None}])
    calls.add([part(arguments="{}"), part(arguments=" ")])
    assert [delta.state for delta in calls.take()] == [
        {"extra_content": {"google": {"thought_signature": "sig [secret]"}}}, {},
    ]  # fmt: skip


def test_key_is_masked_in_every_part():
    half, rest = KEY[:9], KEY[9:]
    for call in (
        joined(part(call_id=KEY, name=KEY, arguments=f"a {KEY} b")),
        joined(part(call_id=half, name=half, arguments=half), part(call_id=rest, name=rest, arguments=rest)),
        joined(part(call_id=half, name=half), part(name=rest)),
        joined(part(arguments={"key": KEY})),
        joined(part(None, call_id="c1", arguments=half), part(None, arguments=rest)),
        joined(part(0, arguments=half), part(1, call_id="c2", arguments="x"), part(0, arguments=rest)),
    ):
        assert KEY not in str(call)


def test_endless_number_of_calls_is_malformed():
    with pytest.raises(ProviderError):
        joined(*(part(number, call_id=f"c{number}", name="time") for number in range(MAX_TOOL_CALLS + 1)))
