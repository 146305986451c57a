"""The events of a chat completion's stream, as far as we read them. Whatever else they carry is skipped."""

import json
from typing import Any

import msgspec

from models_registry.providers.base import FailureCode, ProviderError


class Part(msgspec.Struct):
    """Mistral's reasoning models send their content in parts."""

    text: str | None = None
    thinking: "list[Part] | str | None" = None


class Delta(msgspec.Struct):
    content: str | list[Part] | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    tool_calls: list[Any] | None = None

    def read(self) -> tuple[str, str]:
        """(text, reasoning)"""
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


class Details(msgspec.Struct):
    reasoning_tokens: int | None = None


class Usage(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None
    completion_tokens_details: Details | None = None

    @property
    def written_tokens(self) -> int | None:
        """Answer and reasoning. Gemini counts the reasoning in the total only."""
        if self.completion_tokens is None or not self.prompt_tokens or not self.total_tokens:
            return self.completion_tokens
        return max(self.completion_tokens, self.total_tokens - self.prompt_tokens)

    @property
    def reasoning_tokens(self) -> int | None:
        """None when nothing is said of reasoning."""
        said = self.completion_tokens_details.reasoning_tokens if self.completion_tokens_details else None
        unsaid = (self.written_tokens or 0) - (self.completion_tokens or 0)
        return said or unsaid or said


class GroqsOwn(msgspec.Struct):
    usage: Usage | None = None


class Chunk(msgspec.Struct):
    choices: list[Choice] | None = None
    usage: Usage | None = None
    x_groq: GroqsOwn | None = None
    error: Any = None


_decoder = msgspec.json.Decoder(Chunk)


def decode(payload: bytes) -> Chunk:
    """Raises ProviderError(MALFORMED)."""
    try:
        return _decoder.decode(payload)
    except (msgspec.DecodeError, UnicodeDecodeError):
        # msgspec refuses lone surrogates, which some servers send; the standard library reads them.
        try:
            return msgspec.convert(json.loads(payload.decode(errors="replace")), Chunk)
        except (ValueError, msgspec.ValidationError, RecursionError) as error:
            raise ProviderError(FailureCode.MALFORMED, str(error)) from None
