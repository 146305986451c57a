"""Frames of a chat completion's stream: server-sent events as servers send them, JSON lines, or one document."""

import zlib

from models_registry.providers.base import FailureCode, ProviderError
from models_registry.providers.oddities import Oddity
from models_registry.providers.reading.chunks import (
    DONE,
    UNUSUAL,
    Chunk,
    ConvertedChunk,
    decode_unusual,
    decode_usual,
    failed,
)

# A longer line is an attack or a defect.
MAX_LINE_BYTES = 1_000_000
# A document over several lines is decoded at a line that may be its last one; so often at most.
MAX_DECODINGS = 50
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
BEGINNING_BYTES = 300


class EventReader:
    """Incremental reader of bytes: returns chunks.

    Lines end with LF, CRLF or CR. An event ends with a blank line, or where its data is complete JSON.
    """

    def __init__(self) -> None:
        self.oddities: set[Oddity] = set()
        # The response's first bytes; if no event follows, they tell its kind.
        self.beginning = b""
        self.has_frames = False
        self._rest = b""
        self._data: list[bytes] = []
        self._document: list[bytes] = []
        self._decodings = 0
        self._event = ""
        self._has_data = False  # in this event

    def feed(self, piece: bytes) -> list[Chunk]:
        """Return chunks that `piece` completes; failures are among them."""
        buffer = self._rest + piece
        if not self.beginning:
            self.beginning = buffer.lstrip()[:BEGINNING_BYTES]
        if b"\r" in buffer:
            # A CR at the end may be half of a CRLF, so it is kept for the next read.
            held = b"\r" if buffer.endswith(b"\r") else b""
            buffer = buffer.removesuffix(b"\r").replace(b"\r\n", b"\n").replace(b"\r", b"\n") + held
        *lines, self._rest = buffer.split(b"\n")
        chunks: list[Chunk] = []
        for line in lines:
            if not line:
                if self._has_data or self._event or self._data:
                    self._end_event(chunks)
            elif line.startswith(b"data:") and not self._data:
                try:
                    chunk = decode_usual(line[5:])
                except UNUSUAL:
                    self._read_line(line, chunks)
                    continue
                if self._has_data:
                    self.oddities.add(Oddity.UNSEPARATED_EVENTS)
                self._has_data = True
                if chunk.error:
                    chunks += decode_unusual(line[5:])
                else:
                    chunks.append(chunk)
            else:
                self._read_line(line, chunks)
        if len(self._rest) > MAX_LINE_BYTES:
            chunks.append(failed(FailureCode.MALFORMED, "a line without an end"))
        return chunks

    def close(self) -> list[Chunk]:
        """Return the last chunks if the stream ended without a blank line; CUT if it ended inside of an event."""
        is_inside = bool(self._rest or self._data)
        chunks = self.feed(b"\n\n")
        if self._document:
            chunks += decode_unusual(b"\n".join(self._document), is_document=True)
            self._document = []
        if is_inside and chunks and _is_broken(chunks[-1]):
            chunks[-1] = failed(FailureCode.CUT, "the stream ended inside of an event")
        return chunks

    def _end_event(self, chunks: list[Chunk]) -> None:
        if self._data:
            chunks += decode_unusual(b"\n".join(self._data), self._event)
        self._data, self._event, self._has_data = [], "", False

    def _read_line(self, line: bytes, chunks: list[Chunk]) -> None:
        stripped = line.strip().removeprefix(BYTE_ORDER_MARK).strip()
        name, colon, value = stripped.partition(b":")
        field = name.strip().lower() if len(name) < 20 else b""
        if colon and field == b"data":
            self.has_frames = True
            self._read_data(value.strip(), chunks)
        elif self._document or stripped[:1] in (b"{", b"["):
            self._read_document(stripped, line, chunks)
        elif colon and field in (b"event", b"id", b"retry", b"error", b""):
            self.has_frames = True
            if field == b"event":
                self._event = value.strip()[:40].decode(errors="replace").lower()
            elif field == b"error":
                chunks += decode_unusual(value, "error")
        elif self.beginning[:1] == b"<":
            chunks.append(failed(FailureCode.NOT_A_STREAM, self.beginning.decode(errors="replace")))

    def _read_data(self, data: bytes, chunks: list[Chunk]) -> None:
        if self._data:
            self._data.append(data)
            return
        decoded = decode_unusual(data, self._event)
        if any(_is_broken(chunk) for chunk in decoded):
            self._data = [data]  # it may go on in the next line
            return
        if self._has_data and decoded != [DONE]:
            self.oddities.add(Oddity.UNSEPARATED_EVENTS)
        self._has_data = True
        chunks += decoded

    def _read_document(self, stripped: bytes, line: bytes, chunks: list[Chunk]) -> None:
        """Read JSON without a frame: a line, or lines of one document."""
        self.oddities.add(Oddity.NO_EVENT_STREAM)
        may_end = not self._document or line[:1] in (b"}", b"]")
        self._document.append(stripped)
        if may_end and self._decodings < MAX_DECODINGS:
            decoded = decode_unusual(b"\n".join(self._document), is_document=True)
            if any(_is_broken(chunk) for chunk in decoded):
                self._decodings += 1
            else:
                self._document = []
                chunks += decoded


def _is_broken(chunk: Chunk) -> bool:
    failure = chunk.failure if isinstance(chunk, ConvertedChunk) else None
    return failure is not None and failure.code is FailureCode.MALFORMED


_GZIP, _RAW = 16 + zlib.MAX_WBITS, -zlib.MAX_WBITS
# Encodings of which there is no decoder here.
_UNREADABLE = ("br", "zstd", "compress", "x-compress")
_TEXT = frozenset(b"\t\n\r" + bytes(range(0x20, 0x7F)) + BYTE_ORDER_MARK)


class Decompressor:
    """Decompresses what a server compressed although it was asked not to; judged by the bytes, not by the header."""

    def __init__(self, encoding: str, max_bytes: int) -> None:
        self.is_compressed: bool | None = None  # None before the first bytes
        self._encoding = encoding.strip().lower()
        self._remaining = max_bytes
        self._held = b""

    def feed(self, piece: bytes) -> bytes:
        """Raises ProviderError for more than max_bytes, and for broken data."""
        if self.is_compressed is False:
            return piece
        if self.is_compressed is None:
            piece = self._held + piece
            if len(piece) < 2:
                self._held = piece
                return b""
            self.is_compressed = self._begin(piece)
            if not self.is_compressed:
                return piece
        return self._inflate(piece)

    def _begin(self, piece: bytes) -> bool:
        if piece[:2] == b"\x1f\x8b":
            self._window = _GZIP
        elif piece[:1] == b"\x78" and int.from_bytes(piece[:2], "big") % 31 == 0:
            self._window = zlib.MAX_WBITS
        elif _TEXT.issuperset(piece[:2]):
            return False
        elif self._encoding == "deflate":
            self._window = _RAW
        elif self._encoding in _UNREADABLE:
            words = f"compressed as {self._encoding} although identity was asked for"
            raise ProviderError(FailureCode.NOT_A_STREAM, words)
        else:
            return False
        self._inflater = zlib.decompressobj(self._window)
        return True

    def _inflate(self, piece: bytes) -> bytes:
        inflated = b""
        try:
            while piece:
                inflated += self._inflater.decompress(piece, self._remaining + 1)
                if len(inflated) > self._remaining:
                    raise ProviderError(FailureCode.TOO_LONG)
                piece = self._inflater.unused_data
                if piece:  # a server may compress each piece by itself
                    self._inflater = zlib.decompressobj(self._window)
        except zlib.error as error:
            raise ProviderError(FailureCode.MALFORMED, str(error)) from None
        self._remaining -= len(inflated)
        return inflated
