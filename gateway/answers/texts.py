from collections.abc import Mapping

from common.conversation.contents import message_without_media
from common.payload_types import JsonObject
from common.text.storable import storable
from gateway.doors.port import CALL_FIELDS, WholeAnswer
from gateway.parsing.chat import ChatBody

# A picture is stored as the beginning of its data URL.
_KEPT_URL_CHARACTERS = 40
# Other fields may be state of a provider, which is not stored.
_MESSAGE_FIELDS = frozenset({"role", "content", "name", "tool_calls", "tool_call_id", "function_call", "refusal"})


def kept_texts(chat: ChatBody, whole: WholeAnswer) -> JsonObject:
    answer: JsonObject = {"role": "assistant", "content": storable(whole.text)}
    if whole.reasoning:
        answer["reasoning_content"] = storable(whole.reasoning)
    if whole.tool_calls:
        answer["tool_calls"] = [_without_state(call, CALL_FIELDS) for call in whole.tool_calls]
    messages = [_stored(message) for message in chat.conversation.messages]
    marked = {"has_instructions": True} if chat.has_instructions else {}
    return {"messages": messages, "answer": answer, **marked}


def _without_state(fields: Mapping[str, object], known: frozenset[str]) -> JsonObject:
    return {name: value for name, value in fields.items() if name in known}


def _stored(message: JsonObject) -> JsonObject:
    message = _without_state(message, _MESSAGE_FIELDS)
    if isinstance(message.get("tool_calls"), list):
        message["tool_calls"] = [
            _without_state(call, CALL_FIELDS) if isinstance(call, dict) else call for call in message["tool_calls"]
        ]
    return message_without_media(message, kept=_KEPT_URL_CHARACTERS)
