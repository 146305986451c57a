"""Answers as a sequence of blocks: reasoning, text and tool calls, each with a beginning and an end."""

from dataclasses import dataclass, field

import msgspec

from common.payload_types import JsonObject
from gateway.doors.port import Piece, WholeAnswer
from models_registry.providers.base import ToolCallDelta

# Of a block: its kind, and the number of its tool call.
Key = tuple[str, int]
REASONING, TEXT, CALL = "reasoning", "text", "call"


@dataclass
class Block:
    """index: in the answer. state: of reasoning, for state.pack_state."""

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

    def deltas(self, pieces: list[Piece]) -> bytes:
        return b"".join([self._add(key, "".join(texts), call) for key, texts, call in _runs(pieces)])

    def _opened(self, block: Block) -> bytes:
        raise NotImplementedError

    def _added(self, block: Block, text: str) -> bytes:
        raise NotImplementedError

    def _closed(self, block: Block) -> bytes:
        raise NotImplementedError

    def _close_all(self) -> bytes:
        return b"".join(map(self._close, list(self._open)))

    def _add_whole(self, answer: WholeAnswer) -> bytes:
        return self.deltas(answer.pieces) + self._close_all()

    def _add_text(self, text: str) -> bytes:
        """Return the events of a text of its own, also of an empty one."""
        events, block = self._open_block((TEXT, 0), None)
        if text:
            block.texts.append(text)
            events += self._added(block, text)
        return events + self._close((TEXT, 0))

    def _add(self, key: Key, text: str, call: ToolCallDelta | None) -> bytes:
        events = b""
        block = self._open.get(key)
        if block is None:
            events, block = self._open_block(key, call)
        if text:
            block.texts.append(text)
            events += self._added(block, text)
        return events

    def _open_block(self, key: Key, call: ToolCallDelta | None, state: JsonObject | None = None) -> tuple[bytes, Block]:
        """Close the blocks before it that are whole, and give out the state of a call before the call."""
        events = b""
        if call is not None and call.state:
            events = self._add_state({"tool_calls": {call.id: call.state}})
        for other in [other for other, block in self._open.items() if block.is_whole]:
            events += self._close(other)
        block = Block(key[0], self._blocks, state=state or {})
        if call is not None:
            block.call_id, block.name = call.id, call.name
        self._blocks += 1
        self._open[key] = block
        return events + self._opened(block), block

    def _add_state(self, state: JsonObject) -> bytes:
        """Add state to the open reasoning, or to a silent block of its own."""
        if (reasoning := self._open.get((REASONING, 0))) is not None:
            reasoning.state |= state
            return b""
        events, _block = self._open_block((REASONING, 0), None, state)
        return events + self._close((REASONING, 0))

    def _close(self, key: Key) -> bytes:
        return self._closed(self._open.pop(key))


def _runs(pieces: list[Piece]) -> list[tuple[Key, list[str], ToolCallDelta | None]]:
    """Return the parts of blocks in order; neighbours of one block become one."""
    runs: list[tuple[Key, list[str], ToolCallDelta | None]] = []

    def add(key: Key, text: str, call: ToolCallDelta | None = None) -> None:
        if runs and runs[-1][0] == key:
            runs[-1][1].append(text)
        else:
            runs.append((key, [text], call))

    for piece in pieces:
        for part in piece.tool_calls:
            add((CALL, part.index), part.arguments, part)
        if piece.reasoning:
            add((REASONING, 0), piece.reasoning)
        if piece.text:
            add((TEXT, 0), piece.text)
    return runs
