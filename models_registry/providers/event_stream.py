from models_registry.providers.base import FailureCode, ProviderError

# A longer line is an attack or a defect.
MAX_LINE_BYTES = 1_000_000


class EventReader:
    """Strict incremental parser of server-sent events: returns their `data`.

    Lines end with LF, CRLF or CR; comments and other fields are skipped. The caller decodes whole events, so that
    characters split over two reads stay intact.
    """

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []

    def feed(self, piece: bytes) -> list[bytes]:
        """Return payloads of events that `piece` completes. Raises ProviderError(MALFORMED) for an endless line."""
        buffer = self._rest + piece
        if b"\r" in buffer:
            # A CR at the end may be half of a CRLF, so it is kept for the next read.
            held = b"\r" if buffer.endswith(b"\r") else b""
            buffer = buffer.removesuffix(b"\r").replace(b"\r\n", b"\n").replace(b"\r", b"\n") + held
        *lines, self._rest = buffer.split(b"\n")
        if len(self._rest) > MAX_LINE_BYTES:
            raise ProviderError(FailureCode.MALFORMED, "a line without an end")
        payloads = []
        for line in lines:
            if not line:
                if self._data:
                    payloads.append(b"\n".join(self._data))
                    self._data = []
            elif line.startswith(b"data:"):
                self._data.append(line[6:] if line[5:6] == b" " else line[5:])
        return payloads

    def close(self) -> list[bytes]:
        """Return the last event if the stream ended without its blank line."""
        payloads = self.feed(b"\n\n")
        self._rest = b""
        return payloads
