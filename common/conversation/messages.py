import binascii
import re
from base64 import b64decode
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple
from urllib.parse import unquote

import msgspec

from common.conversation.addresses import check_address
from common.conversation.contents import PLAIN_FIELDS, Medium, is_text_part, medium_in, part_field
from common.conversation.errors import BadField
from common.conversation.json_values import strings_in
from common.payload_types import Json, JsonObject

# Names of things that a provider stores.
STORED = frozenset({
    "file_id", "file_ids", "image_file", "container", "container_id", "vector_store_id", "vector_store_ids",
    "previous_response_id", "conversation_id", "assistant_id", "thread_id", "cached_content", "item_reference",
})  # fmt: skip
# Fields whose values are words of the protocol, and not part of the texts around them.
_WORDS = frozenset({"role", "type", "id", "tool_call_id", "name", "detail", "format", "media_type", "mime_type"})
# Words that no rule looks for.
_USUAL = _WORDS | PLAIN_FIELDS | {
    "system", "developer", "user", "assistant", "tool", "content", "text", "function", "arguments", "image_url", "url",
    "input_audio", "data", "file", "file_data", "ephemeral",
}  # fmt: skip
_BASE64_HEAD = re.compile(r"data:[\w.+/-]*(?:;\s*[\w.-]+=[\w.\"-]+)*;\s*base64")


@dataclass
class Conversation:
    """Messages as they are sent, and what decisions need of them.

    prompts: texts of the user's messages. texts: all that models read, in order. words: names and the like.
    """

    messages: list[JsonObject] = field(default_factory=list)
    prompts: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    system: str = ""
    first_system: str = ""
    media: list[Medium] = field(default_factory=list)
    writes_cache: bool = False

    @cached_property
    def text_characters(self) -> int:
        return sum(map(len, self.texts))

    @property
    def images(self) -> int:
        return sum(medium.is_image for medium in self.media)

    @property
    def has_addresses(self) -> bool:
        return any(medium.is_address for medium in self.media)

    @property
    def has_tool_calls(self) -> bool:
        return any(message["role"] == "assistant" and message.get("tool_calls") for message in self.messages)

    @property
    def has_open_tool_calls(self) -> bool:
        """Return whether the last message of the assistant calls tools."""
        answers = (message for message in reversed(self.messages) if message["role"] == "assistant")
        return bool(next(answers, {}).get("tool_calls"))

    @property
    def is_one_text(self) -> bool:
        if len(self.messages) != 1 or len(self.prompts) != 1 or self.media:
            return False
        [message] = self.messages
        content = message.get("content")
        parts = content if isinstance(content, list) else []
        return (
            message.keys() <= {"role", "content", "name"}
            and isinstance(content, str | list)
            and all(isinstance(part, dict) and part.get("type") == "text" for part in parts)
            and all(part.keys() <= {"type", "text", "cache_control"} for part in parts)
        )

    @property
    def opening(self) -> str:
        """Return the text that tells conversations apart."""
        # Coding agents add system messages in the middle of a conversation.
        system = self.first_system if self.prompts else self.system
        return f"{system}\0{(self.prompts or self.texts or [''])[0]}"


class Limits(NamedTuple):
    """characters: of all texts. media: pictures and files."""

    characters: int
    media: int

    def check_characters(self, n: int) -> None:
        """Raises BadField."""
        if n > self.characters:
            sentence = f"A request may have at most {self.characters:,} characters."
            raise BadField(sentence, "messages", "context_length_exceeded")


def parse_conversation(value: Json, limits: Limits) -> Conversation:
    """Raises BadField for what is no list of messages, for media that no provider may get, and beyond the limits.

    value: JSON of limited depth.
    """
    if value is None:
        raise BadField("“messages” is missing.", "messages", "missing_required_parameter")
    if not isinstance(value, list) or not value:
        raise BadField("“messages” must be a list of messages, and not empty.", "messages")
    conversation = Conversation()
    reader = _Reader(conversation)
    for number, message in enumerate(_with_tool_calls(value)):
        param = f"messages.{number}"
        if not isinstance(message, dict):
            raise BadField(f"“{param}” must be an object.", param, "invalid_type")
        if not isinstance(message.get("role"), str):
            raise BadField(f"“{param}.role” must be a role, such as “user”.", f"{param}.role")
        reader.read_message(message, param)
        conversation.messages.append(message)
    limits.check_characters(conversation.text_characters)
    if len(conversation.media) > limits.media:
        sentence = f"The messages may have at most {limits.media:,} pictures and files."
        raise BadField(sentence, "messages")
    return conversation


class _Reader:
    """Reads all texts and media of messages of any shape."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self._param = ""

    def read_message(self, message: JsonObject, param: str) -> None:
        conversation, role, content = self._conversation, message["role"], message.get("content")
        begin = len(conversation.texts)
        for name, value in message.items():
            self._param = f"{param}.{name}"
            self._read_name(name, value, may_refer=name not in PLAIN_FIELDS)
            self._read_field(name, value, message)
        if role not in ("user", "system", "developer"):
            return
        text = content if isinstance(content, str) else "".join(_texts_of(content))
        if role == "user":
            if not conversation.prompts:
                conversation.first_system = conversation.system
            conversation.prompts.append(text)
        else:
            conversation.system += text or "".join(conversation.texts[begin:])

    def _read_field(self, name: str, value: Json, message: JsonObject) -> None:
        param = self._param
        if name == "content" and isinstance(value, list):
            for number, part in enumerate(value):
                self._param = f"{param}.{number}"
                self._read("", part, message, may_refer=True)
        else:
            self._read(part_field(name), value, message, may_refer=name not in PLAIN_FIELDS)

    def _read(self, name: str, value: Json, parent: JsonObject, *, may_refer: bool) -> None:
        if isinstance(value, str):
            self._read_text(name, value, parent, may_refer=may_refer)
        elif isinstance(value, list):
            for entry in value:
                self._read(name, entry, parent, may_refer=may_refer)
        elif isinstance(value, dict):
            may_refer = may_refer and not is_text_part(value)
            for key, entry in value.items():
                self._read_name(key, entry, may_refer=may_refer)
                self._read(key, entry, value, may_refer=may_refer)

    def _read_name(self, name: str, value: Json, *, may_refer: bool) -> None:
        if name not in _USUAL:
            self._conversation.words.append(name)
        if name == "cache_control":
            self._conversation.writes_cache = True
        if may_refer and name in STORED and value:
            raise BadField("Things that a provider stores cannot be used here.", self._param, "stored_object")

    def _read_text(self, name: str, text: str, parent: JsonObject, *, may_refer: bool) -> None:
        conversation = self._conversation
        medium = medium_in(name, text, parent) if may_refer and name else None
        if medium is not None:
            conversation.media.append(medium)
            if medium.is_address:
                check_address(text, self._param)
                conversation.texts.append(text)
            else:
                conversation.texts += _readable(medium)
        elif name in _WORDS:
            if text not in _USUAL:
                conversation.words.append(text)
        else:
            conversation.texts.append(text)
            if name == "arguments" and "\\" in text:
                conversation.texts += _unescaped(text)


def _texts_of(content: Json) -> list[str]:
    parts = content if isinstance(content, list) else []
    texts = (part.get("text") for part in parts if isinstance(part, dict))
    return [text for text in texts if isinstance(text, str)]


def _readable(medium: Medium) -> list[str]:
    """Return the text of a text file in a data URL, and of all that only begins as one."""
    head, _, data = medium.reference.partition(",")
    head = head.lower().strip()
    if not head.startswith("data:"):
        return []
    if not _BASE64_HEAD.fullmatch(head):
        return [unquote(medium.reference)]
    if not head.startswith(("data:text/", "data:application/json", "data:application/xml")):
        return []
    try:
        return [b64decode(data).decode(errors="replace")]
    except (binascii.Error, ValueError):
        return [data]


def _unescaped(arguments: str) -> list[str]:
    try:
        return strings_in(msgspec.json.decode(arguments))
    except (msgspec.DecodeError, RecursionError):
        return []


def _with_tool_calls(messages: list[Json]) -> list[Json]:
    """Return the messages with calls of OpenAI's older `functions`, and their results, in the form of tools."""
    if not any(map(_is_older, messages)):
        return messages
    renewed: list[Json] = []
    for number, message in enumerate(messages):
        if not isinstance(message, dict) or not _is_older(message):
            renewed.append(message)
        elif message.get("role") == "function":
            # The result of the newest call: there was one at a time.
            result = {name: value for name, value in message.items() if name != "name"}
            renewed.append({**result, "role": "tool", "tool_call_id": f"call_{number - 1}"})
        else:
            rest = {name: value for name, value in message.items() if name != "function_call"}
            call = {"id": f"call_{number}", "type": "function", "function": message["function_call"]}
            renewed.append({"content": None, **rest, "tool_calls": message.get("tool_calls") or [call]})
    return renewed


def _is_older(message: Json) -> bool:
    return isinstance(message, dict) and (message.get("role") == "function" or bool(message.get("function_call")))
