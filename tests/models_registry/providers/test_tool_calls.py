import pytest

from models_registry.providers.base import ProviderError
from models_registry.providers.tool_calls import ToolCalls

KEY = "sk-canary-of-the-provider"


def joined(*parts: object, key: str = KEY) -> list[tuple[str, str, str]]:
    """Return (id, name, arguments) by call, joined as OpenAI's client does."""
    calls = ToolCalls(key)
    for part in parts:
        calls.add([part])
    calls.flush()
    found: dict[int, tuple[str, str, str]] = {}
    for delta in calls.take():
        call_id, name, arguments = found.get(delta.index, ("", "", ""))
        found[delta.index] = call_id + delta.id, name + delta.name, arguments + delta.arguments
    return [found[index] for index in sorted(found)]


def part(index: int | None = 0, *, call_id: str | None = None, **function: object) -> dict[str, object]:
    return {"index": index, "id": call_id, "function": function}


def test_repeated_id_and_name_are_passed_on_once():
    repeated = {"call_id": "c1", "name": "weather"}
    assert joined(part(**repeated, arguments='{"a"'), part(**repeated, arguments=": 1}")) == [
        ("c1", "weather", '{"a": 1}')
    ]
    assert joined(part(call_id="c1"), part(name="weather"), part(arguments="{}")) == [("c1", "weather", "{}")]


def test_key_is_masked_in_every_part():
    half, rest = KEY[:9], KEY[9:]
    for found in (
        joined(part(call_id=KEY, name=KEY, arguments=f"a {KEY} b")),
        joined(part(call_id=half, name=half, arguments=half), part(call_id=rest, name=rest, arguments=rest)),
        joined(part(arguments={"key": KEY})),
        joined(part(None, call_id="c1", arguments=half), part(None, arguments=rest)),
        joined(part(0, arguments=half), part(1, call_id="c2", arguments="x"), part(0, arguments=rest)),
    ):
        assert KEY not in str(found)


@pytest.mark.parametrize(
    "parts", [{"index": -1}, {"index": 128}, {"index": "0"}, {"function": "f"}, {"function": {"name": 1}}, 7, None]
)
def test_impossible_part_is_malformed(parts: object):
    with pytest.raises(ProviderError):
        joined(parts)
