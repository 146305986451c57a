"""Messages between a process and the child that renders for it: four bytes of length, then the content."""

import socket

import msgspec

LENGTH_BYTES = 4


class Rendered(msgspec.Struct, array_like=True):
    """html: None for a text that took more than its budget."""

    html: str | None
    cpu_s: float


def pack(content: bytes) -> bytes:
    return len(content).to_bytes(LENGTH_BYTES) + content


def receive(connection: socket.socket) -> bytes | None:
    """Return the next message; None when the other end has closed."""
    length = _exactly(connection, LENGTH_BYTES)
    return None if length is None else _exactly(connection, int.from_bytes(length))


def _exactly(connection: socket.socket, size: int) -> bytes | None:
    received = bytearray()
    while len(received) < size:
        piece = connection.recv(size - len(received))
        if not piece:
            return None
        received += piece
    return bytes(received)
