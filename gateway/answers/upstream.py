import asyncio
from dataclasses import replace
from importlib import import_module
from weakref import WeakKeyDictionary

from battles.calls import Attempt, PreparedCall
from common.payload_types import JsonObject
from gateway.doors.port import Piece
from gateway.outgoing.state_tags import Seal
from models_registry.providers import ChatProvider
from models_registry.providers.base import ToolCallDelta

# Pieces that arrive within this time are sent together, because a chunk costs as much as ten of its words; longer while
# the process has many streams.
BATCH_S, BATCH_PER_STREAM_S, MAX_BATCH_S = 0.04, 0.006, 0.25
_PROVIDER_MODULE = "models_registry.providers.openai_compatible"
_running = 0
_providers: WeakKeyDictionary[asyncio.AbstractEventLoop, ChatProvider] = WeakKeyDictionary()


def load() -> None:
    """Import the provider's client, which takes a second once. In a thread: the event loop must not wait for it."""
    import_module(_PROVIDER_MODULE)


def _provider() -> ChatProvider:
    loop = asyncio.get_running_loop()
    if loop not in _providers:
        _providers[loop] = import_module(_PROVIDER_MODULE).OpenAICompatible()
    return _providers[loop]


class Upstream(Attempt):
    """Running call. `changed` is set when pieces wait to be taken, and at the end."""

    def __init__(self, prepared: PreparedCall, *, has_stops: bool) -> None:
        super().__init__(prepared, _provider())
        self.tool_calls: list[ToolCallDelta] = []
        # Tagged state of the message; that of its tool calls is in `tool_calls`.
        self.state: JsonObject = {}
        self._seal = Seal(prepared.row.model)
        self.changed = asyncio.Event()
        self.is_over = False
        self._has_stops = has_stops
        self._pieces: list[Piece] = []
        self._task = asyncio.create_task(self._run())

    def take(self) -> list[Piece]:
        """Return the pieces since the last call."""
        self.changed.clear()
        pieces, self._pieces = self._pieces, []
        if self.is_over:
            self.changed.set()
        return pieces

    async def wait_for_beginning(self) -> None:
        """Return when there is a piece, or the call is over."""
        await self.changed.wait()

    async def wait_for_end(self) -> None:
        await asyncio.wait([self._task])

    async def stop(self) -> None:
        """Cancel the call; the result holds what arrived."""
        while not self._task.done():
            # A library may lose a cancellation that meets its own timeout.
            self._task.cancel()
            await asyncio.wait([self._task], timeout=1)

    @property
    def failed(self) -> bool:
        return self.result.error is not None

    async def _run(self) -> None:
        global _running
        _running += 1
        try:
            await self.run()
            if not self.failed:
                self._add_state()
        except asyncio.CancelledError:
            self.result.stopped = True
            raise
        finally:
            _running -= 1
            self.is_over = True
            self.changed.set()

    async def stream(self) -> None:
        await self.send(self.call.request, receive_tool_calls=self._receive_tool_calls)

    def receive(self, text: str, reasoning: str) -> float:
        is_first = self.result.first_token_ms is None
        super().receive(text, reasoning)
        self._add(Piece(text, reasoning))
        return 0.0 if is_first else min(BATCH_S + BATCH_PER_STREAM_S * _running, MAX_BATCH_S)

    def take_back(self) -> None:
        """Turn the text so far into reasoning; text that a stream's caller has read stays text there."""
        super().take_back()
        self._pieces = [piece._replace(text="", reasoning=piece.text + piece.reasoning) for piece in self._pieces]

    def _receive_tool_calls(self, deltas: list[ToolCallDelta]) -> None:
        deltas = [replace(delta, state=self._seal.sealed(delta.state)) if delta.state else delta for delta in deltas]
        self.tool_calls += deltas
        self.result.tool_characters += sum(len(delta.arguments) + len(delta.name) for delta in deltas)
        self.note_first_token()
        self._add(Piece(tool_calls=deltas))

    def is_empty(self) -> bool:
        """Return whether an answer has nothing, and the caller's limits do not explain it."""
        is_explained = self._has_stops or self.result.completion.finish_reason == "length"
        return not (self.result.has_text or self.tool_calls or is_explained)

    def _add_state(self) -> None:
        """Pass the message's state on at its end, whole: a signature may come in parts."""
        self.state = self._seal.sealed(self.result.completion.state)
        if self.state:
            self._pieces.append(Piece(state=self.state))

    def _add(self, piece: Piece) -> None:
        self._pieces.append(piece)
        self.changed.set()
