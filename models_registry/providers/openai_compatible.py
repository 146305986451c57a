"""Provider for endpoints with OpenAI's chat completions API.

The SDK's HTTP client sends the request. The SDK does not read the stream: it accepts truncated streams, HTML and error
bodies as answers, and waits forever while comments arrive.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from functools import lru_cache
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, Unpack, cast

import httpx2
import msgspec
from aiohttp import ClientResponseError, ClientSession
from openai import AsyncOpenAI, DefaultAioHttpClient
from openai._vendor.httpx_aiohttp.transport import AiohttpResponseStream, AiohttpTransport

from common.text.redaction import MASK, StreamRedactor
from common.text.storable import storable
from models_registry.providers import connections, refusals
from models_registry.providers.base import (
    ChatRequest,
    Completion,
    FailureCode,
    ProviderError,
    Receive,
    StreamOptions,
)
from models_registry.providers.event_stream import EventReader, decode
from models_registry.providers.kinds import CAPS
from models_registry.providers.think_tag import ThinkTag
from models_registry.providers.tool_calls import ToolCalls

logger = logging.getLogger(__name__)

MAX_BYTES = 8_000_000
MAX_CHARACTERS = 400_000
# An answer of about four times the requested tokens is ended, because its server ignores the cap.
MAX_CHARACTERS_PER_TOKEN = 4 * 4
# The estimate is too rough below this; only probes have such small caps.
MIN_CHARACTERS = 4_000
MAX_REFUSAL_BYTES = 64_000
MAX_ENDPOINTS = 100
DONE = b"[DONE]"
# The stream is read raw, so it must not be compressed, which would also delay its pieces.
IDENTITY = {"Accept-Encoding": "identity"}


class OpenAICompatible:
    """Provider that keeps its connections; one per event loop."""

    def __init__(self) -> None:
        self._http = DefaultAioHttpClient(
            follow_redirects=False,
            trust_env=False,
            timeout=None,
            transport=_Transport(trust_env=False),
            event_hooks={"response": [_limit_error_body]},
            # Cookies would be sent with every later call to the host, also with another key.
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        )
        self._sdk = AsyncOpenAI(api_key="none", base_url="http://unused", max_retries=0, http_client=self._http)
        self._endpoint = lru_cache(MAX_ENDPOINTS)(self._new_endpoint)

    def _new_endpoint(self, base_url: str, key: str) -> tuple[httpx2.URL, dict[str, str]]:
        """Return a provider's address and headers, as the SDK's."""
        client = self._sdk.with_options(base_url=base_url, api_key=key)
        headers = {name: value for name, value in client.default_headers.items() if isinstance(value, str)}
        headers |= {"Authorization": f"Bearer {key}"} | IDENTITY
        return httpx2.URL(f"{base_url.rstrip('/')}/chat/completions"), headers

    async def close(self) -> None:
        await self._http.aclose()

    async def stream(self, request: ChatRequest, receive: Receive, **options: Unpack[StreamOptions]) -> Completion:
        answer = _AnswerReader(request, receive, options)
        try:
            async with asyncio.timeout(None) as deadline:
                answer.deadline = deadline
                answer.set_deadline(FailureCode.FIRST_TIMEOUT)
                await self._call_with_retry(request, answer)
        except ProviderError as error:
            upstream = _scrub(error.upstream, request.key)
            raise ProviderError(error.code, upstream, retry_after=error.retry_after) from None
        except TimeoutError:
            raise ProviderError(answer.timeout_code) from None
        except ClientResponseError as error:  # aiohttp's error for bytes that are not HTTP
            raise ProviderError(FailureCode.MALFORMED, _scrub(error.message, request.key)) from None
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:
            code = answer.connection_error_code
            if connections.is_address_refused(error):
                code = FailureCode.ADDRESS_REFUSED
            elif connections.is_invalid_http(error):
                code = FailureCode.MALFORMED
            raise ProviderError(code, _scrub(str(error.__cause__ or error), request.key)) from None
        finally:
            answer.stop_timer()
            answer.flush()
        answer.completion.request_id = _scrub(answer.completion.request_id, request.key)
        return answer.completion

    async def _call_with_retry(self, request: ChatRequest, answer: "_AnswerReader") -> None:
        """Call, and retry once within the same deadlines if the provider was only busy."""
        try:
            await self._call(request, answer)
        except _Refused as refused:
            delay = refusals.retry_delay_s(refused.response.status_code, refused.retry_after)
            if delay is None or delay >= answer.seconds_left:
                raise refused.as_provider_error() from None
            logger.info("retry after HTTP %s", refused.response.status_code)
            await asyncio.sleep(delay)
            try:
                await self._call(request, answer)
            except _Refused as again:
                raise again.as_provider_error() from None

    async def _call(self, request: ChatRequest, answer: "_AnswerReader") -> None:
        # Not by the SDK's method, which took half of a call's CPU: docs/adr/0059.
        url, headers = self._endpoint(request.base_url, request.key or "none")
        body = {"model": request.model, "stream": True, **request.parameters, "messages": request.messages}
        timeout = httpx2.Timeout(None, connect=request.deadlines["connect"])
        response = await self._http.send(
            httpx2.Request(
                "POST", url, headers=headers, content=msgspec.json.encode(body),
                extensions={"timeout": timeout.as_dict()},
            ),
            stream=True,
        )  # fmt: skip
        try:
            await self._read(response, answer)
        finally:
            await response.aclose()

    async def _read(self, response: httpx2.Response, answer: "_AnswerReader") -> None:
        """Raises _Refused for an error's status."""
        if not response.is_success:
            await response.aread()
            raise _Refused(response)
        answer.completion.request_id = (response.headers.get("x-request-id") or "")[:200]
        content_type = response.headers.get("content-type", "")
        if response.status_code != 200:
            raise refusals.error_for_status(response.status_code, "")
        if not content_type.startswith("text/event-stream"):
            beginning = await anext(response.aiter_raw(), b"")
            raise ProviderError(FailureCode.NOT_A_STREAM, f"{content_type}: {beginning.decode(errors='replace')}")
        answer.is_connected = True
        async for piece in response.aiter_raw():
            if answer.feed(piece):
                return
            if answer.pause_s:
                await _pause(response, answer.pause_s)
        answer.end_of_stream()


class _Refused(Exception):
    """Raised for a status other than 2xx; the response is read."""

    def __init__(self, response: httpx2.Response) -> None:
        super().__init__(response.status_code)
        self.response = response

    @property
    def retry_after(self) -> float | None:
        return refusals.parse_retry_after(self.response.headers)

    def as_provider_error(self) -> ProviderError:
        return refusals.error_for_status(self.response.status_code, self.response.text, retry_after=self.retry_after)


class _AnswerReader:
    """State of one call: text so far, current deadline, possible errors."""

    def __init__(self, request: ChatRequest, receive: Receive, options: StreamOptions) -> None:
        self.completion = options.get("completion") or Completion()
        self.deadline: asyncio.Timeout
        self._timer: asyncio.TimerHandle | None = None
        self.is_connected = False
        self.timeout_code = FailureCode.FIRST_TIMEOUT
        self._request = request
        self._receive = receive
        self._receive_tool_calls = options.get("receive_tool_calls")
        self._tool_calls = ToolCalls(request.key)
        self._reader = EventReader()
        self._loop = asyncio.get_running_loop()
        self._total_at = self._deadline_at = self._loop.time() + request.deadlines["total"]
        self._bytes = self._characters = 0
        self._max_characters = _max_characters(request)
        self.pause_s = 0.0
        self._think_tag = ThinkTag()
        self._has_text = self._has_called_tools = False
        # Mask the key, because an answer that repeats it would be stored and shown.
        self._text, self._reasoning = StreamRedactor(request.key), StreamRedactor(request.key)

    @property
    def seconds_left(self) -> float:
        return self._deadline_at - self._loop.time()

    @property
    def connection_error_code(self) -> FailureCode:
        return FailureCode.CUT if self.is_connected else FailureCode.UNREACHABLE

    def set_deadline(self, code: FailureCode) -> None:
        """Start the first or idle deadline for the next piece of text; the total deadline stays."""
        name = "first" if code is FailureCode.FIRST_TIMEOUT else "idle"
        at = self._loop.time() + self._request.deadlines[name]
        self.timeout_code = code if at < self._total_at else FailureCode.TOTAL_TIMEOUT
        self._deadline_at = min(at, self._total_at)
        if self._timer is None or self._deadline_at < self._timer.when():
            self._start_timer()

    def _start_timer(self) -> None:
        # The only timer: one for each piece of text would take a tenth of a stream's CPU.
        self.stop_timer()
        self._timer = self._loop.call_at(self._deadline_at, self._check_deadline)

    def _check_deadline(self) -> None:
        if self._loop.time() < self._deadline_at:
            self._start_timer()
        else:
            self.deadline.reschedule(self._deadline_at)

    def stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def feed(self, piece: bytes) -> bool:
        """Read a piece of the stream; return whether it ended with [DONE]."""
        self._bytes += len(piece)
        if self._bytes > MAX_BYTES:
            raise ProviderError(FailureCode.TOO_LONG)
        return self._read_payloads(self._reader.feed(piece))

    def end_of_stream(self) -> None:
        """Accept an end without [DONE] only after a finish reason."""
        if not self._read_payloads(self._reader.close()):
            self._check_finish()

    def _read_payloads(self, payloads: list[bytes]) -> bool:
        texts: list[str] = []
        reasonings: list[str] = []
        is_done = False
        try:
            for payload in payloads:
                if payload == DONE:
                    is_done = True
                    break
                text, reasoning = self._read(payload)
                texts.append(text)
                reasonings.append(reasoning)
        finally:  # text before an error in the same read is part of the answer
            text, reasoning = storable("".join(texts)), storable("".join(reasonings))
            if not self._think_tag.is_past:
                text, tagged = self._think_tag.part(text)
                reasoning += tagged
            self._emit(text, reasoning)
            self._emit_tool_calls()
        if is_done:
            self._check_finish()
        return is_done

    def _emit(self, text: str, reasoning: str) -> None:
        """Pass text on with the key masked; renew the idle deadline. Raises ProviderError if it is too long."""
        if not (text or reasoning):
            return
        self._count_characters(len(text) + len(reasoning))
        self._has_text = self._has_text or bool(text.strip())
        masked = self._text.feed(text), self._reasoning.feed(reasoning)
        if any(masked):
            self.pause_s = self._receive(*masked)

    def _emit_tool_calls(self) -> None:
        deltas = self._tool_calls.take()
        if deltas and self._receive_tool_calls is not None:
            self._count_characters(sum(len(delta.arguments) for delta in deltas))
            self._receive_tool_calls(deltas)

    def _count_characters(self, number: int) -> None:
        """Renew the idle deadline. Raises ProviderError if the answer is too long."""
        self._characters += number
        if self._characters > self._max_characters:
            raise ProviderError(FailureCode.TOO_LONG)
        self.set_deadline(FailureCode.IDLE_TIMEOUT)

    def flush(self) -> None:
        """Pass on text held back as a possible beginning of the key."""
        self._tool_calls.flush()
        if (deltas := self._tool_calls.take()) and self._receive_tool_calls is not None:
            self._receive_tool_calls(deltas)
        held_back = self._text.flush(), self._reasoning.flush()
        if any(held_back):
            self._receive(*held_back)

    def _check_finish(self) -> None:
        self._emit(*self._think_tag.rest())
        reason = self.completion.finish_reason
        if reason == "error" or (not reason and self._request.finish_reason_required):
            raise ProviderError(FailureCode.PROVIDER_ERROR if reason else FailureCode.CUT, "no proper finish reason")
        has_no_tools = self._receive_tool_calls is None or not self._has_called_tools
        calls_tools = self._has_called_tools or reason in ("tool_calls", "function_call")
        if has_no_tools and not self._has_text and calls_tools:
            raise ProviderError(FailureCode.TOOL_CALLS)
        if not self._has_text and reason == "content_filter":
            raise ProviderError(FailureCode.FILTERED)

    def _read(self, payload: bytes) -> tuple[str, str]:
        """Return (text, reasoning) of an event."""
        chunk = decode(payload)
        if chunk.error:
            raise refusals.error_for_event(chunk.error)
        if (chunk.usage or chunk.x_groq) and (
            usage := chunk.token_counts
        ):  # some send growing numbers with every chunk
            self.completion.prompt_tokens = usage.prompt
            self.completion.completion_tokens = usage.completion
            self.completion.reasoning_tokens = usage.reasoning
        if not chunk.choices:
            return "", ""
        choice = chunk.choices[0]
        if choice.finish_reason:
            self.completion.finish_reason = _scrub(choice.finish_reason, self._request.key)[:40]
        if choice.delta is None:
            return "", ""
        text, reasoning = choice.delta.read()
        if choice.delta.tool_calls:
            self._has_called_tools = True
            if self._receive_tool_calls is not None:
                self._tool_calls.add(choice.delta.tool_calls)
        self.completion.pieces += bool(text or reasoning or choice.delta.tool_calls)
        return text, reasoning


def _max_characters(request: ChatRequest) -> int:
    caps = [int(value) for name, value in request.parameters.items() if name in CAPS]
    by_tokens = max(caps, default=MAX_CHARACTERS) * MAX_CHARACTERS_PER_TOKEN
    return min(MAX_CHARACTERS, max(MIN_CHARACTERS, by_tokens))


class _Transport(AiohttpTransport):
    """The SDK's transport with connections of models_registry.providers.connections."""

    def get_client(self) -> ClientSession:
        return connections.new_session(ssl=self.ssl_context)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Put aiohttp's response among the extensions."""
        response = await super().handle_async_request(request)
        response.extensions["aiohttp"] = cast("AiohttpResponseStream", response.stream)._aiohttp_response
        return response


async def _pause(response: httpx2.Response, seconds: float) -> None:
    """Sleep without reading, so that one read takes what arrives meanwhile."""
    connection = response.extensions["aiohttp"].connection
    transport = connection.transport if connection is not None else None  # None after the response's last byte
    if transport is None:
        await asyncio.sleep(seconds)
        return
    transport.pause_reading()
    try:
        await asyncio.sleep(seconds)
    finally:
        if not transport.is_closing():
            transport.resume_reading()


async def _limit_error_body(response: httpx2.Response) -> None:
    """Truncate an error's body, which the SDK reads completely; prevent decompressing and decoding it.

    A compressed body, which is never requested, may be a bomb, and some declared charsets are no text encodings.
    """
    if response.status_code != 200:
        response.stream = _TruncatedStream(response.stream)
        for name in ("content-encoding", "content-type"):
            response.headers.pop(name, None)


class _TruncatedStream(httpx2.AsyncByteStream):
    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        remaining = MAX_REFUSAL_BYTES
        async for piece in self._stream:
            yield piece[:remaining]
            remaining -= len(piece)
            if remaining <= 0:
                return

    async def aclose(self) -> None:
        await self._stream.aclose()


def _scrub(text: str, key: str) -> str:
    """Return upstream's text for log and database: short, printable, without the key."""
    if key:
        text = text.replace(key, MASK)
    return storable(text)[:500]
