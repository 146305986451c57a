"""Plain reasoning of earlier answers, which goes only to models that ask for it: docs/adr/0067."""

from models_registry.providers.base import ChatRequest, Message
from models_registry.providers.kinds import ReasoningBack

# Servers have different names for the field of reasoning.
FIELDS = ("reasoning_content", "reasoning", "thinking")


def sent_messages(request: ChatRequest) -> list[Message]:
    """Return the messages with the reasoning that the model asks for, under its server's name."""
    back = request.reasoning_back
    if not any(name in message for message in request.messages for name in FIELDS) and not (back and back.fills_in):
        return request.messages
    return [_sent(message, back) if message["role"] == "assistant" else message for message in request.messages]


def _sent(message: Message, back: ReasoningBack | None) -> Message:
    reasoning = next((message[name] for name in FIELDS if message.get(name)), "")
    bare = {name: value for name, value in message.items() if name not in FIELDS}
    if back is None or (back.only_with_calls and not message.get("tool_calls")):
        return bare
    if isinstance(reasoning, str) and (reasoning or (back.fills_in and message.get("tool_calls"))):
        return {**bare, back.field: reasoning}
    return bare
