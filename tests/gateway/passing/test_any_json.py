"""Any JSON is parsed or refused, and what was parsed can be counted, kept and sent."""

from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from common.conversation.contents import TEXT_PARTS, without_media
from common.conversation.errors import BadField
from gateway.parsing.chat import parse_chat
from models_registry import spending
from models_registry.providers.passing import PLAIN, READ, TEXTS
from models_registry.providers.sizes import MessagesSize

WORDS = st.sampled_from([
    "", "text", "user", "assistant", "function", "custom", "web_search", "https://example.org/a",
    "data:image/png;base64,aa", "data:text/plain,a", "file:///x", "{\\", "auto", "required", "a\ud7ffb", "7", "-1",
])  # fmt: skip
NAMES = st.sampled_from([
    "role", "content", "type", "text", "name", "tool_calls", "function", "function_call", "arguments", "image_url",
    "url", "data", "format", "file", "cache_control", "x", *sorted(TEXT_PARTS),
])  # fmt: skip
LEAVES = st.one_of(st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(allow_nan=False), WORDS)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=4)),
    max_leaves=12,
)
MESSAGES = st.dictionaries(NAMES, VALUES, max_size=4).flatmap(
    lambda fields: WORDS.map(lambda role: {"role": role, **{k: v for k, v in fields.items() if k != "role"}})
)
FIELDS = st.dictionaries(
    st.sampled_from([*sorted(PLAIN | TEXTS | READ - {"model", "messages"}), "functions", "vendor"]), VALUES, max_size=4
)


@pytest.mark.slow
@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(messages=st.lists(MESSAGES, min_size=1, max_size=3), fields=FIELDS)
def test_any_json_is_parsed_or_refused(messages: list[Any], fields: dict[str, Any]):
    try:
        chat = parse_chat({"model": "auto", "messages": messages, **fields})
    except BadField:
        return
    parsed = chat.conversation.messages
    assert msgspec.json.decode(msgspec.json.encode([parsed, chat.parameters]))
    assert chat.characters >= 0
    assert spending.max_prompt_tokens("m", MessagesSize.of(parsed)) > 0
    assert all(isinstance(text, str) for passage in chat.passages for text in passage)
    assert [without_media(message, keep=9) for message in parsed]
    assert chat.is_single_prompt in (True, False)
    assert chat.is_in_tool_loop in (True, False)
    assert isinstance(chat.conversation.opening, str)
