"""TCP server that answers every HTTP request with bytes chosen by the test, valid HTTP or not."""

import contextlib
import re
import socket
import threading

_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def chunk(body: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(body), body)


def chunked(*bodies: bytes) -> bytes:
    """Return a complete event stream, one chunk for each of `bodies`."""
    return CHUNKED + b"".join(map(chunk, bodies)) + b"0\r\n\r\n"


def refusal(status: int, body: bytes, header: bytes = b"X-Nothing: more") -> bytes:
    return b"HTTP/1.1 %d No\r\nContent-Length: %d\r\n%s\r\n\r\n%s" % (status, len(body), header, body)


class RawServer:
    """Sends `reply` to every request, then closes the connection; counts requests and keeps their bytes.

    repeats: sent repeatedly after `reply`, until the client closes.
    """

    def __init__(self) -> None:
        self.reply = self.repeats = self.received = b""
        self.requests = 0
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def answer_with(self, reply: bytes, *, repeats: bytes = b"") -> None:
        self.reply, self.repeats, self.received, self.requests = reply, repeats, b"", 0

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):  # closed
            while True:
                connection, _ = self._listening.accept()
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):  # the client closed first
            if not self._has_read_request(connection):
                return
            self.requests += 1
            connection.sendall(self.reply)
            while self.repeats:
                connection.sendall(self.repeats)
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(65536):  # an early close would reset the connection and lose the reply
                pass

    def _has_read_request(self, connection: socket.socket) -> bool:
        received = b""
        while b"\r\n\r\n" not in received:
            piece = connection.recv(65536)
            if not piece:
                return False
            received += piece
        self.received += received
        head, _, body = received.partition(b"\r\n\r\n")
        length = _LENGTH.search(head)
        remaining = int(length[1]) - len(body) if length else 0
        while remaining > 0:
            remaining -= len(connection.recv(65536)) or remaining
        return True
