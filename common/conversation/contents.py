"""Texts, media and addresses in messages of any shape, as callers send them."""

import re
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from common.payload_types import Json, JsonObject

# Parts of a content that are text: an address in them is only written about.
TEXT_PARTS = frozenset({"text", "input_text", "output_text", "refusal", "thinking", "reasoning", "summary_text"})
# Fields of messages whose addresses no server fetches.
PLAIN_FIELDS = frozenset({
    "role", "name", "tool_calls", "tool_call_id", "function_call", "refusal", "reasoning", "reasoning_content",
    "reasoning_details", "thinking", "annotations", "citations", "extra_content", "cache_control",
})  # fmt: skip
# The most tokens of a file that a provider fetches itself, before the model's context bounds them.
MAX_TOKENS_OF_FETCHED = 1_000_000
_ADDRESS = re.compile(r"\s*(?:[a-z][a-z0-9+.-]*:[/\\]|[/\\]{2}|file:)", re.IGNORECASE)
_ADDRESS_FIELD = re.compile(r"(?:^|_)(?:url|uri)s?$|^(?:image|audio|video)$")
# Fields beside `data` that say what its base64 is.
_DATA_FORMATS = ("media_type", "mime_type", "mimeType", "format")


class Medium(NamedTuple):
    """A picture or another file of a message. reference: a data URL, base64, or an address."""

    is_image: bool
    reference: str
    is_address: bool

    @property
    def most_tokens(self) -> int:
        """Return the maximum for another file than a picture."""
        return MAX_TOKENS_OF_FETCHED if self.is_address else len(self.reference)


def medium_in(field: str, value: str, parent: JsonObject) -> Medium | None:
    """Return what a field of a part that is no text refers to; None for a text. parent: the object with the field."""
    head = value[:100].lower()
    if head.lstrip().startswith("data:"):
        return Medium(head.lstrip().startswith("data:image"), value, is_address=False)
    formats = [str(parent[name]) for name in _DATA_FORMATS if name in parent]
    if field == "data" and formats:
        return Medium(formats[0].startswith("image"), value, is_address=False)
    if _ADDRESS.match(value) or _ADDRESS_FIELD.search(field):
        is_image = "image" in f"{field} {parent.get('type', '')}"
        return Medium(is_image, value, is_address=True)
    return None


def is_text_part(part: Json) -> bool:
    return isinstance(part, dict) and str(part.get("type")) in TEXT_PARTS


def media_of(message: JsonObject) -> list[Medium]:
    if len(message) == 2 and isinstance(message.get("content"), str):
        return []
    return [
        medium
        for name, value in message.items()
        if name not in PLAIN_FIELDS
        for medium in _media_in(value, part_field(name), message)
    ]


def part_field(name: str) -> str:
    """Return the name that tells pictures and files of a message's field from texts; a string as content is text."""
    return "" if name == "content" else name


def _media_in(value: Json, field: str = "", parent: JsonObject | None = None) -> Iterator[Medium]:
    if isinstance(value, str):
        if field and (medium := medium_in(field, value, parent or {})) is not None:
            yield medium
    elif isinstance(value, list):
        for entry in value:
            yield from _media_in(entry, field, parent)
    elif isinstance(value, dict) and not is_text_part(value):
        for name, entry in value.items():
            yield from _media_in(entry, name, value)


def message_text(message: JsonObject) -> str:
    """Return the text of the content, and all else but pictures and files as JSON."""
    content = message.get("content")
    if isinstance(content, str) and len(message) == 2:
        return content
    texts, others = ([content], []) if isinstance(content, str) else ([], content or [])
    rest: list[Json] = []
    for part in others if isinstance(others, list) else [others]:
        if isinstance(part, dict) and part.keys() == {"type", "text"} and isinstance(part["text"], str):
            texts.append(part["text"])
        elif not _is_only_picture(part):
            rest.append(without_media(part))
    if fields := {name: value for name, value in message.items() if name not in ("role", "content")}:
        rest.append(message_without_media(fields))
    return "".join(texts) + "".join(msgspec.json.encode(value).decode() for value in rest)


def _is_only_picture(part: Json) -> bool:
    if not isinstance(part, dict) or part.keys() != {"type", "image_url"}:
        return False
    image = part["image_url"]
    return isinstance(image, dict) and image.keys() <= {"url", "detail"}


def message_without_media(message: JsonObject, *, keep: int = 0) -> JsonObject:
    """keep: as of without_media."""
    return {
        name: value if name in PLAIN_FIELDS else without_media(value, part_field(name), message, keep=keep)
        for name, value in message.items()
    }


def without_media(value: Json, field: str = "", parent: JsonObject | None = None, *, keep: int = 0) -> Json:
    """Return the value with its pictures and files cut. keep: characters of each that stay, with an ellipsis."""
    if isinstance(value, str):
        medium = medium_in(field, value, parent or {}) if field else None
        return value if medium is None or medium.is_address else value[:keep] + ("…" if keep else "")
    if isinstance(value, list):
        return [without_media(entry, field, parent, keep=keep) for entry in value]
    if isinstance(value, dict) and not is_text_part(value):
        return {name: without_media(entry, name, value, keep=keep) for name, entry in value.items()}
    return value


def count_images(message: JsonObject) -> int:
    return sum(medium.is_image for medium in media_of(message))
