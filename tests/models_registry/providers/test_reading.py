"""Reading of a call's stream: pauses between reads, and the timer of its deadlines."""

import asyncio
from functools import partial
from typing import cast

import aiohttp
import pytest

from models_registry.providers import ChatRequest, Completion, FailureCode, ProviderError, connections
from models_registry.providers.openai_compatible import OpenAICompatible
from models_registry.providers.reading.answer_reader import AnswerReader
from models_registry.providers.reading.deadlines import Deadlines
from tests.provider_streams import event, text

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
PIECES = 20


def chunked(piece: bytes) -> bytes:
    return f"{len(piece):x}\r\n".encode() + piece + b"\r\n"


def request_to(server: asyncio.Server) -> ChatRequest:
    port = server.sockets[0].getsockname()[1]
    return ChatRequest(
        base_url=f"http://127.0.0.1:{port}/v1", key="", model="model",
        messages=[{"role": "user", "content": "What?"}], parameters={},
        deadlines={"connect": 30, "first": 60, "idle": 60, "total": 60},
    )  # fmt: skip


async def read_from(writes: list[bytes], *, pause_s: float, calls: int = 1) -> tuple[str, Completion]:
    """Let a server write these pieces in turns of the event loop; pause once, after the first text."""
    texts: list[str] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in range(calls):
            await reader.readuntil(b"\r\n\r\n")
            await reader.readuntil(b"}")
            for piece in writes:
                writer.write(piece)
                await writer.drain()
                for _ in range(10):
                    await asyncio.sleep(0)
        writer.close()

    def receive(piece: str, reasoning: str) -> float:
        texts.append(piece)
        return pause_s if len(texts) == 1 else 0.0

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    provider = OpenAICompatible()
    try:
        for _ in range(calls):
            texts.clear()
            completion = await provider.stream(request_to(server), receive)
    finally:
        await provider.close()
        server.close()
    return "".join(texts), completion


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    sizes: list[int] = []
    read = connections._Protocol.data_received

    def count(protocol: connections._Protocol, data: bytes) -> None:
        sizes.append(len(data))
        read(protocol, data)

    monkeypatch.setattr(connections._Protocol, "data_received", count)
    return sizes


def test_text_during_a_pause_is_read_in_one_piece(reads: list[int]):
    words = [chunked(text(f"{number} ")) for number in range(PIECES)]
    end = chunked(event({}, "stop") + b"data: [DONE]\n\n") + b"0\r\n\r\n"
    answer, completion = asyncio.run(read_from([HEAD, *words, end], pause_s=0.5))
    assert answer == "".join(f"{number} " for number in range(PIECES))
    assert completion.finish_reason == "stop"
    assert len(reads) < PIECES / 2
    assert 0 not in reads  # the parser is not entered again after each chunk


def test_stream_longer_than_the_buffer_is_read_to_its_end(reads: list[int], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(aiohttp, "ClientSession", partial(aiohttp.ClientSession, read_bufsize=100))
    words = [chunked(text(f"{number} ")) for number in range(PIECES)]
    end = chunked(event({}, "stop") + b"data: [DONE]\n\n") + b"0\r\n\r\n"
    answer, completion = asyncio.run(read_from([HEAD, *words, end], pause_s=0.5))
    assert answer == "".join(f"{number} " for number in range(PIECES))
    assert completion.finish_reason == "stop"
    assert 0 in reads  # reading was paused and resumed


def test_pause_after_the_last_byte_leaves_the_connection_usable():
    # The reader pauses if [DONE] is missing, though the connection is already free for the next call.
    whole = HEAD + chunked(text("one") + event({}, "stop")) + b"0\r\n\r\n"
    answer, completion = asyncio.run(read_from([whole], pause_s=0.01, calls=2))
    assert (answer, completion.finish_reason) == ("one", "stop")


class Loop(asyncio.SelectorEventLoop):
    """Loop whose time the test sets."""

    now = 0.0

    def time(self) -> float:
        return self.now


async def time_out(steps: list[tuple[float, FailureCode | None]]) -> FailureCode:
    """Set these deadlines at these times, None only lets timers run; return the code of the timeout."""
    loop = cast(Loop, asyncio.get_running_loop())
    deadlines = Deadlines({"first": 5, "idle": 3, "total": 10})
    try:
        async with asyncio.timeout(None) as deadlines.timeout:
            deadlines.set(FailureCode.FIRST_TIMEOUT)
            for now, code in steps:
                loop.now = now
                if code:
                    deadlines.set(code)
                for _ in range(4):
                    await asyncio.sleep(0)
            raise ProviderError(FailureCode.EMPTY)  # no deadline passed
    except TimeoutError:
        return deadlines.code
    except ProviderError as error:
        return error.code
    finally:
        deadlines.stop()


@pytest.mark.parametrize(
    ("steps", "code"),
    [
        ([(4.9, None)], FailureCode.EMPTY),
        ([(5.1, None)], FailureCode.FIRST_TIMEOUT),
        ([(4, FailureCode.IDLE_TIMEOUT), (5.1, None), (6.9, None)], FailureCode.EMPTY),
        ([(4, FailureCode.IDLE_TIMEOUT), (5.1, None), (7.1, None)], FailureCode.IDLE_TIMEOUT),
        ([(1, FailureCode.IDLE_TIMEOUT), (4.1, None)], FailureCode.IDLE_TIMEOUT),  # earlier than the first's timer
        ([(now, FailureCode.IDLE_TIMEOUT) for now in (2, 4, 6, 8)] + [(10.1, None)], FailureCode.TOTAL_TIMEOUT),
    ],
)
def test_one_timer_serves_every_deadline(steps: list[tuple[float, FailureCode | None]], code: FailureCode):
    with asyncio.Runner(loop_factory=Loop) as runner:
        assert runner.run(time_out(steps)) == code


def test_restarted_reader_forgets_how_the_refused_call_ended():
    async def read() -> tuple[bool, Completion, FailureCode, float]:
        request = ChatRequest("", "", "m", [], {}, {"connect": 60, "first": 60, "idle": 60, "total": 90})
        answer = AnswerReader(request, lambda *_: 0.0, {})
        answer.deadlines.set(FailureCode.FIRST_TIMEOUT)
        answer.feed(event({}, "stop", usage={"prompt_tokens": 7, "completion_tokens": 0}))
        with pytest.raises(ProviderError):
            answer.feed(event(error={"message": "Unsupported parameter: 'seed'", "param": "seed"}))
        assert answer.restart()
        answer.deadlines.stop()
        return answer.is_whole, answer.completion, answer.deadlines.code, answer.deadlines.seconds_left

    is_whole, completion, code, seconds_left = asyncio.run(read())
    assert (is_whole, completion, code) == (False, Completion(), FailureCode.FIRST_TIMEOUT)
    assert seconds_left > 50
