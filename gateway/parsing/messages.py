from dataclasses import dataclass, field

from common.payload_types import JsonObject
from gateway.parsing.fields import BadField, Fields
from gateway.parsing.images import MAX_IMAGES, check_image

MAX_MESSAGES = 1_000
MAX_PARTS = 200
MAX_TOOL_CALLS = 128
# Fields of messages that OpenAI's client returns to the server and that models do not need.
_IGNORED = {"refusal", "audio", "annotations", "reasoning_content", "reasoning", "function_call", "index"}
# `developer` is OpenAI's newer name, which other servers refuse.
ROLES = ("system", "developer", "user", "assistant", "tool")


@dataclass
class Conversation:
    """Messages as they are sent, and what decisions need of them. texts: of every role. names: of users and tools."""

    messages: list[JsonObject] = field(default_factory=list)
    prompts: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    system: str = ""
    images: int = 0
    dropped: list[str] = field(default_factory=list)

    @property
    def last_role(self) -> str:
        return str(self.messages[-1]["role"])

    @property
    def characters(self) -> int:
        return sum(map(len, self.texts))


def parse_messages(body: Fields, *, max_prompt: int, max_characters: int) -> Conversation:
    """max_prompt: characters of one user message. Raises BadField."""
    body.require("messages")
    entries = body.objects("messages", at_most=MAX_MESSAGES)
    if not entries:
        raise BadField("“messages” is empty.", "messages")
    found = Conversation()
    unanswered: set[str] = set()
    for entry in entries:
        message = _message(entry, found, max_prompt=max_prompt)
        _check_order(entry, message, unanswered)
        found.messages.append(message)
        found.dropped += [f"messages.{name}" for name in entry.rest() if name not in _IGNORED]
    if unanswered:
        raise BadField("The last message leaves tool calls without results.", "messages")
    if found.last_role not in ("user", "tool"):
        raise BadField("The last message must be the user's, or a tool's result.", "messages")
    if not found.prompts:
        raise BadField("The messages have none of the user.", "messages")
    if found.characters > max_characters:
        raise BadField(f"The messages may have at most {max_characters:,} characters together.", "messages", "too_long")
    if found.images > MAX_IMAGES:
        raise BadField(f"The messages may have at most {MAX_IMAGES} images.", "messages")
    return found


def _message(entry: Fields, found: Conversation, *, max_prompt: int) -> JsonObject:
    role = entry.one_of("role", ROLES)
    message: JsonObject = {"role": "system" if role == "developer" else role}
    name = entry.text("name", max_length=64)
    if name and role == "user":
        message["name"] = name
        found.names.append(name)
    if role == "tool":
        message["tool_call_id"] = entry.text("tool_call_id", max_length=200, required=True)
    if role == "assistant" and "tool_calls" in entry:
        message["tool_calls"] = _tool_calls(entry, found)
    content, text = _content(entry, found, may_have_images=role == "user", required="tool_calls" not in message)
    message["content"] = content
    found.texts.append(text)
    if role == "user":
        if len(text) > max_prompt:
            raise entry.bad("content", f"A user's message may have at most {max_prompt:,} characters.", "too_long")
        if isinstance(content, str) and not text.strip():
            raise entry.bad("content", "A user's message is empty.")
        found.prompts.append(text)
    if message["role"] == "system":
        found.system += text
    return message


def _content(
    entry: Fields, found: Conversation, *, may_have_images: bool, required: bool
) -> tuple[str | list[JsonObject] | None, str]:
    """Return the content, and its text. Parts without an image become a text, which every server accepts."""
    content = entry.take("content")
    if content is None:
        if required:
            raise entry.bad("content", f"“{entry.param('content')}” is missing.", "missing_required_parameter")
        return None, ""
    if isinstance(content, str):
        return content, content
    if not isinstance(content, list):
        raise entry.bad("content", f"“{entry.param('content')}” must be a string or a list of parts.", "invalid_type")
    if not content or len(content) > MAX_PARTS:
        raise entry.bad("content", f"“{entry.param('content')}” must have 1 to {MAX_PARTS} parts.")
    parts: list[JsonObject] = []
    for number, value in enumerate(content):
        part = Fields(value, f"{entry.param('content')}.{number}")
        kind = part.one_of("type", ("text", "image_url") if may_have_images else ("text",))
        if kind == "text":
            part.require("text")
            parts.append({"type": "text", "text": part.text("text", max_length=10_000_000)})
        else:
            parts.append({"type": "image_url", "image_url": check_image(part)})
    text = "".join(part["text"] for part in parts if part["type"] == "text")
    images = sum(part["type"] == "image_url" for part in parts)
    found.images += images
    return parts if images else text, text


def _tool_calls(entry: Fields, found: Conversation) -> list[JsonObject]:
    calls = []
    for fields in entry.objects("tool_calls", at_most=MAX_TOOL_CALLS):
        fields.one_of("type", ("function",))
        function = fields.required_object("function")
        arguments = function.text("arguments", max_length=1_000_000)
        name = function.text("name", max_length=64, required=True)
        found.texts.append(arguments)
        found.names.append(name)
        calls.append(
            {
                "id": fields.text("id", max_length=200, required=True),
                "type": "function",
                "function": {"name": name, "arguments": arguments},
            }
        )
    if not calls:
        raise entry.bad("tool_calls", "“tool_calls” is empty.")
    return calls


def _check_order(entry: Fields, message: JsonObject, unanswered: set[str]) -> None:
    """Refuse a result without its call, and a call without its results."""
    if message["role"] == "tool":
        call = message["tool_call_id"]
        if call not in unanswered:
            raise entry.bad("tool_call_id", "This tool result answers no tool call of the message before.")
        unanswered.remove(call)
        return
    if unanswered:
        raise entry.bad("role", "The tool calls before this message have no results.")
    unanswered.update(call["id"] for call in message.get("tool_calls", ()))
