"""Messages between Renderer and its child: four bytes of length, then the content."""

import socket

import msgspec

LENGTH_BYTES = 4


class Rendered(msgspec.Struct, array_like=True):
    html: str | None  # None if rendering exceeded its budget
    cpu_s: float


def pack(content: bytes) -> bytes:
    return len(content).to_bytes(LENGTH_BYTES) + content


def receive(connection: socket.socket) -> bytes | None:
    """Return the next message, or None at the end of the stream."""
    length = _receive_exactly(connection, LENGTH_BYTES)
    return None if length is None else _receive_exactly(connection, int.from_bytes(length))


def _receive_exactly(connection: socket.socket, size: int) -> bytes | None:
    received = bytearray()
    while len(received) < size:
        piece = connection.recv(size - len(received))
        if not piece:
            return None
        received += piece
    return bytes(received)
