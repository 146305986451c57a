"""State of answers goes out with a keyed tag of its model, and comes back only with it: docs/adr/0067."""

import base64
import hmac
from collections.abc import Iterable

from django.utils.crypto import salted_hmac

from common.payload_types import Json, JsonObject
from models_registry.models import LanguageModel
from models_registry.providers.answer_state import (
    IN_CONTENT,
    OBJECTS,
    PARTS,
    is_reasoning_part,
    is_sealed_name,
    with_state,
)
from models_registry.providers.base import Message

TAG_CHARACTERS = 22


class Seal:
    """Seal of one model at one provider."""

    def __init__(self, model: LanguageModel) -> None:
        self._scope = f"{model.provider.pk}\0{model.upstream_name}"
        self._takes_text = model.provider.dialect.reasoning_back(model.upstream_name) is not None

    def sealed(self, state: JsonObject) -> JsonObject:
        """Return a message's or tool call's state for the caller; parts from the text become `thinking_blocks`."""
        sealed: JsonObject = {name: self._tagged(value, name) for name, value in state.items() if name != IN_CONTENT}
        if blocks := state.get(IN_CONTENT):
            tagged = [self._tagged(block, IN_CONTENT) for block in blocks]
            sealed["thinking_blocks"] = [*sealed.get("thinking_blocks", []), *tagged]
        return sealed

    def opened(self, messages: list[Message]) -> list[Message]:
        """Return messages with the state that this seal fits; any other is cut."""
        return [self._opened(message) if message["role"] == "assistant" else message for message in messages]

    def _opened(self, message: Message) -> Message:
        message = self._opened_fields(message)
        if isinstance(calls := message.get("tool_calls"), list):
            message["tool_calls"] = [self._opened_fields(call) if isinstance(call, dict) else call for call in calls]
        return message

    def _opened_fields(self, fields: JsonObject) -> JsonObject:
        opened: JsonObject = {}
        blocks: list[Json] = []
        for name, value in fields.items():
            if name in OBJECTS or is_sealed_name(name):
                value, fits = self._untagged(value, name, is_sealed=True)
                if not fits:
                    continue
            elif name in PARTS:
                blocks = self._open_parts(value, IN_CONTENT) if name == "thinking_blocks" else []
                value = self._open_parts(value, name)
                if not value:
                    continue
            elif name == "content" and isinstance(value, list) and any(map(is_reasoning_part, value)):
                value = [part for part in value if not is_reasoning_part(part)] or None
            opened[name] = value
        return with_state(opened, {IN_CONTENT: blocks})

    def _open_parts(self, parts: Json, place: str) -> list[Json]:
        """Return the parts of reasoning with a seal that fits, and texts for a model that asks for them."""
        opened = [self._untagged(part, place) for part in parts] if isinstance(parts, list) else []
        return [part for part, fits in opened if fits or (self._takes_text and place != IN_CONTENT and _has_text(part))]

    def _tagged(self, value: Json, place: str, *, is_sealed: bool | None = None) -> Json:
        """is_sealed: of every text inside; None: of those whose field is sealed, and of ids."""
        if is_sealed is None and (place in OBJECTS or is_sealed_name(place)):
            is_sealed = True
        if isinstance(value, str):
            return value + self._tag(value, place) if value and is_sealed else value
        if isinstance(value, list):
            return [self._tagged(inner, place, is_sealed=is_sealed) for inner in value]
        if isinstance(value, dict):
            return {
                name: self._tagged(inner, place, is_sealed=is_sealed or is_sealed_name(name) or name == "id")
                for name, inner in value.items()
            }
        return value

    def _untagged(self, value: Json, place: str, *, is_sealed: bool = False) -> tuple[Json, bool | None]:
        """Return the value as the server sent it, and whether its seals fit; None without any seal."""
        if isinstance(value, str):
            if not (is_sealed and value):
                return value, None
            text, tag = value[:-TAG_CHARACTERS], value[-TAG_CHARACTERS:]
            return text, hmac.compare_digest(tag.encode(), self._tag(text, place).encode())
        if isinstance(value, list):
            opened = [self._untagged(inner, place, is_sealed=is_sealed) for inner in value]
            return [inner for inner, _ in opened], _all_fit(fits for _, fits in opened)
        if not isinstance(value, dict):
            return value, None
        untagged: JsonObject = {}
        verdicts: list[bool | None] = []
        for name, inner in value.items():
            is_inside_sealed = is_sealed or is_sealed_name(name)
            content, fits = self._untagged(inner, place, is_sealed=is_inside_sealed or name == "id")
            if fits is not False:
                untagged[name] = content
            if fits or is_inside_sealed:
                verdicts.append(fits)
        return untagged, _all_fit(verdicts)

    def _tag(self, value: str, place: str) -> str:
        digest = salted_hmac("gateway.state", f"{self._scope}\0{place}\0{value}", algorithm="sha256").digest()
        return base64.urlsafe_b64encode(digest[:16]).decode()[:TAG_CHARACTERS]


def _all_fit(verdicts: Iterable[bool | None]) -> bool | None:
    checked = [fits for fits in verdicts if fits is not None]
    return all(checked) if checked else None


def _has_text(part: Json) -> bool:
    return isinstance(part, dict) and any(part.get(name) for name in ("text", "summary", "thinking"))
