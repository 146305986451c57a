"""Server-sent events of a chat completion's stream, and their payloads; unused fields are skipped."""

import json
from typing import Any, NamedTuple

import msgspec

from common.payload_types import JsonObject
from models_registry.providers.base import FailureCode, ProviderError

# A longer line is an attack or a defect.
MAX_LINE_BYTES = 1_000_000
# Limit for a reported number, far beyond any model's context.
MAX_TOKENS = 10_000_000


class EventReader:
    """Strict incremental parser of server-sent events: returns their `data`.

    Lines end with LF, CRLF or CR; comments and other fields are skipped. The caller decodes whole events, so that
    characters split over two reads stay intact.
    """

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []

    def feed(self, piece: bytes) -> list[bytes]:
        """Return payloads of events that `piece` completes. Raises ProviderError(MALFORMED) for an endless line."""
        buffer = self._rest + piece
        if b"\r" in buffer:
            # A CR at the end may be half of a CRLF, so it is kept for the next read.
            held = b"\r" if buffer.endswith(b"\r") else b""
            buffer = buffer.removesuffix(b"\r").replace(b"\r\n", b"\n").replace(b"\r", b"\n") + held
        *lines, self._rest = buffer.split(b"\n")
        if len(self._rest) > MAX_LINE_BYTES:
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
        """Return the last event if the stream ended without its blank line."""
        payloads = self.feed(b"\n\n")
        self._rest = b""
        return payloads


class Part(msgspec.Struct):
    """Part of the content, as Mistral's reasoning models send it."""

    text: str | None = None
    thinking: "list[Part] | str | None" = None


class Delta(msgspec.Struct):
    content: str | list[Part] | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    tool_calls: list[Any] | None = None

    def read(self) -> tuple[str, str]:
        """Return (text, reasoning)."""
        reasoning = self.reasoning_content or self.reasoning or ""
        if isinstance(self.content, list):
            texts = "".join(part.text or "" for part in self.content)
            return texts, reasoning + "".join(_thoughts(part) for part in self.content)
        return self.content or "", reasoning


def _thoughts(part: Part) -> str:
    if isinstance(part.thinking, list):
        return "".join(inner.text or "" for inner in part.thinking)
    return part.thinking or ""


class Choice(msgspec.Struct):
    delta: Delta | None = None
    finish_reason: str | None = None


class TokenCounts(NamedTuple):
    """Tokens of a call as reported; None for what is not reported."""

    prompt: int | None
    # Answer and reasoning.
    completion: int | None
    reasoning: int | None

    @classmethod
    def from_usage(cls, usage: JsonObject) -> "TokenCounts":
        prompt, completion, total = (_count(usage, f"{name}_tokens") for name in ("prompt", "completion", "total"))
        details = usage.get("completion_tokens_details")
        reasoning = _count(details, "reasoning_tokens") if isinstance(details, dict) else None
        if completion is not None and prompt and total:  # Gemini counts the reasoning in the total only
            uncounted = max(0, total - prompt - completion)
            completion += uncounted
            reasoning = reasoning or uncounted or reasoning
        return cls(prompt, completion, reasoning)


def _count(usage: JsonObject, name: str) -> int | None:
    """Return a number of tokens; None for any other value, such as NaN or an impossibly large number."""
    value = usage.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if 0 <= value <= MAX_TOKENS and value == int(value) else None


class Chunk(msgspec.Struct):
    choices: list[Choice] | None = None
    usage: Any = None
    x_groq: Any = None
    error: Any = None

    @property
    def token_counts(self) -> TokenCounts | None:
        usage = self.usage or (self.x_groq.get("usage") if isinstance(self.x_groq, dict) else None)
        return TokenCounts.from_usage(usage) if usage and isinstance(usage, dict) else None


_decoder = msgspec.json.Decoder(Chunk)


def decode(payload: bytes) -> Chunk:
    """Raises ProviderError(MALFORMED)."""
    try:
        return _decoder.decode(payload)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        # msgspec refuses lone surrogates, which some servers send; the standard library reads them.
        try:
            return msgspec.convert(json.loads(payload.decode(errors="replace")), Chunk)
        except (ValueError, msgspec.ValidationError, RecursionError) as error:
            raise ProviderError(FailureCode.MALFORMED, str(error)) from None
