"""Port of the languages that other software speaks: one engine answers in each of them."""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import msgspec

from common.errors import ArenaError
from common.payload_types import JsonObject
from gateway.authentication import Caller
from gateway.parsing.chat import ChatBody
from gateway.payload_types import ToolCallPayload, UsagePayload
from models_registry.providers.base import ToolCallDelta

# Other fields of a tool call are state of its server.
CALL_FIELDS = frozenset({"index", "id", "type", "function"})


class Piece(NamedTuple):
    """Part of an answer: text, reasoning, parts of tool calls, or at its end the sealed state of the message."""

    text: str = ""
    reasoning: str = ""
    tool_calls: list[ToolCallDelta] = []
    state: JsonObject = {}


class WholeAnswer(msgspec.Struct):
    """Everything of an answer. finish: stop, length, tool_calls or content_filter. state: sealed, of the message."""

    text: str
    reasoning: str
    tool_calls: list[ToolCallPayload]
    finish: str
    usage: UsagePayload
    state: JsonObject = {}

    @property
    def pieces(self) -> list[Piece]:
        """Return the answer in pieces, as a stream would have them."""
        calls = [
            ToolCallDelta(
                index, call["id"], call["function"]["name"], call["function"]["arguments"],
                {name: value for name, value in call.items() if name not in CALL_FIELDS},
            )
            for index, call in enumerate(self.tool_calls)
        ]  # fmt: skip
        return [Piece(reasoning=self.reasoning), Piece(self.text), Piece(tool_calls=calls), Piece(state=self.state)]


@dataclass(frozen=True)
class Head:
    """Fields that all events of an answer share. created: seconds since 1970."""

    public_id: str
    created: int
    model: str


class AnswerWriter(Protocol):
    """Writer of one answer, or of both of a blind battle, as a stream's events or as one object."""

    def begin(self) -> bytes: ...

    def deltas(self, pieces: list[Piece]) -> bytes:
        """Return events for pieces that are sent together."""
        ...

    def end(self, answer: WholeAnswer) -> bytes:
        """Return the last events, with the finish reason and the usage."""
        ...

    def error(self, refusal: ArenaError) -> bytes:
        """Return the last event of a stream that failed after its beginning."""
        ...

    def whole(self, answer: WholeAnswer) -> JsonObject: ...

    def battle_events(self, texts: list[str], usage: UsagePayload) -> bytes:
        """Return all events of a blind battle."""
        ...

    def battle(self, texts: list[str], usage: UsagePayload) -> JsonObject: ...


class Door(Protocol):
    """A language. comment: sent while a model is silent, also before the writer's beginning."""

    comment: bytes

    def parse(self, body: bytes, caller: Caller) -> ChatBody:
        """Raises BadField."""
        ...

    def writer(self, head: Head, chat: ChatBody) -> AnswerWriter: ...

    def refusal(self, error: ArenaError) -> JsonObject: ...

    def error_event(self, error: ArenaError) -> bytes:
        """Return the last event of a stream that failed before its writer's beginning."""
        ...
