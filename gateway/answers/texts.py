from common.payload_types import JsonObject
from common.text.storable import storable
from gateway.parsing.chat import ChatBody
from gateway.payload_types import ToolCallPayload
from models_registry.providers.contents import without_media

# A picture is stored as the beginning of its data URL.
_KEPT_URL_CHARACTERS = 40


def kept_texts(chat: ChatBody, *, text: str, reasoning: str, tool_calls: list[ToolCallPayload]) -> JsonObject:
    answer: JsonObject = {"role": "assistant", "content": storable(text)}
    if reasoning:
        answer["reasoning_content"] = storable(reasoning)
    if tool_calls:
        answer["tool_calls"] = tool_calls
    messages = [without_media(message, kept=_KEPT_URL_CHARACTERS) for message in chat.conversation.messages]
    return {"messages": messages, "answer": answer}
