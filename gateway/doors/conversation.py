"""Messages of chat completions, built from the parts that other languages split them into."""

from common.payload_types import JsonObject
from gateway.doors.packed_state import unpack_state


class ConversationBuilder:
    """Joins an assistant's neighbouring reasoning, text and tool calls into one message."""

    def __init__(self, messages: list[JsonObject] | None = None) -> None:
        self.messages = messages or []
        self._assistant: JsonObject | None = None
        self._call_states: JsonObject = {}

    def add(self, message: JsonObject) -> None:
        self.messages.append(message)
        self._assistant = None

    def add_answer(self, content: str | list[JsonObject]) -> None:
        if self._assistant is not None and (self._assistant["content"] or "tool_calls" in self._assistant):
            self._assistant = None
        self._open_assistant()["content"] = content

    def add_reasoning(self, text: str, packed: object) -> None:
        """packed: state of pack_state, also without a text."""
        message, state = self._open_assistant(), unpack_state(packed)
        calls = state.pop("tool_calls", None)
        if isinstance(calls, dict):
            self._call_states |= calls
        for name, value in state.items():
            if name not in ("role", "content"):
                message[name] = [*message[name], *value] if _are_lists(message.get(name), value) else value
        if text:
            message["reasoning_content"] = message.get("reasoning_content", "") + text

    def add_call(self, call_id: str, name: str, arguments: str) -> None:
        calls = self._open_assistant().setdefault("tool_calls", [])
        calls.append({"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}})

    def end_answer(self) -> None:
        self._assistant = None

    def finish(self) -> list[JsonObject]:
        for message in self.messages:
            for call in message.get("tool_calls", ()):
                state = self._call_states.get(call["id"])
                if isinstance(state, dict):
                    call |= {name: value for name, value in state.items() if name not in call}
            if message["role"] == "assistant" and message["content"] is None and "tool_calls" not in message:
                message["content"] = ""
        return self.messages

    def _open_assistant(self) -> JsonObject:
        if self._assistant is None:
            self._assistant = {"role": "assistant", "content": None}
            self.messages.append(self._assistant)
        return self._assistant


def _are_lists(*values: object) -> bool:
    return all(isinstance(value, list) for value in values)


def text_or_parts(parts: list[JsonObject]) -> str | list[JsonObject]:
    """Return a lone text as such, which every server accepts."""
    if len(parts) == 1 and parts[0].keys() == {"type", "text"} and parts[0]["type"] == "text":
        return str(parts[0]["text"])
    return parts


def joined_texts(parts: list[JsonObject]) -> str | list[JsonObject]:
    """Return an answer's texts as one, unless a part holds more than a text."""
    is_plain = all(part.keys() == {"type", "text"} and isinstance(part["text"], str) for part in parts)
    return "".join(part["text"] for part in parts) if is_plain else parts
