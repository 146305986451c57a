"""Messages between a process and its child: four bytes of length, then the content."""

import socket
from asyncio import StreamReader
from collections.abc import Iterator

_LENGTH_BYTES = 4


def pack(content: bytes) -> bytes:
    return len(content).to_bytes(_LENGTH_BYTES) + content


def unpack(output: bytes) -> Iterator[bytes]:
    at = 0
    while (begin := at + _LENGTH_BYTES) <= len(output):
        at = begin + int.from_bytes(output[at:begin])
        if at <= len(output):
            yield output[begin:at]


async def read(reader: StreamReader) -> bytes:
    """Return the next message. Raises IncompleteReadError at the end of the stream."""
    return await reader.readexactly(int.from_bytes(await reader.readexactly(_LENGTH_BYTES)))


def receive(connection: socket.socket) -> bytes | None:
    """Return the next message, or None at the end of the stream."""
    length = _receive_exactly(connection, _LENGTH_BYTES)
    return None if length is None else _receive_exactly(connection, int.from_bytes(length))


def _receive_exactly(connection: socket.socket, size: int) -> bytes | None:
    received = bytearray()
    while len(received) < size:
        piece = connection.recv(size - len(received))
        if not piece:
            return None
        received += piece
    return bytes(received)
