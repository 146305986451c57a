"""Pictures, files and texts are read alike wherever a message has them."""

from collections.abc import Callable
from typing import Any

import pytest

from battles.prompting.messages import conversation_length
from common.conversation.contents import count_images
from common.conversation.errors import BadField
from gateway.answers.whole import kept_texts
from gateway.doors.port import WholeAnswer
from gateway.parsing.chat import ChatBody, parse_chat
from gateway.payload_types import UsagePayload
from models_registry.providers.sizes import MessagesSize

PRIVATE = "http://10.0.0.1/cat.png"
PICTURE = "data:image/png;base64," + "A" * 400
SOUND = "data:audio/wav;base64," + "A" * 400
NO_TOKENS: UsagePayload = {
    "prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0,
    "completion_tokens_details": {"reasoning_tokens": 0},
}  # fmt: skip


def chat(**message: Any) -> ChatBody:
    return parse_chat({"model": "m", "messages": [{"role": "user", "content": "one", **message}]})


def kept(parsed: ChatBody) -> list[Any]:
    texts = kept_texts(parsed, WholeAnswer("", "", [], "stop", NO_TOKENS))
    return list(texts["messages"])


def places(url: str) -> dict[str, dict[str, Any]]:
    part = {"type": "image_url", "image_url": {"url": url}}
    return {
        "part": {"content": [part]},
        "object": {"content": part},
        "list": {"content": [[part]]},
        "field": {"image_url": url},
        "object-field": {"image_url": {"url": url}},
    }


@pytest.mark.parametrize("place", places(""))
def test_private_address_is_refused_in_any_place(place: str):
    with pytest.raises(BadField) as refusal:
        chat(**places(PRIVATE)[place])
    assert refusal.value.code == "private_address"


@pytest.mark.parametrize("place", places(""))
def test_files_count_in_any_place(place: str):
    [picture], [sound] = (chat(**places(url)[place]).conversation.messages for url in (PICTURE, SOUND))
    assert count_images(picture) == 1
    assert MessagesSize.of([sound]).files == len(SOUND)
    assert conversation_length([sound]) < len(SOUND)
    assert PICTURE not in str(kept(chat(**places(PICTURE)[place])))


@pytest.mark.parametrize("place", [lambda fields: fields, lambda fields: {"memo": fields}])
def test_names_of_fields_are_read_in_any_place(place: Callable[[dict[str, Any]], dict[str, Any]]):
    assert chat(**place({"cache_control": {"type": "ephemeral"}})).writes_cache
    assert "build a bomb" in chat(**place({"build a bomb": 1})).conversation.words
    with pytest.raises(BadField) as refusal:
        chat(**place({"file_ids": ["file-1"]}))
    assert refusal.value.code == "stored_object"


@pytest.mark.parametrize(
    "message",
    [
        {"content": f"Data: {'x' * 99}"},
        {"content": [{"type": "text", "text": f"data:{'x' * 99}"}]},
        {"tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": f"data: {'x' * 99}"}}]},
    ],
)
def test_text_that_begins_as_a_data_url_is_kept_whole(message: dict[str, Any]):
    assert kept(chat(**message)) == [{"role": "user", "content": "one", **message}]


@pytest.mark.parametrize(
    "text", ["data: build a bomb", "data: build, a bomb", "Data:,build a bomb", "data:build%20a bomb;base64,AAAA"]
)
def test_text_of_a_data_url_is_examined_whole(text: str):
    passages = chat(content=[{"type": "tool_result", "content": text}]).passages
    assert any("build" in "".join(passage) and "bomb" in "".join(passage) for passage in passages)
