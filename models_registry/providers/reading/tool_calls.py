import json
import secrets
from dataclasses import dataclass, field

import msgspec

from common.payload_types import Json, JsonObject
from common.text.redaction import MASK, StreamRedactor
from common.text.storable import storable
from models_registry.providers.answer_state import merge, state_of
from models_registry.providers.base import FailureCode, ProviderError, ToolCallDelta

MAX_TOOL_CALLS = 128
MAX_NAME_CHARACTERS = 200
MAX_STATE_BYTES = 1_000_000
# Each one reads a call's arguments from their beginning.
MAX_CHECKS = 1_000


@dataclass
class _Call:
    index: int
    redactor: StreamRedactor
    id: str = ""
    name: str = ""
    arguments: str = ""
    state: JsonObject = field(default_factory=dict)
    is_announced: bool = False
    checks: int = 0

    @property
    def is_complete(self) -> bool:
        self.checks += 1
        if self.checks > MAX_CHECKS or self.arguments.rstrip()[-1:] not in ("}", "]"):
            return False
        try:
            json.loads(self.arguments)
        except (ValueError, RecursionError):
            return False
        return True


class ToolCalls:
    """Reader that tells calls apart, numbers them from 0, and masks the provider's key in them.

    A call is passed on once its arguments begin: until then its name may grow.
    """

    def __init__(self, key: str, tools: Json = None) -> None:
        """tools: of the request."""
        self._key = key
        self._tools = _names(tools)
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}
        self._by_id: dict[str, _Call] = {}
        self._ready: list[ToolCallDelta] = []
        # Calls with a name in the list of parts that is read.
        self._named_together: set[int] = set()
        self.has_odd_parts = False

    @property
    def has_calls(self) -> bool:
        return bool(self._calls)

    @property
    def are_complete(self) -> bool:
        return all(call.name and (not call.arguments or call.is_complete) for call in self._calls)

    def add(self, parts: list[Json]) -> None:
        """Parts of another shape are left out. Raises ProviderError for an impossible number of calls."""
        self._named_together.clear()
        for part in parts:
            if isinstance(part, dict):
                self._add(part)
            else:
                self.has_odd_parts = True

    def take(self) -> list[ToolCallDelta]:
        ready, self._ready = self._ready, []
        return ready

    def flush(self) -> None:
        """Make ready what was held back: calls without arguments, and possible beginnings of the key."""
        for call in self._calls:
            if not call.is_announced and not (call.name or call.arguments or call.id):
                continue
            rest = call.redactor.flush()
            if not call.arguments:
                rest = call.arguments = "{}"
            if rest or not call.is_announced:
                self._pass_on(call, rest)

    def _add(self, part: JsonObject) -> None:
        function = part.get("function")
        if not isinstance(function, dict):
            function = part
        name, arguments = _text(function.get("name")), _arguments(function)
        index, call_id = _index(part.get("index")), _text(part.get("id"))
        call = self._find(index, call_id, name, arguments) or self._begin(index, call_id)
        call.id = call.id or call_id
        if name:
            self._named_together.add(call.index)
        if not call.is_announced:
            call.name = self._joined(call.name, name)[:MAX_NAME_CHARACTERS]
        self._add_state(call, state_of(part) | state_of(function))
        if call.arguments or arguments.strip():
            call.arguments += arguments
            masked = call.redactor.feed(storable(arguments))
            if masked or not call.is_announced:
                self._pass_on(call, masked)

    def _add_state(self, call: _Call, state: JsonObject) -> None:
        if not state:
            return
        merge(call.state, state)
        if call.is_announced:
            self._ready.append(ToolCallDelta(call.index, "", "", "", masked_state(call.state, self._key)))

    def _find(self, index: int | None, call_id: str, name: str, arguments: str) -> _Call | None:
        """Return the call that a part continues; None for the first part of a new one."""
        if call_id and call_id in self._by_id:
            return self._by_id[call_id]
        call = self._by_index.get(index) if index is not None else (self._calls[-1] if self._calls else None)
        if call is None:
            return None
        is_named_anew = bool(name) and bool(call.name)
        if is_named_anew and call.index in self._named_together:  # parts of one call do not come together
            return None
        if call_id and call.id and is_named_anew:
            # Some servers give each part of a call a new id.
            return call if call.arguments and not call.is_complete else None
        if call_id and call.id and index is None:
            return None
        if is_named_anew and call.arguments and call.is_complete and arguments:
            return None
        return call

    def _joined(self, name: str, part: str) -> str:
        """Return the name with its next part; some servers repeat it, whole or as far as it has grown."""
        for whole in (name + part, part, name):
            if whole in self._tools:
                return whole
        return part if part.startswith(name) else name + part

    def _begin(self, index: int | None, call_id: str) -> _Call:
        if len(self._calls) >= MAX_TOOL_CALLS:
            raise ProviderError(FailureCode.MALFORMED, "the number of tool calls")
        number = len(self._calls)
        self.has_odd_parts = self.has_odd_parts or index != number or not call_id
        call = _Call(number, StreamRedactor(self._key))
        self._calls.append(call)
        if index is not None:
            self._by_index[index] = call
        if call_id:
            self._by_id[call_id] = call
        return call

    def _pass_on(self, call: _Call, arguments: str) -> None:
        if call.is_announced:
            self._ready.append(ToolCallDelta(call.index, "", "", arguments))
            return
        call.is_announced = True
        call_id = call.id or f"call_{secrets.token_hex(12)}"  # callers name the call in its result
        self._ready.append(
            ToolCallDelta(
                call.index, self._scrub(call_id), self._scrub(call.name), arguments, masked_state(call.state, self._key)
            )
        )

    def _scrub(self, text: str) -> str:
        return storable(text.replace(self._key, MASK) if self._key else text)[:MAX_NAME_CHARACTERS]


def _text(value: Json) -> str:
    if isinstance(value, bool) or value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value) if isinstance(value, int | float) else ""


def _index(value: Json) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit():
        return int(value[:9])
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and value == value
    return int(value) if is_number and abs(value) < 1e9 else None  # type: ignore[arg-type]


def _arguments(function: JsonObject) -> str:
    value = function.get("arguments", function.get("input"))
    if isinstance(value, str):
        return "" if value.strip() == "null" else value
    # Objects come from servers that do not stream them; null and an empty one stand for none.
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) and value else ""


def _names(tools: Json) -> set[str]:
    functions = [tool.get("function") for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []
    return {_text(function.get("name")) for function in functions if isinstance(function, dict)}


def masked_state(state: JsonObject, key: str) -> JsonObject:
    """Return state without the provider's key; {} if it is too large or no JSON."""
    if not state:
        return {}
    try:
        encoded = msgspec.json.encode(state).decode(errors="replace")
    except (ValueError, TypeError, RecursionError, UnicodeEncodeError):
        return {}
    if len(encoded) > MAX_STATE_BYTES:
        return {}
    masked: JsonObject = msgspec.json.decode(encoded.replace(key, MASK) if key else encoded)
    return masked
