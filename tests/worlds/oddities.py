"""Responses of servers that deviate from OpenAI's, each with the end that a call to it has.

The fake provider has a model for each: `odd-<name>`.
"""

import gzip
import json
import zlib
from dataclasses import dataclass, field
from typing import Any

from tests.provider_streams import DONE, STOP, event, text

ANSWER = "The Rhine flows through Bonn."
WORDS = ["The Rhine ", "flows through ", "Bonn."]
USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
THOUGHT = "Which river?"


@dataclass(frozen=True)
class Odd:
    """body: of the response. code: of the failure; then `text` is what came before it."""

    body: bytes
    text: str = ANSWER
    code: str = ""
    reasoning: str = ""
    finish: str = "stop"
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "text/event-stream"})
    breaks_off: bool = False
    stays_open: bool = False

    @property
    def fails_anywhere(self) -> bool:
        """Return whether the gateway fails, too: it returns answers without text that a limit explains."""
        return bool(self.code) and self.finish != "length"


def data(value: Any) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def choice(**fields: Any) -> bytes:
    return data({"choices": [{"index": 0, "finish_reason": None, **fields}]})


def whole(**message: Any) -> dict[str, Any]:
    """Return a completion that was not streamed."""
    one = {"index": 0, "message": {"role": "assistant", "content": ANSWER, **message}, "finish_reason": "stop"}
    return {"id": "c-1", "object": "chat.completion", "created": 1, "model": "m", "choices": [one], "usage": USAGE}


def failed(code: str, body: bytes, text: str = "", **more: Any) -> Odd:
    return Odd(body, text, code, finish="", **more)


JSON_KIND = {"Content-Type": "application/json"}
TEXTS = b"".join(map(text, WORDS))
END = STOP + DONE
STREAM = TEXTS + END
LINES = [line for line in STREAM.decode().split("\n") if line]
PRETTY = "".join(f"data: {line}\n" for line in json.dumps(json.loads(text(ANSWER)[6:]), indent=1).split("\n"))
HALF_EMOJI = [b'data: {"choices":[{"delta":{"content":"%b"}}]}\n\n' % half for half in (rb"Hi \ud83d", rb"\ude00!")]
HARMONY = "<|channel|>analysis<|message|>{}<|end|><|start|>assistant<|channel|>final<|message|>{}"
CALL = {"index": 0, "id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}

FRAMES = {
    "crlf": Odd(STREAM.replace(b"\n", b"\r\n")),
    "cr": Odd(STREAM.replace(b"\n", b"\r")),
    "byte-order-mark": Odd(b"\xef\xbb\xbf" + STREAM),
    "no-blank": Odd(STREAM.replace(b"data: ", b"data:")),
    "padded": Odd(STREAM.replace(b"data: ", b"  data :   ").replace(b"\n\n", b"  \n\n")),
    "capitals": Odd(STREAM.replace(b"data: ", b"DATA: ")),
    "data-in-data": Odd(STREAM.replace(b"data: ", b"data: data: ")),
    "one-newline": Odd(STREAM.replace(b"\n\n", b"\n")),
    "one-newline-named": Odd(STREAM.replace(b"\n\n", b"\n").replace(b"data: ", b"event: message\nid: 7\ndata: ")),
    "json-in-json": Odd(b"".join(data(line[6:]) for line in LINES)),
    "several-values": Odd(b"data: " + b"".join(line[6:].encode() for line in LINES[:-1]) + b"\n\n" + DONE),
    "list-of-chunks": Odd(data([json.loads(line[6:]) for line in LINES[:-1]]) + DONE),
    "several-lines": Odd(PRETTY.encode() + b"\n" + END),
    "done-quoted": Odd(TEXTS + STOP + b'data: "[DONE]"\n\n'),
    "done-padded": Odd(TEXTS + STOP + b"data:  [done] \n\n"),
    "done-without-end": Odd(TEXTS + STOP + b"data: [DONE]\n", stays_open=True),
    "finish-without-end": Odd(TEXTS + STOP, stays_open=True),
    "more-after-done": Odd(STREAM + text("WRONG")),
    "usage-after-done": Odd(STREAM + data({"choices": [], "usage": USAGE})),
    "ends-inside-an-event": failed("cut", TEXTS + STOP[:-9], ANSWER),
    "ends-inside-a-whole": failed("cut", json.dumps(whole()).encode()[:-9], headers=JSON_KIND),
    "no-done": Odd(TEXTS + STOP),
    "heartbeats": Odd(
        b": ping\n\ndata:\n\ndata: null\n\ndata: \"\"\n\ndata: {}\n\ndata: []\n\ndata: keep-alive\n\n"
        b"event: ping\ndata: 2026-11-27 20:00:00\n\ndata: [keep alive]\n\ndata: 7\n\ndata: true\n\n"
        b'event: ping\ndata: {"type": "ping"}\n\n'
        b'data: {"status": "queued", "message": "2 before you"}\n\n' + STREAM
    ),
    "broken-off-after-finish": Odd(TEXTS + STOP + b"data: {", breaks_off=True),
    "error-after-finish": Odd(TEXTS + STOP + data({"error": "worker died"})),
    "no-type": Odd(STREAM, headers={}),
    "type-in-capitals": Odd(STREAM, headers={"Content-Type": "Text/Event-Stream;charset=UTF-8"}),
    "type-of-json": Odd(STREAM, headers=JSON_KIND),
    "created": Odd(STREAM, status=201),
    "gzip": Odd(gzip.compress(STREAM), headers={"Content-Encoding": "gzip"}),
    "gzip-unsaid": Odd(gzip.compress(STREAM)),
    "deflate": Odd(zlib.compress(STREAM), headers={"Content-Encoding": "deflate"}),
    "deflate-raw": Odd(zlib.compress(STREAM, wbits=-15), headers={"Content-Encoding": "deflate"}),
    "encoding-of-text": Odd(STREAM, headers={"Content-Encoding": "utf-8"}),
    "gzip-untrue": Odd(STREAM, headers={"Content-Encoding": "gzip"}),
    "json-lines": Odd(
        STREAM.replace(b"data: ", b"").replace(b"\n\n", b"\n"), headers={"Content-Type": "application/x-ndjson"}
    ),
    "whole": Odd(json.dumps(whole()).encode(), headers=JSON_KIND),
    "whole-after-blanks": Odd(b"\n   \n" * 20 + json.dumps(whole(), indent=2).encode(), headers=JSON_KIND),
    "whole-in-an-event": Odd(data(whole()) + DONE),
    "whole-without-finish": Odd(
        json.dumps({"choices": [{"message": {"content": ANSWER}}]}).encode(), headers=JSON_KIND
    ),
    "whole-in-an-envelope": Odd(json.dumps({"code": 0, "data": whole()}).encode(), headers=JSON_KIND),
}  # fmt: skip
VALUES = {
    "message": Odd(choice(message={"role": "assistant", "content": ANSWER}, finish_reason="stop")),
    "message-beside-deltas": Odd(TEXTS + choice(delta={}, message={"content": ""}, finish_reason="stop") + DONE),
    "text": Odd(choice(text=ANSWER, finish_reason="stop") + DONE),
    "texts": Odd(event({"content": WORDS}) + END),
    "parts": Odd(event({"content": [{"type": "text", "text": word} for word in WORDS]}) + END),
    "part": Odd(event({"content": {"type": "text", "text": ANSWER}}) + END),
    "number": Odd(event({"content": 42}) + END, "42"),
    "other-values": Odd(
        event({"content": False}) + choice(delta=None) + choice() + choice(delta=[]) + choice(delta=7)
        + data({"choices": 5}) + data({"choices": [7, None]}) + data({"choices": None}) + TEXTS
        + choice(delta={}, finish_reason=0) + choice(delta={}, finish_reason=[], index="x") + END
    ),
    "choices-as-object": Odd(data({"choices": {"0": {"delta": {"content": ANSWER}}}}) + END),
    "second-choice": Odd(
        TEXTS + data({"choices": [{"index": 1, "delta": {"content": "WRONG"}, "finish_reason": "length"}]}) + END
    ),
    "other-index": Odd((TEXTS + STOP).replace(b'"index": 0', b'"index": 1') + DONE),
    "index-as-text": Odd((TEXTS + STOP).replace(b'"index": 0', b'"index": "0"') + DONE),
    "halves": Odd(b"".join(HALF_EMOJI) + END, "Hi 😀!"),
    "half": Odd(HALF_EMOJI[0] + END, "Hi "),
    "nul": Odd(text("The\0Rhine") + END, "The\ufffdRhine"),
    "latin-1": Odd(b'data: {"choices":[{"delta":{"content":"sch\xf6n"}}]}\n\n' + END, "sch\ufffdn"),
    "control-signs": Odd(b'data: {"choices":[{"delta":{"content":"a\tb"}}]}\n\n' + END, "a\tb"),
    "refusal": Odd(event({"refusal": "I cannot "}) + event({"refusal": "help."}) + END, "I cannot help."),
    "refusal-part": Odd(event({"content": [{"type": "refusal", "refusal": "No."}]}) + END, "No."),
    "transcript": Odd(event({"content": None, "audio": {"id": "a", "transcript": ANSWER}}) + END),
    "unknown-fields": Odd(
        b"".join(event({"content": word, "annotations": [], "extra_content": {"a": {"x": 1}}}) for word in WORDS) + END
    ),
    "special-token": Odd(TEXTS + text("<|im_end|>") + END),
    "empty-error": Odd(
        event({"content": ANSWER}, error={}) + event(error="") + event(error={"code": 0, "message": ""}) + END
    ),
    "pictures": Odd(event({"content": "", "images": [{"type": "image_url"}]}) + END, "", "empty"),
}  # fmt: skip
FINISHES = {
    f"finish-{word.lower()}": Odd(TEXTS + event({}, word) + DONE, finish=finish)
    for word, finish in [
        ("eos", "stop"), ("COMPLETE", "stop"), ("unheard-of", "stop"), ("max_tokens", "length"),
        ("MAX_TOKENS", "length"),
        ("SAFETY", "content_filter"), ("tool_calls", "stop"),
    ]
} | {
    f"finish-{word.lower()}": failed("provider_error", TEXTS + event({}, word) + DONE, ANSWER)
    for word in ("error", "abort", "cancelled", "network_error")
} | {
    "finish-empty": Odd(b"".join(event({"content": word}, "") for word in WORDS) + event({}, "") + DONE),
    "finish-null-as-text": Odd(TEXTS + event({}, "null") + DONE),
    "finish-on-each": Odd(b"".join(event({"content": word}, "stop") for word in WORDS)),
    "finish-in-camel-case": Odd(TEXTS + choice(delta={}, finishReason="STOP")),
    "no-finish": failed("cut", TEXTS + DONE, ANSWER),
    "no-finish-no-done": failed("cut", TEXTS, ANSWER),
    "no-room": Odd(event({}, "length") + DONE, "", "no_room", finish="length"),
    "filtered": failed("filtered", event({}, "SAFETY") + DONE),
}  # fmt: skip
REASONING = {
    **{
        f"field-{name}": Odd(event({name: value}) + TEXTS + END, reasoning=THOUGHT)
        for name, value in {
            "reasoning": THOUGHT,
            "reasoning_content": [{"type": "text", "text": THOUGHT}],
            "reasoning_details": [
                {"type": "reasoning.text", "text": THOUGHT}, {"type": "reasoning.encrypted", "data": "x"},
            ],
            "reasoning_summary": {"text": THOUGHT},
            "thinking": THOUGHT,
            "thinking_blocks": [{"type": "thinking", "thinking": THOUGHT, "signature": "x"}],
            "reasoningContent": {"reasoningText": {"text": THOUGHT, "signature": "x"}},
            "thought": THOUGHT,
        }.items()
    },
    "field-twice": Odd(event({"reasoning": THOUGHT, "reasoning_content": THOUGHT}) + TEXTS + END, reasoning=THOUGHT),
    "part-of-content": Odd(
        event({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": THOUGHT}]}]})
        + event({"content": [{"type": "text", "text": ANSWER}]}) + END,
        reasoning=THOUGHT,
    ),
    "tag": Odd(text("<thi") + text(f"nk>{THOUGHT}</think") + text(">\n\n") + TEXTS + END, reasoning=THOUGHT),
    "tag-of-seed": Odd(text(f"<seed:think>{THOUGHT}</seed:think>") + TEXTS + END, reasoning=THOUGHT),
    "tag-again": Odd(
        text(f"<think>{THOUGHT}</think>The Rhine ") + text("<think> And?</think>flows through Bonn.") + END,
        reasoning=f"{THOUGHT} And?",
    ),
    "tag-closed-only": Odd(text(THOUGHT) + text("\n</think>\n\n") + TEXTS + END, reasoning=f"{THOUGHT}\n"),
    "tag-in-whole": Odd(
        json.dumps(whole(content=f"{THOUGHT}\n</think>\n\n{ANSWER}")).encode(), reasoning=f"{THOUGHT}\n"
    ),
    "tag-mentioned": Odd(text("<think> is a tag ") + text("of models.") + END, "<think> is a tag of models."),
    "channels": Odd(text(HARMONY.format(THOUGHT, ANSWER)) + END, reasoning=THOUGHT),
    "only-reasoning": Odd(event({"reasoning": THOUGHT}) + END, "", "only_reasoning", THOUGHT),
    "only-reasoning-cut": Odd(
        text(f"<think>{THOUGHT}") + event({}, "length") + DONE, "", "only_reasoning", THOUGHT, "length"
    ),
}  # fmt: skip
ERRORS = {
    "error-text": failed("provider_error", text("The ") + data({"error": "CUDA out of memory"}), "The "),
    "error-code": failed("rate_limited", data({"error": {"message": "slow down", "code": 429}, "choices": []})),
    "error-beside-code": failed("rate_limited", data({"error": "slow down", "code": 429})),
    "error-in-error": failed("rate_limited", data({"error": {"error": {"message": "slow down", "code": "429"}}})),
    "error-list": failed("rate_limited", data([{"error": {"message": "slow down", "code": 429}}])),
    "error-bare": failed("rate_limited", data({"object": "error", "message": "slow down", "code": 429})),
    "error-in-choice": failed("rate_limited", choice(delta={}, error={"code": 429}, finish_reason="error")),
    "error-field": failed("rate_limited", b'error: {"code": 429, "message": "slow down"}\n\n' + DONE),
    "error-event": failed("provider_error", b'event: error\ndata: {"message": "Compute error."}\n\n'),
    "error-event-of-text": failed("provider_error", text("The ") + b"event: error\ndata: worker died\n\n", "The "),
    "error-without-frame": failed(
        "rate_limited", b'{"error": {"code": 429, "message": "slow down"}}', headers=JSON_KIND
    ),
    "error-detail": failed("provider_error", b'{"detail": "no worker"}', headers=JSON_KIND),
    "api-of-ollama": failed("another_api", b'{"model": "m", "message": {"content": "The"}, "done": false}\n'),
    "api-of-anthropic": failed(
        "another_api",
        b"event: message_start\n" + data({"type": "message_start", "message": {"usage": {"input_tokens": 7}}}),
    ),
    "api-of-responses": failed("another_api", data({"type": "response.created", "response": {"usage": None}})),
    "api-of-gemini": failed("another_api", data({"candidates": [{"content": {"parts": [{"text": "The"}]}}]})),
    "page": failed("not_a_stream", b"<!doctype html><title>Sign in</title>", headers={"Content-Type": "text/html"}),
    "words": failed("not_a_stream", b"upstream is away", headers={"Content-Type": "text/plain"}),
    "other-json": failed("not_a_stream", b'{"status": "ok"}', headers=JSON_KIND),
    "brotli": failed("not_a_stream", b"\x8b\x03\x80abc\x03", headers={"Content-Encoding": "br"}),
    "bomb": failed("answer_too_long", gzip.compress((b":" + b" " * 1_000 + b"\n") * 10_000)),
    "broken-json": failed("malformed", text("The ") + b'data: {"choices": [{\n\n' + END, "The "),
    "tool-calls": Odd(
        event({"tool_calls": [CALL]}) + event({}, "tool_calls") + DONE, "", "tool_calls", finish="tool_calls"
    ),
}  # fmt: skip
ODDITIES: dict[str, Odd] = {
    f"odd-{name}": odd for name, odd in (FRAMES | VALUES | FINISHES | REASONING | ERRORS).items()
}
