"""Tool calls of an answer, which arrive in parts."""

import secrets

import msgspec

from common.payload_types import Json, JsonObject
from common.text.redaction import MASK, StreamRedactor
from common.text.storable import storable
from models_registry.providers.base import FailureCode, ProviderError, ToolCallDelta

MAX_TOOL_CALLS = 128
MAX_NAME_CHARACTERS = 200


class FunctionPart(msgspec.Struct):
    name: str | None = None
    arguments: str | JsonObject | None = None


class ToolCallPart(msgspec.Struct):
    """Part of a tool call; some servers leave out its index."""

    index: int | None = None
    id: str | None = None
    function: FunctionPart | None = None


class ToolCalls:
    """Reader that numbers the calls and masks the provider's key in them."""

    def __init__(self, key: str) -> None:
        self._key = key
        # By index: masks the arguments.
        self._arguments: dict[int, StreamRedactor] = {}
        self._named: set[int] = set()
        self._ready: list[ToolCallDelta] = []

    def add(self, parts: list[Json]) -> None:
        """Raises ProviderError for parts of another shape, and for impossible numbers of calls."""
        try:
            decoded = msgspec.convert(parts, list[ToolCallPart])
        except (msgspec.ValidationError, RecursionError) as error:
            raise ProviderError(FailureCode.MALFORMED, str(error)) from None
        for part in decoded:
            index = self._index_of(part)
            if not 0 <= index < MAX_TOOL_CALLS:
                raise ProviderError(FailureCode.MALFORMED, "the index of a tool call")
            if index not in self._arguments:
                self._arguments[index] = StreamRedactor(self._key)
                part.id = part.id or f"call_{secrets.token_hex(12)}"  # callers name the call in its result
            else:
                part.id = None  # clients join repeated ones, as they would the parts of a key
            redactor = self._arguments[index]
            function = part.function
            arguments = function.arguments if function else None
            if isinstance(arguments, dict):  # of servers that do not stream them
                arguments = msgspec.json.encode(arguments).decode()
            name = function.name if function and function.name and index not in self._named else ""
            self._named |= {index} if name else set()
            masked = redactor.feed(storable(arguments or ""))
            self._ready.append(ToolCallDelta(index, self._scrub(part.id or ""), self._scrub(name), masked))

    def take(self) -> list[ToolCallDelta]:
        ready, self._ready = self._ready, []
        return ready

    def flush(self) -> None:
        """Make arguments ready that were held back as a possible beginning of the key."""
        for index, redactor in self._arguments.items():
            if rest := redactor.flush():
                self._ready.append(ToolCallDelta(index, "", "", rest))

    def _index_of(self, part: ToolCallPart) -> int:
        if part.index is not None:
            return part.index
        return len(self._arguments) if part.id or not self._arguments else len(self._arguments) - 1

    def _scrub(self, text: str) -> str:
        return storable(text.replace(self._key, MASK) if self._key else text)[:MAX_NAME_CHARACTERS]
