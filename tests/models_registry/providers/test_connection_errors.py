"""Ends of connections, with servers that answer in bytes of their own."""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import aiohttp
import pytest
from aiohttp.http_exceptions import BadHttpMessage, TransferEncodingError

from models_registry.providers import ChatRequest, Completion, ProviderError, connections
from models_registry.providers.openai_compatible import OpenAICompatible
from tests.provider_streams import DONE, STOP
from tests.raw_server import CHUNKED, chunk, chunked
from tests.worlds.oddities import ANSWER, STREAM, TEXTS, USAGE, data

RESET = None
Piece = bytes | None
OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
CLOSES = b"Connection: close\r\n"
WHOLE = TEXTS + STOP


def of_length(number: int, *more: bytes) -> bytes:
    return OK + b"Content-Length: %d\r\n" % number + b"".join(more)


@dataclass
class Server:
    """Sends the pieces one after another. answers: so many on each connection; then it closes it without a byte."""

    pieces: Sequence[Piece]
    answers: int = 1
    requests: int = 0
    connections: int = 0
    resets: bool = False
    port: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            for answered in range(self.answers + 1):
                head = await reader.readuntil(b"\r\n\r\n")
                await reader.readexactly(int(head.lower().partition(b"content-length:")[2].split()[0]))
                self.requests += 1
                if answered == self.answers:
                    if self.resets:
                        _reset(writer)
                    return
                for piece in self.pieces:
                    await asyncio.sleep(0.01)
                    if piece is RESET:
                        _reset(writer)
                        return
                    writer.write(piece)
                    await writer.drain()
                if self.answers == 1:
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


def _reset(writer: asyncio.StreamWriter) -> None:
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


@dataclass
class Got:
    text: str = ""
    code: str = ""
    tokens: int | None = field(default=None, compare=False)


Call = Callable[[], Awaitable[Got]]


@asynccontextmanager
async def calling(server: Server) -> AsyncIterator[Call]:
    provider = OpenAICompatible()

    async def call() -> Got:
        got, completion = Got(), Completion()

        def receive(text: str, reasoning: str) -> float:
            got.text += text
            return 0.0

        deadlines = {"connect": 10.0, "first": 20.0, "idle": 20.0, "total": 20.0}
        at = f"http://127.0.0.1:{server.port}/v1"
        messages = [{"role": "user", "content": "Which river?"}]
        request = ChatRequest(at, "sk-a-key-of-some-length", "m", messages, {}, deadlines)
        try:
            await provider.stream(request, receive, completion=completion)
        except ProviderError as error:
            got.code = error.code
        got.tokens = completion.completion_tokens
        return got

    async with await asyncio.start_server(server.serve, "127.0.0.1", 0) as listening:
        server.port = listening.sockets[0].getsockname()[1]
        yield call
        await provider.close()


def answer_of(server: Server) -> Got:
    async def call() -> Got:
        async with calling(server) as once:
            return await once()

    return asyncio.run(call())


ENDS: dict[str, tuple[Sequence[Piece], str]] = {
    "length-too-short": ([of_length(len(WHOLE), b"\r\n", WHOLE, DONE)], ""),
    "length-too-short-closes": ([of_length(len(WHOLE), CLOSES, b"\r\n", WHOLE, DONE)], ""),
    "length-too-short-later": ([of_length(len(WHOLE), CLOSES, b"\r\n"), TEXTS, STOP + DONE], ""),
    "length-inside-an-event": ([of_length(len(WHOLE) - 9, CLOSES, b"\r\n", WHOLE, DONE)], "cut"),
    "length-without-finish": ([of_length(len(TEXTS), CLOSES, b"\r\n", STREAM)], "cut"),
    "length-too-long": ([of_length(len(WHOLE) + 50, b"\r\n", WHOLE)], ""),
    "length-too-long-without-finish": ([of_length(len(TEXTS) + 50, b"\r\n", TEXTS)], "cut"),
    "length-beside-chunks": ([of_length(5) + CHUNKED.partition(b"\r\n")[2], chunk(STREAM), b"0\r\n\r\n"], ""),
    "chunks-beside-length": ([CHUNKED[:-2] + b"Content-Length: 5000\r\n\r\n" + chunk(STREAM) + b"0\r\n\r\n"], ""),
    "length-twice": ([of_length(len(STREAM), of_length(len(STREAM))[len(OK):], b"\r\n", STREAM)], ""),
    "junk-behind": ([chunked(STREAM) + b"\x00JUNK\r\n\r\n"], ""),
    "junk-behind-text": ([chunked(TEXTS) + b"\x00JUNK\r\n\r\n"], "cut"),
    "bad-chunk-after-finish": ([CHUNKED + chunk(WHOLE) + b"zz\r\nhello"], ""),
    "bad-chunk-later": ([CHUNKED + chunk(TEXTS), b"zz\r\nhello"], "malformed"),
    "reset-after-finish": ([CHUNKED, chunk(WHOLE), RESET], ""),
    "reset-before-finish": ([CHUNKED, chunk(TEXTS), RESET], "cut"),
    "closes-after-finish": ([OK + CLOSES + b"\r\n", WHOLE], ""),
    "closes-before-finish": ([OK + CLOSES + b"\r\n", TEXTS], "cut"),
    "head-in-pieces": ([OK[:-1], b"\nConnection: close\r", b"\n\r\n" + STREAM], ""),
    "head-in-pieces-length-twice": ([of_length(len(STREAM)), of_length(len(STREAM), b"\r\n", STREAM)[len(OK):]], ""),
    "head-in-pieces-length-beside-chunks": ([of_length(5), chunked(STREAM).partition(b"\r\n")[2]], ""),
    "head-in-pieces-bad-chunk": ([CHUNKED[:-2], b"\r\n" + chunk(WHOLE) + b"zz\r\nhello"], ""),
    "hints-first": ([b"HTTP/1.1 103 Hints\r\n\r\nHTTP/1.1 100 Go on\r\n\r\n" + chunked(STREAM)], ""),
}  # fmt: skip


@pytest.mark.parametrize(("pieces", "code"), ENDS.values(), ids=ENDS)
def test_connection_that_ends_oddly_keeps_whole_answers(pieces: Sequence[Piece], code: str):
    assert answer_of(Server(pieces)) == Got(ANSWER, code)


@pytest.mark.parametrize("resets", [False, True])
def test_idle_connections_closed_by_server_cost_one_repeat(resets: bool):
    """All calls at once find their idle connections closed."""
    server = Server([chunked(STREAM)], answers=2, resets=resets)

    async def call() -> list[Got]:
        async with calling(server) as once:
            return [got for _ in range(3) for got in await asyncio.gather(*(once() for _ in range(8)))]

    assert asyncio.run(call()) == [Got(ANSWER)] * 24
    assert server.requests == 24 + 8


def test_begun_response_is_not_repeated():
    server = Server([b"HTTP/1.1 2"])
    assert answer_of(server) == Got("", "unreachable")
    assert server.requests == 1


@pytest.mark.parametrize("resets", [False, True])
def test_new_connection_without_a_byte_is_tried_twice(resets: bool):
    server = Server([], answers=0, resets=resets)
    assert answer_of(server) == Got("", "unreachable")
    assert server.requests == 2


def test_usage_behind_done_in_the_same_read_counts():
    assert answer_of(Server([chunked(STREAM + data({"choices": [], "usage": USAGE}))])).tokens == 7


@pytest.mark.parametrize(
    ("cause", "is_invalid"),
    [
        (BadHttpMessage("Too many headers received"), True),
        (TransferEncodingError("Not enough data"), False),
        (ConnectionResetError(), False),
    ],
)
def test_incomplete_body_is_invalid_only_if_not_http(cause: Exception, is_invalid: bool):
    error = OSError()
    error.__cause__ = aiohttp.ClientPayloadError("Response payload is not completed")
    error.__cause__.__cause__ = cause
    assert connections.is_invalid_http(error) == is_invalid
