from common.payload_types import JsonObject
from common.text.storable import storable
from gateway.doors.port import WholeAnswer
from gateway.parsing.chat import ChatBody

# A picture is stored as the beginning of its data URL.
_KEPT_URL_CHARACTERS = 40


def kept_texts(chat: ChatBody, whole: WholeAnswer) -> JsonObject:
    answer: JsonObject = {"role": "assistant", "content": storable(whole.text)}
    if whole.reasoning:
        answer["reasoning_content"] = storable(whole.reasoning)
    if whole.tool_calls:
        answer["tool_calls"] = whole.tool_calls
    messages = [_without_pictures(message) for message in chat.conversation.messages]
    marked = {"has_instructions": True} if chat.has_instructions else {}
    return {"messages": messages, "answer": answer, **marked}


def _without_pictures(message: JsonObject) -> JsonObject:
    content = message["content"]
    return {**message, "content": [_part(part) for part in content]} if isinstance(content, list) else message


def _part(part: JsonObject) -> JsonObject:
    if part["type"] != "image_url":
        return part
    return {"type": "image_url", "image_url": {"url": part["image_url"]["url"][:_KEPT_URL_CHARACTERS] + "…"}}
