"""Fake provider with minimal CPU cost: `python -m tools.bench.provider PORT`.

A model named `tokens-<n>-at-<r>` answers n tokens at r per second (0: all at once), each in a separate write;
`…-after-<ms>` waits before the first. Without a rate, it ends with a verdict if it is asked to compare two answers.
One named `hostile-<name>` answers the text of that name in tests.provider_streams.SLOW_TO_RENDER at once.
"""

import asyncio
import json
import re
import sys

import uvloop

from tests.provider_streams import SLOW_TO_RENDER

HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
    b"Cache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n\r\n"
)
MODEL = re.compile(rb'"model":\s*"tokens-(\d+)-at-(\d+)(?:-after-(\d+))?')
HOSTILE = re.compile(rb'"model":\s*"hostile-(.+)-[ab]"')
STREAM = re.compile(rb'"stream":\s*true')
LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)


def _event(data: str) -> bytes:
    payload = f"data: {data}\n\n".encode()
    return f"{len(payload):x}\r\n".encode() + payload + b"\r\n"


def _chunk(choice: str, more: str = "") -> str:
    return (
        '{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1795159725,"model":"bench",'
        f'"choices":[{{"index":0,{choice}}}]{more}}}'
    )


TOKEN = _event(_chunk('"delta":{"content":"word "},"finish_reason":null'))
LINE_END = _event(_chunk('"delta":{"content":"word.\\n\\n"},"finish_reason":null'))
FINISH = _event(_chunk('"delta":{},"finish_reason":"stop"'))
VERDICT = _event(_chunk('"delta":{"content":"\\n{\\"verdict\\": \\"A>B\\"}"},"finish_reason":null'))
WORDS_PER_PARAGRAPH = 80


def _end(tokens: int) -> bytes:
    usage = f'{{"choices":[],"usage":{{"prompt_tokens":10,"completion_tokens":{tokens}}}}}'
    return FINISH + _event(usage) + _event("[DONE]") + b"0\r\n\r\n"


def _completion(tokens: int) -> bytes:
    """Return an answer in one piece, for clients that do not stream."""
    body = json.dumps({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1795159725, "model": "bench",
        "choices": [
            {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "word " * tokens}}
        ],
        "usage": {"prompt_tokens": 10, "completion_tokens": tokens, "total_tokens": 10 + tokens},
    }).encode()  # fmt: skip
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


class Connection(asyncio.Protocol):
    def __init__(self) -> None:
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def connection_lost(self, error: Exception | None) -> None:
        self._transport = None

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, separator, body = self._buffer.partition(b"\r\n\r\n")
        length = LENGTH.search(head)
        if not separator or (length and len(body) < int(length[1])):
            return
        self._buffer = b""
        if b"/chat/completions" not in head:
            self._transport.write(b'HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n{"data":[]}')
            return
        if hostile := HOSTILE.search(body):
            answer = json.dumps(SLOW_TO_RENDER[hostile[1].decode()])
            self._transport.write(HEAD + _event(_chunk(f'"delta":{{"content":{answer}}}')) + _end(len(answer) // 4))
            return
        tokens, rate, wait_ms = (int(number or 0) for number in MODEL.search(body).groups())
        if not STREAM.search(body):
            self._transport.write(_completion(tokens))
            return
        self._transport.write(HEAD)
        if rate:
            loop = asyncio.get_running_loop()
            began = loop.time() + wait_ms / 1000
            loop.call_at(began, self._write_tokens, loop, began, tokens, 1 / rate, 0)
        else:
            ending = VERDICT if b"[BEGIN ANSWER A" in body else b""
            self._transport.write(b"".join(self._word(n) for n in range(tokens)) + ending + _end(tokens))

    def _write_tokens(
        self, loop: asyncio.AbstractEventLoop, began: float, tokens: int, pause: float, sent: int
    ) -> None:
        if self._transport is None:
            return
        if sent == tokens:
            self._transport.write(_end(tokens))
            return
        self._transport.write(self._word(sent))
        loop.call_at(began + (sent + 1) * pause, self._write_tokens, loop, began, tokens, pause, sent + 1)

    @staticmethod
    def _word(number: int) -> bytes:
        return LINE_END if number % WORDS_PER_PARAGRAPH == WORDS_PER_PARAGRAPH - 1 else TOKEN


async def serve(port: int) -> None:
    server = await asyncio.get_running_loop().create_server(Connection, "127.0.0.1", port, backlog=1000)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(serve(int(sys.argv[1])))
