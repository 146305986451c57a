"""A strict reader of server-sent events: bytes in, data payloads out, nothing guessed."""

from models_registry.providers.base import FailureCode, ProviderError

# An upstream line beyond this is not an answer but an attack or a defect.
LONGEST_LINE = 1_000_000


class EventReader:
    """Splits a byte stream into the `data` of its events.

    Lines end with LF, CRLF or CR. Comments and other fields are skipped. Text is decoded by the caller,
    per event, so a character split over two reads is never broken.
    """

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []

    def feed(self, piece: bytes) -> list[bytes]:
        """The payloads of all events that `piece` completes. Raises ProviderError(MALFORMED) for an endless line."""
        buffer = self._rest + piece
        if b"\r" in buffer:
            # A CR at the very end may be half of a CRLF: keep it for the next read.
            held = b"\r" if buffer.endswith(b"\r") else b""
            buffer = buffer.removesuffix(b"\r").replace(b"\r\n", b"\n").replace(b"\r", b"\n") + held
        *lines, self._rest = buffer.split(b"\n")
        if len(self._rest) > LONGEST_LINE:
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
        """The last event of a stream that ended without its final blank line."""
        payloads = self.feed(b"\n\n")
        self._rest = b""
        return payloads
