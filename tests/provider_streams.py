"""Valid, faulty and hostile streams of the fake provider: steps by model name."""

import asyncio
import json
import socket
import struct
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

Step = Callable[[web.Request, web.StreamResponse], Awaitable[None]]


def event(delta: Any = None, finish: str | None = None, **fields: Any) -> bytes:
    chunk = {"choices": [{"index": 0, "delta": delta or {}, "finish_reason": finish}], **fields}
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


def text(words: str) -> bytes:
    return event({"content": words})


STOP = event({}, "stop")
DONE = b"data: [DONE]\n\n"
END = STOP + DONE


def write(*pieces: bytes, pause: float = 0.002) -> Step:
    """Send each piece in its own packet."""

    async def step(request: web.Request, response: web.StreamResponse) -> None:
        for piece in pieces:
            await response.write(piece)
            await asyncio.sleep(pause)

    return step


def forever(piece: bytes, *, pause: float) -> Step:
    async def step(request: web.Request, response: web.StreamResponse) -> None:
        while True:
            await response.write(piece)
            await asyncio.sleep(pause)

    return step


async def silence(request: web.Request, response: web.StreamResponse) -> None:
    await asyncio.sleep(3600)


async def cut(request: web.Request, response: web.StreamResponse) -> None:
    """Close the connection inside the chunked body."""
    assert request.transport is not None
    request.transport.close()


async def reset(request: web.Request, response: web.StreamResponse) -> None:
    assert request.transport is not None
    connection = request.transport.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    request.transport.abort()


def single_bytes(stream: bytes) -> list[bytes]:
    return [stream[n : n + 1] for n in range(len(stream))]


TWO = text("one ") + text("two")
SIGNED_REASONING = {"type": "reasoning.text", "text": "let me see", "signature": "c2lnbmVk", "index": 0}
BYTES = "data: {}\n\n".format(json.dumps({"choices": [{"delta": {"content": "héé 🎉"}}]}, ensure_ascii=False)).encode()
USAGE = {"prompt_tokens": 7, "completion_tokens": 3}

# Answers that took seconds or minutes to render before their fixes.
SLOW_TO_RENDER = {
    "brackets": "[" * 60_000,
    "slow-code": "```c\n" + "\n" * 19_000 + "x\n```\n\nend",
    "formulas": "\\[\n" * 6_000 + "\\]",
    "wide-table": "|" + "a|" * 3_000 + "\n|" + "-|" * 3_000 + "\n" + "|b|\n" * 40,
    "blocks": ("[" * 490 + "\n\n") * 100 + "end",
    "blank-lines": "a" + "\n" * 60_000 + "end",
}

STREAMS: dict[str, list[Step]] = {
    **{name: [write(text(answer), END)] for name, answer in SLOW_TO_RENDER.items()},
    # Calls that fail.
    "silent": [silence],
    "drip": [write(text("one ")), forever(b"d", pause=0.02)],
    "drip-from-the-start": [write(b"data: {"), forever(b" ", pause=0.02)],
    "comments-after-text": [write(text("one ")), forever(b": OPENROUTER PROCESSING\n\n", pause=0.02)],
    "null-events-forever": [write(text("one ")), forever(event({"content": None}), pause=0.02)],
    "talks-on-forever": [forever(text("on "), pause=0.02)],
    "truncated-json": [write(text("one "), b'data: {"choices": [{"delta": {"cont\n\n', END)],
    "cut-inside-an-event": [write(text("one "), b'data: {"choices": [{"del'), cut],
    "ends-inside-an-event": [write(text("one "), b'data: {"choices": [{"del')],
    "no-json": [write(b"data: hello\n\n", END)],
    "deep-json": [write(b"data: " + b"[" * 100_000 + b"\n\n", END)],
    "wrong-types": [write(b'data: {"choices": "none"}\n\n', END)],
    "nan": [write(b'data: {"choices": NaN}\n\n', END)],
    "chunked-cut": [write(TWO), cut],
    "reset": [write(TWO), reset],
    "done-without-finish": [write(TWO, DONE)],
    "finish-error": [write(TWO, event({}, "error"), DONE)],
    "error-event": [write(text("one "), b'data: {"error": {"message": "overloaded"}}\n\n')],
    "error-event-at-once": [write(text("one ") + b'data: {"error": {"message": "overloaded"}}\n\n')],
    "error-event-429": [write(event({"content": ""}, "error", error={"code": 429, "message": "slow down"}), DONE)],
    "refuses-later": [write(text("one "), event(error={"message": "'temperature' is not supported"}), DONE)],
    "refused-prompt": [write(event(error={"code": 403, "message": "your input was flagged"}), DONE)],
    "error-event-named": [write(b'event: error\ndata: {"error": "broken"}\n\n')],
    "nothing": [write(END)],
    "whitespace": [write(text(" \n\n "), END)],
    "not-one-byte": [],
    "null-choices-only": [write(event() + b'data: {"choices": null}\n\n', DONE)],
    "only-thoughts": [write(event({"reasoning_content": "hm"}), event({}, "length"), DONE)],
    "endless-line": [write(b"data: "), forever(b"x" * 65536, pause=0)],
    "endless-event": [forever(b"data: " + b"x" * 65536 + b"\n", pause=0)],
    "endless-comments": [forever(b": " + b"x" * 65536 + b"\n", pause=0)],
    "endless-answer": [forever(text("word " * 2000), pause=0)],
    "endless-thoughts": [forever(event({"reasoning": "hm " * 2000}), pause=0)],
    "tool-calls": [
        write(event({"role": "assistant", "content": None, "tool_calls": [{"index": 0, "function": {"name": "f"}}]})),
        write(event({"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]}), event({}, "tool_calls"), DONE),
    ],
    "writes-notes": [
        write(event({"tool_calls": [{"index": 0, "id": "call_0", "function": {"name": "note", "arguments": ""}}]})),
        write(event({"tool_calls": [{"index": 0, "function": {"arguments": '{"input": "two\\n'}}]})),
        write(event({"tool_calls": [{"index": 0, "function": {"arguments": 'lines"}'}}]})),
        write(event({}, "tool_calls"), DONE),
    ],
    "filtered": [write(event({"content": ""}), event({}, "content_filter"), DONE)],
    # Calls that succeed.
    "no-final-blank-line": [write(TWO, STOP.rstrip())],
    "said-twice": [write(TWO, END), write(TWO, END)],
    "roles-and-nulls": [
        write(event({"role": "assistant"}), event({"content": None}), event({"content": ""}), TWO, event(None), END)
    ],
    "null-choices": [write(b'data: {"choices": null}\n\n', b'data: {"choices": []}\n\n', TWO, END)],
    "null-error": [write(event({"content": "one two"}, error=None), END)],
    "crlf": [write(*(TWO + END).replace(b"\n", b"\r\n").partition(b"\r"))],
    "cr": [write((TWO + END).replace(b"\n", b"\r"))],
    "byte-by-byte": [write(*single_bytes(BYTES)), write(END)],
    "byte-by-byte-crlf": [write(*single_bytes(BYTES.replace(b"\n", b"\r\n"))), write(END)],
    "all-at-once": [write(TWO + END)],
    "two-data-lines": [write(b'data: {"choices": [{"delta":\ndata: {"content": "one two"}}]}\n\n', END)],
    "comments-between": [write(b": ping\n\n", b":\n", text("one "), b": ping\n\n: ping\n\n", text("two"), END)],
    "other-fields": [write(b"id: 7\nretry: 10\nevent: message\n" + text("one two"), b"\xef\xbb\xbf: bom\n\n", END)],
    "surrogates": [write(b'data: {"choices": [{"delta": {"content": "\\ud83d half"}}]}\n\n', END)],
    "nul": [write(text("a\x00b"), END)],
    "bidi": [write(text("a\u202eb\u2066c"), END)],
    "combining": [write(text("e" + "\u0301" * 100_000), END)],
    "broken-utf8": [write(b'data: {"choices": [{"delta": {"content": "a\xff"}}]}\n\n', END)],
    "reasoning-content": [write(*(event({"reasoning_content": word}) for word in ("let me ", "see")), TWO, END)],
    "signs-answers": [write(
        event({"reasoning": "let me see", "reasoning_details": [SIGNED_REASONING]}), TWO,
        event({"content": "", "extra_content": {"google": {"thought_signature": "c2lnbmVk"}}}), END,
    )],
    "kimi-k9": [write(event({"reasoning_content": "let me see"}), TWO, END)],
    "reasoning": [write(event({"reasoning": "let me see", "content": ""}), TWO, END)],
    "think-tag": [write(*(text(part) for part in ("<th", "ink>let me", " see</t", "hink>", "\n\none ", "two")), END)],
    "think-tag-at-once": [write(text("<think>let me see</think>\n\none two"), END)],
    "thinks-two-seconds": [
        write(*(event({"reasoning": "hm "}) for _ in range(8)), pause=0.3), write(TWO, END)
    ],
    "mistrals-parts": [
        write(event({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "let me see"}]}]})),
        write(event({"content": [{"type": "text", "text": "one "}]}), event({"content": "two"}), END),
    ],
    "text-and-tool-calls": [write(TWO, event({"tool_calls": [{"index": 0}]}), event({}, "tool_calls"), DONE)],
    "no-tool-calls": [write(event({"content": "one two", "tool_calls": []}), END)],
    "length": [write(TWO, event({}, "length"), DONE)],
    "content-filter": [write(TWO, event({}, "content_filter"), DONE)],
    "eos": [write(TWO, event({}, "eos_token"), DONE)],
    "end-turn": [write(TWO, event({}, "end_turn"))],
    "finish-with-the-text": [write(event({"content": "one two"}, "stop"), DONE)],
    "usage-in-the-last": [write(TWO, STOP, event({}, usage=USAGE) + DONE)],
    "usage-growing": [
        write(event({"content": "one "}, usage={"prompt_tokens": 7, "completion_tokens": 1})),
        write(event({"content": "two"}, "stop", usage=USAGE), DONE),
    ],
    "usage-with-reasoning": [
        write(TWO, STOP),
        write(event(usage={**USAGE, "completion_tokens": 63, "completion_tokens_details": {"reasoning_tokens": 60}})),
        write(DONE),
    ],
    "usage-of-gemini": [write(TWO, event({}, "stop", usage=USAGE | {"total_tokens": 70}), DONE)],
    "usage-null": [write(event({"content": "one two"}, usage=None), END)],
    "usage-of-groq": [write(TWO, event({}, "stop", x_groq={"id": "req_1", "usage": USAGE}), DONE)],
}  # fmt: skip
