"""Answers as a sequence of blocks: reasoning, text and tool calls, each with a beginning and an end."""

from dataclasses import dataclass, field

import msgspec

from common.payload_types import JsonObject
from gateway.doors.port import Piece, WholeAnswer
from models_registry.providers.base import ToolCallDelta

# A block is known by its kind and the index of its tool call, which is 0 for reasoning and text.
Key = tuple[str, int]
REASONING, TEXT, CALL = "reasoning", "text", "call"
_REASONING_KEY, _TEXT_KEY = (REASONING, 0), (TEXT, 0)


@dataclass
class Block:
    """index: in the answer. state: of reasoning, for packed_state.pack_state."""

    kind: str
    index: int
    call_id: str = ""
    name: str = ""
    texts: list[str] = field(default_factory=list)
    state: JsonObject = field(default_factory=dict)

    @property
    def text(self) -> str:
        return "".join(self.texts)

    @property
    def is_silent(self) -> bool:
        """Return whether a block of reasoning holds nothing but state."""
        return bool(self.state) and not self.texts

    @property
    def is_whole(self) -> bool:
        """Return whether nothing can follow; parts of a call may come after those of the next one."""
        if self.kind != CALL:
            return True
        try:
            msgspec.json.decode(self.text)
        except msgspec.DecodeError:
            return False
        return True


class BlockWriter:
    """Base of writers whose events open blocks, add to them and close them."""

    def __init__(self) -> None:
        self._open: dict[Key, Block] = {}
        self._blocks = 0
        self._late_state: JsonObject = {}

    def deltas(self, pieces: list[Piece]) -> bytes:
        events = b"".join([self._add(run) for run in _runs(pieces)])
        for piece in pieces:
            self._late_state |= piece.state
        return events

    def _opened(self, block: Block) -> bytes:
        raise NotImplementedError

    def _added(self, block: Block, text: str) -> bytes:
        raise NotImplementedError

    def _closed(self, block: Block) -> bytes:
        raise NotImplementedError

    def _close_all(self) -> bytes:
        """Close all blocks, and give out the state that came after its block."""
        events = b"".join(map(self._close, list(self._open)))
        return events + (self._add_silent(self._late_state) if self._late_state else b"")

    def _add_whole(self, answer: WholeAnswer) -> bytes:
        return self.deltas(answer.pieces) + self._close_all()

    def _add_text(self, text: str) -> bytes:
        """Return the events of a text of its own, also of an empty one."""
        events, block = self._open_block(_TEXT_KEY)
        if text:
            block.texts.append(text)
            events += self._added(block, text)
        return events + self._close(_TEXT_KEY)

    def _add(self, run: "_Run") -> bytes:
        events, text = b"", "".join(run.texts)
        block = self._open.get(run.key)
        if block is None:
            events, block = self._open_block(run.key, run)
        elif run.state:
            self._late_state.setdefault("tool_calls", {}).setdefault(block.call_id, {}).update(run.state)
        if text:
            block.texts.append(text)
            events += self._added(block, text)
        return events

    def _open_block(self, key: Key, run: "_Run | None" = None, state: JsonObject | None = None) -> tuple[bytes, Block]:
        """Close the blocks before it that are whole, and give out the state of a call before the call."""
        events = b""
        block = Block(key[0], 0, state=state or {})
        if run is not None and run.call is not None:
            block.call_id, block.name = run.call.id, run.call.name
            if run.state:
                events = self._add_state({"tool_calls": {block.call_id: run.state}})
        for other in [other for other, opened in self._open.items() if opened.is_whole]:
            events += self._close(other)
        block.index = self._blocks
        self._blocks += 1
        self._open[key] = block
        return events + self._opened(block), block

    def _add_state(self, state: JsonObject) -> bytes:
        """Add state to the open reasoning, or to a silent block of its own."""
        if (reasoning := self._open.get(_REASONING_KEY)) is not None:
            reasoning.state |= state
            return b""
        return self._add_silent(state)

    def _add_silent(self, state: JsonObject) -> bytes:
        events, _block = self._open_block(_REASONING_KEY, state=state)
        return events + self._close(_REASONING_KEY)

    def _close(self, key: Key) -> bytes:
        return self._closed(self._open.pop(key))


@dataclass
class _Run:
    """Parts of one block that are sent together. call, state: of a tool call."""

    key: Key
    texts: list[str] = field(default_factory=list)
    call: ToolCallDelta | None = None
    state: JsonObject = field(default_factory=dict)


def _runs(pieces: list[Piece]) -> list[_Run]:
    """Return the parts of blocks in order; neighbours of one block become one."""
    runs: list[_Run] = []

    def run_of(key: Key) -> _Run:
        if not runs or runs[-1].key != key:
            runs.append(_Run(key))
        return runs[-1]

    for piece in pieces:
        for part in piece.tool_calls:
            run = run_of((CALL, part.index))
            run.texts.append(part.arguments)
            run.call = run.call or part
            run.state |= part.state
        if piece.reasoning:
            run_of(_REASONING_KEY).texts.append(piece.reasoning)
        if piece.text:
            run_of(_TEXT_KEY).texts.append(piece.text)
    return runs
