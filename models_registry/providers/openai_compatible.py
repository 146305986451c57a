"""Any endpoint that speaks OpenAI's chat completions, read byte by byte.

The SDK makes the request; it does not read the stream, because it ends quietly on cut streams, HTML and
error bodies, and never tires of keep-alive comments.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from functools import lru_cache
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any

import httpx2
import openai
from aiohttp import ClientResponseError, ClientSession
from openai import AsyncOpenAI, DefaultAioHttpClient
from openai._vendor.httpx_aiohttp import AiohttpTransport

from common.text.redaction import MASK, StreamRedactor
from common.text.storable import storable
from models_registry.providers import connections, refusals
from models_registry.providers.base import ChatRequest, Completion, FailureCode, ProviderError, Receive
from models_registry.providers.chunks import decode
from models_registry.providers.event_stream import EventReader
from models_registry.providers.kinds import CAPS
from models_registry.providers.think_tag import ThinkTag

logger = logging.getLogger(__name__)

MOST_BYTES = 8_000_000
MOST_CHARACTERS = 400_000
# An answer that passes about four times the tokens that were asked for ends: its server ignores the cap.
MAX_CHARACTERS_PER_TOKEN = 4 * 4
# Below, the estimate is too rough; such small caps are those of probes.
MIN_CHARACTERS = 4_000
MOST_BYTES_OF_A_REFUSAL = 64_000
MOST_CLIENTS = 100
DONE = b"[DONE]"
# The stream is read raw: a compressed one would be unreadable, and compressing delays its pieces.
IDENTITY = {"Accept-Encoding": "identity"}


class OpenAICompatible:
    """One per event loop: it keeps the connections."""

    def __init__(self) -> None:
        self._http = DefaultAioHttpClient(
            follow_redirects=False,
            trust_env=False,
            timeout=None,
            transport=_Transport(trust_env=False),
            event_hooks={"response": [_make_refusal_readable]},
            # A cookie would be sent along with every later call to the host, also with another key.
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        )
        sdk = AsyncOpenAI(api_key="none", base_url="http://unused", max_retries=0, http_client=self._http)
        # Kept: before its first call, a client waits for a thread to tell it the platform.
        self._client = lru_cache(MOST_CLIENTS)(lambda base_url, key: sdk.with_options(base_url=base_url, api_key=key))

    async def close(self) -> None:
        await self._http.aclose()

    async def stream(self, request: ChatRequest, receive: Receive) -> Completion:
        """See ChatProvider.stream."""
        answer = _Answer(request, receive)
        try:
            async with asyncio.timeout(None) as deadline:
                answer.deadline = deadline
                answer.wait_for(FailureCode.FIRST_TIMEOUT)
                await self._call_patiently(request, answer)
        except ProviderError as error:
            upstream = _scrubbed(error.upstream, request.key)
            raise ProviderError(error.code, upstream, retry_after=error.retry_after) from None
        except TimeoutError:
            raise ProviderError(answer.late_code) from None
        except ClientResponseError as error:  # aiohttp's error for bytes that are not HTTP
            raise ProviderError(FailureCode.MALFORMED, _scrubbed(error.message, request.key)) from None
        except (openai.APIError, httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:
            code = FailureCode.ADDRESS_REFUSED if connections.was_refused(error) else answer.broken_code
            raise ProviderError(code, _scrubbed(str(error.__cause__ or error), request.key)) from None
        finally:
            answer.flush()
        answer.completion.request_id = _scrubbed(answer.completion.request_id, request.key)
        return answer.completion

    async def _call_patiently(self, request: ChatRequest, answer: "_Answer") -> None:
        """Once more, within the same deadlines, when a provider that was too busy to begin may be ready in a moment."""
        try:
            await self._call(request, answer)
        except openai.APIStatusError as error:
            wait = refusals.seconds_before_retry(error.status_code, refusals.asked_to_wait(error.response.headers))
            if wait is None or wait >= answer.seconds_left:
                raise _refusal(error) from None
            logger.info("asked again after HTTP %s", error.status_code)
            await asyncio.sleep(wait)
            try:
                await self._call(request, answer)
            except openai.APIStatusError as again:
                raise _refusal(again) from None

    async def _call(self, request: ChatRequest, answer: "_Answer") -> None:
        client = self._client(request.base_url, request.key or "none")
        call: Any = client.chat.completions.with_streaming_response.create
        timeout = httpx2.Timeout(None, connect=request.deadlines["connect"])
        # What is extra is sent as it is; looking through messages takes the SDK a third of the call's time.
        body = {**request.parameters, "messages": request.messages}
        async with call(
            model=request.model, messages=[], stream=True, timeout=timeout, extra_headers=IDENTITY, extra_body=body
        ) as response:
            answer.completion.request_id = (response.headers.get("x-request-id") or "")[:200]
            content_type = response.headers.get("content-type", "")
            if response.status_code != 200:
                raise refusals.refusal(response.status_code, "")
            if not content_type.startswith("text/event-stream"):
                beginning = await anext(response.http_response.aiter_raw(), b"")
                raise ProviderError(FailureCode.NOT_A_STREAM, f"{content_type}: {beginning.decode(errors='replace')}")
            answer.is_connected = True
            async for piece in response.http_response.aiter_raw():
                if answer.take(piece):
                    return
                if answer.rest_s:
                    await asyncio.sleep(answer.rest_s)
        answer.end_of_stream()


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
        self._max_characters = _max_characters(request)
        self.rest_s = 0.0
        self._think_tag = ThinkTag()
        self._has_text = self._has_called_tools = False
        # A key that upstream repeats in its answer would be stored and shown.
        self._text, self._reasoning = StreamRedactor(request.key), StreamRedactor(request.key)

    @property
    def seconds_left(self) -> float:
        """Until the deadline that runs now."""
        return (self.deadline.when() or self._total_at) - asyncio.get_running_loop().time()

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
        """Read a piece of the stream; return True once it has ended with [DONE]."""
        self._bytes += len(piece)
        if self._bytes > MOST_BYTES:
            raise ProviderError(FailureCode.TOO_LONG)
        return self._take_payloads(self._reader.feed(piece))

    def end_of_stream(self) -> None:
        """Accept an end without [DONE] only after a finish reason."""
        if not self._take_payloads(self._reader.close()):
            self._check_finish()

    def _take_payloads(self, payloads: list[bytes]) -> bool:
        texts, reasonings, is_done = [], [], False
        try:
            for payload in payloads:
                if payload == DONE:
                    is_done = True
                    break
                for text, reasoning in self._read(payload):
                    texts.append(text)
                    reasonings.append(reasoning)
        finally:  # text that came before an error in the same read is part of the answer
            text, reasoning = storable("".join(texts)), storable("".join(reasonings))
            if not self._think_tag.is_past:
                text, tagged = self._think_tag.part(text)
                reasoning += tagged
            self._emit(text, reasoning)
        if is_done:
            self._check_finish()
        return is_done

    def _emit(self, text: str, reasoning: str) -> None:
        """Pass text on with the key masked and renew the idle deadline. Raises ProviderError if it is too long."""
        if not (text or reasoning):
            return
        self._characters += len(text) + len(reasoning)
        if self._characters > self._max_characters:
            raise ProviderError(FailureCode.TOO_LONG)
        self.wait_for(FailureCode.IDLE_TIMEOUT)
        self._has_text = self._has_text or bool(text.strip())
        masked = self._text.feed(text), self._reasoning.feed(reasoning)
        if any(masked):
            self.rest_s = self._receive(*masked)

    def flush(self) -> None:
        """Pass on text that masking held back because it may begin the key."""
        held_back = self._text.flush(), self._reasoning.flush()
        if any(held_back):
            self._receive(*held_back)

    def _check_finish(self) -> None:
        self._emit(*self._think_tag.rest())
        reason = self.completion.finish_reason
        if reason == "error" or (not reason and self._request.finish_reason_required):
            raise ProviderError(FailureCode.PROVIDER_ERROR if reason else FailureCode.CUT, "no proper finish reason")
        if not self._has_text and (self._has_called_tools or reason in ("tool_calls", "function_call")):
            raise ProviderError(FailureCode.TOOL_CALLS)
        if not self._has_text and reason == "content_filter":
            raise ProviderError(FailureCode.FILTERED)

    def _read(self, payload: bytes) -> Iterator[tuple[str, str]]:
        chunk = decode(payload)
        if chunk.error:
            raise refusals.error_event(chunk.error)
        if usage := chunk.token_counts:  # with some it comes in every chunk and grows
            self.completion.prompt_tokens = usage.prompt
            self.completion.completion_tokens = usage.written
            self.completion.reasoning_tokens = usage.reasoning
        for choice in (chunk.choices or [])[:1]:
            if choice.finish_reason:
                self.completion.finish_reason = _scrubbed(choice.finish_reason, self._request.key)[:40]
            if choice.delta is not None:
                self._has_called_tools = self._has_called_tools or bool(choice.delta.tool_calls)
                yield choice.delta.read()


def _max_characters(request: ChatRequest) -> int:
    """Return how long an answer may become, reasoning included."""
    caps = [int(value) for name, value in request.parameters.items() if name in CAPS]
    by_tokens = max(caps, default=MOST_CHARACTERS) * MAX_CHARACTERS_PER_TOKEN
    return min(MOST_CHARACTERS, max(MIN_CHARACTERS, by_tokens))


class _Transport(AiohttpTransport):
    """The SDK's own, on connections of ours."""

    def get_client(self) -> ClientSession:
        return connections.new_session(ssl=self.ssl_context)


async def _make_refusal_readable(response: httpx2.Response) -> None:
    """Bound the body of a refusal, which the SDK reads to its end, and prevent decompressing and decoding it.

    A compressed body, which we never ask for, may be a bomb, and some declared charsets are no text encodings.
    """
    if response.status_code != 200:
        response.stream = _Beginning(response.stream)
        for name in ("content-encoding", "content-type"):
            response.headers.pop(name, None)


class _Beginning(httpx2.AsyncByteStream):
    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = MOST_BYTES_OF_A_REFUSAL
        async for piece in self._stream:
            yield piece[:left]
            left -= len(piece)
            if left <= 0:
                return

    async def aclose(self) -> None:
        await self._stream.aclose()


def _refusal(error: openai.APIStatusError) -> ProviderError:
    retry_after = refusals.asked_to_wait(error.response.headers)
    return refusals.refusal(error.status_code, error.response.text, retry_after=retry_after)


def _scrubbed(text: str, key: str) -> str:
    """Upstream's words, to be written down: short, printable, without the key."""
    if key:
        text = text.replace(key, MASK)
    return storable(text)[:500]
