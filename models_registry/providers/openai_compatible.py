"""Any endpoint that speaks OpenAI's chat completions, read byte by byte.

The SDK makes the request; it does not read the stream, because it ends quietly on cut streams, HTML and
error bodies, and never tires of keep-alive comments.
"""

import asyncio
import json
import logging
from collections.abc import Iterator
from typing import Any

import httpx2
import msgspec
import openai
from openai import AsyncOpenAI, DefaultAioHttpClient

from common.text import storable
from models_registry.providers.base import ChatRequest, Completion, FailureCode, ProviderError, Receive
from models_registry.providers.event_stream import EventReader

logger = logging.getLogger(__name__)

MOST_BYTES = 8_000_000
MOST_CHARACTERS = 400_000
DONE = b"[DONE]"
# The stream is read raw: a compressed one would be unreadable, and compressing delays its pieces.
IDENTITY = {"Accept-Encoding": "identity"}


class Delta(msgspec.Struct):
    content: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None


class Choice(msgspec.Struct):
    delta: Delta | None = None
    finish_reason: str | None = None


class Usage(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class Chunk(msgspec.Struct):
    choices: list[Choice] | None = None
    usage: Usage | None = None
    error: msgspec.Raw = msgspec.Raw()


_decoder = msgspec.json.Decoder(Chunk)


class OpenAICompatible:
    """One per event loop: it keeps the connections."""

    def __init__(self) -> None:
        self._http = DefaultAioHttpClient(
            follow_redirects=False,
            trust_env=False,
            timeout=None,
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=100),
        )
        self._sdk = AsyncOpenAI(api_key="none", base_url="http://unused", max_retries=0, http_client=self._http)

    async def close(self) -> None:
        await self._http.aclose()

    async def stream(self, request: ChatRequest, receive: Receive) -> Completion:
        """See ChatProvider.stream."""
        answer = _Answer(request, receive)
        try:
            async with asyncio.timeout(None) as deadline:
                answer.deadline = deadline
                await self._call(request, answer)
        except ProviderError as error:
            raise ProviderError(error.code, _scrubbed(error.upstream, request.key)) from None
        except TimeoutError:
            raise ProviderError(answer.late_code) from None
        except openai.APIStatusError as error:
            raise _status_error(error, request.key) from None
        except (openai.APIError, httpx2.HTTPError, OSError, ValueError) as error:
            raise ProviderError(answer.broken_code, _scrubbed(str(error.__cause__ or error), request.key)) from None
        return answer.completion

    async def _call(self, request: ChatRequest, answer: "_Answer") -> None:
        answer.wait_for(FailureCode.FIRST_TIMEOUT)
        client = self._sdk.with_options(api_key=request.key or "none", base_url=request.base_url)
        extra = {name: value for name, value in request.parameters.items() if name in EXTRA_PARAMETERS}
        known = {name: value for name, value in request.parameters.items() if name not in EXTRA_PARAMETERS}
        call: Any = client.chat.completions.with_streaming_response.create
        timeout = httpx2.Timeout(None, connect=request.deadlines["connect"])
        async with call(
            model=request.model, messages=request.messages, stream=True, timeout=timeout,
            stream_options={"include_usage": True}, extra_headers=IDENTITY, extra_body=extra or None, **known,
        ) as response:  # fmt: skip
            answer.completion.request_id = (response.headers.get("x-request-id") or "")[:200]
            content_type = response.headers.get("content-type", "")
            if response.status_code != 200:
                raise ProviderError(FailureCode.REDIRECTED, f"HTTP {response.status_code}")
            if not content_type.startswith("text/event-stream"):
                raise ProviderError(FailureCode.NOT_A_STREAM, content_type)
            answer.is_connected = True
            async for piece in response.http_response.aiter_raw():
                if answer.take(piece):
                    return
        answer.end_of_stream()


# Sampling parameters that the SDK has no argument for.
EXTRA_PARAMETERS = ("top_k", "min_p", "repeat_penalty")


class _Answer:
    """The state of one call while it is read: what has come, what is waited for, how it may end."""

    def __init__(self, request: ChatRequest, receive: Receive) -> None:
        self.completion = Completion()
        self.deadline: asyncio.Timeout
        self.is_connected = False
        self.late_code = FailureCode.FIRST_TIMEOUT
        self._request = request
        self._receive = receive
        self._reader = EventReader()
        self._total_at = asyncio.get_running_loop().time() + request.deadlines["total"]
        self._bytes = self._characters = 0

    @property
    def broken_code(self) -> FailureCode:
        return FailureCode.CUT if self.is_connected else FailureCode.UNREACHABLE

    def wait_for(self, code: FailureCode) -> None:
        """From now on the next piece of text must come within its deadline; the total deadline stands."""
        name = "first" if code is FailureCode.FIRST_TIMEOUT else "idle"
        at = asyncio.get_running_loop().time() + self._request.deadlines[name]
        self.late_code = code if at < self._total_at else FailureCode.TOTAL_TIMEOUT
        self.deadline.reschedule(min(at, self._total_at))

    def take(self, piece: bytes) -> bool:
        """Hand over what a read brought; True when the stream said [DONE]."""
        self._bytes += len(piece)
        if self._bytes > MOST_BYTES:
            raise ProviderError(FailureCode.TOO_LONG)
        return self._hand_over(self._reader.feed(piece))

    def end_of_stream(self) -> None:
        """The connection ended without [DONE]; fine only if the answer had come to its finish reason."""
        if not self._hand_over(self._reader.close()):
            self._check_finish()

    def _hand_over(self, payloads: list[bytes]) -> bool:
        texts, reasonings, is_done = [], [], False
        for payload in payloads:
            if payload == DONE:
                is_done = True
                break
            for text, reasoning in self._read(payload):
                texts.append(text)
                reasonings.append(reasoning)
        text, reasoning = storable("".join(texts)), storable("".join(reasonings))
        if text or reasoning:
            self._characters += len(text) + len(reasoning)
            if self._characters > MOST_CHARACTERS:
                raise ProviderError(FailureCode.TOO_LONG)
            self.wait_for(FailureCode.IDLE_TIMEOUT)
            self._receive(text, reasoning)
        if is_done:
            self._check_finish()
        return is_done

    def _check_finish(self) -> None:
        if self._request.finish_reason_required and not self.completion.finish_reason:
            raise ProviderError(FailureCode.CUT, "no finish reason")

    def _read(self, payload: bytes) -> Iterator[tuple[str, str]]:
        chunk = _decode(payload)
        if chunk.error and bytes(chunk.error) != b"null":
            raise ProviderError(FailureCode.PROVIDER_ERROR, bytes(chunk.error).decode(errors="replace"))
        if chunk.usage is not None:
            self.completion.prompt_tokens = chunk.usage.prompt_tokens
            self.completion.completion_tokens = chunk.usage.completion_tokens
        for choice in (chunk.choices or [])[:1]:
            if choice.finish_reason:
                self.completion.finish_reason = choice.finish_reason[:40]
            if choice.delta is not None:
                yield choice.delta.content or "", choice.delta.reasoning_content or choice.delta.reasoning or ""


def _decode(payload: bytes) -> Chunk:
    try:
        return _decoder.decode(payload)
    except (msgspec.DecodeError, UnicodeDecodeError):
        # msgspec refuses lone surrogates, which some servers send; the standard library reads them.
        try:
            return msgspec.convert(json.loads(payload.decode(errors="replace")), Chunk)
        except (ValueError, msgspec.ValidationError, RecursionError) as error:
            raise ProviderError(FailureCode.MALFORMED, str(error)) from None


def _status_error(error: openai.APIStatusError, key: str) -> ProviderError:
    body = str(error.body or error.message)
    match error.status_code:
        case 401 | 403:
            code = FailureCode.REFUSED_KEY
        case 408 | 409 | 429:
            code = FailureCode.RATE_LIMITED
        case status if 300 <= status < 400:
            code = FailureCode.REDIRECTED
        case status if status >= 500:
            code = FailureCode.PROVIDER_ERROR
        case _:
            is_long = "context" in body.lower() and any(word in body.lower() for word in ("exceed", "length", "long"))
            code = FailureCode.PROMPT_TOO_LONG if is_long else FailureCode.REJECTED
    return ProviderError(code, _scrubbed(f"HTTP {error.status_code}: {body}", key))


def _scrubbed(text: str, key: str) -> str:
    """Upstream's words for the log: short, printable, without the key."""
    if key:
        text = text.replace(key, "[key]")
    return storable(text)[:500]
