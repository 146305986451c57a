"""Provider for endpoints with OpenAI's chat completions API.

The SDK's HTTP client sends the request, but the SDK does not read the stream: it accepts truncated streams, HTML and
error bodies as answers, and waits forever while comments arrive.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from functools import lru_cache
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Unpack, cast

import httpx2
import msgspec
from aiohttp import ClientResponseError, ClientSession
from openai import AsyncOpenAI, DefaultAioHttpClient
from openai._vendor.httpx_aiohttp.transport import AiohttpResponseStream, AiohttpTransport

from common import tracing
from models_registry.providers import connections, refusals, repairs
from models_registry.providers.base import (
    ChatRequest,
    Completion,
    FailureCode,
    ProviderError,
    Receive,
    StreamOptions,
    is_over_context,
)
from models_registry.providers.oddities import Oddity
from models_registry.providers.reading.answer_reader import AnswerReader, scrub
from models_registry.providers.reasoning_back import sent_messages
from models_registry.providers.refusal_words import public_words
from models_registry.providers.refused_parts import IMAGES

logger = logging.getLogger(__name__)

MAX_REFUSAL_BYTES = 64_000
# A server that closes a new connection without an answer is as a proxy's 502.
UNANSWERED = 502
MAX_ENDPOINTS = 100
# The stream is read raw, so it must not be compressed, which would also delay its pieces.
IDENTITY = {"Accept-Encoding": "identity"}


class OpenAICompatible:
    """Provider that keeps its connections; one per event loop."""

    def __init__(self) -> None:
        # A client for each ChatRequest.allows_private: a team must not reuse a connection into a private network.
        self._clients: dict[bool | None, httpx2.AsyncClient] = {None: _new_client(None)}
        self._sdk = AsyncOpenAI(
            api_key="none", base_url="http://unused", max_retries=0, http_client=self._clients[None]
        )
        self._endpoint = lru_cache(MAX_ENDPOINTS)(self._new_endpoint)

    def _new_endpoint(self, base_url: str, key: str) -> tuple[httpx2.URL, dict[str, str]]:
        """Return a provider's address and headers, as the SDK's."""
        client = self._sdk.with_options(base_url=base_url, api_key=key)
        headers = {name: value for name, value in client.default_headers.items() if isinstance(value, str)}
        headers |= {"Authorization": f"Bearer {key}"} | IDENTITY
        return httpx2.URL(f"{base_url.rstrip('/')}/chat/completions"), headers

    def _client(self, allows_private: bool | None) -> httpx2.AsyncClient:
        if allows_private not in self._clients:
            self._clients[allows_private] = _new_client(allows_private)
        return self._clients[allows_private]

    async def close(self) -> None:
        for client in self._clients.values():
            await client.aclose()

    async def stream(self, request: ChatRequest, receive: Receive, **options: Unpack[StreamOptions]) -> Completion:
        answer = AnswerReader(request, receive, options)
        try:
            await self._call_until_end(request, answer)
        except ProviderError as error:
            public_error = _public_error(error, request)
            if public_error.parameter in _REFUSED_ABILITIES:
                answer.completion.oddities.add(_REFUSED_ABILITIES[public_error.parameter])
            raise public_error from None
        finally:
            answer.deadlines.stop()
            answer.flush()
        answer.completion.request_id = scrub(answer.completion.request_id, request.key)
        return answer.completion

    async def _call_until_end(self, request: ChatRequest, answer: AnswerReader) -> None:
        try:
            async with asyncio.timeout(None) as answer.deadlines.timeout:
                answer.deadlines.set(FailureCode.FIRST_TIMEOUT)
                await self._call_with_retry(request, answer)
        except (ClientResponseError, httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:
            if not answer.is_whole:
                raise _error_for(error, answer) from None
            answer.end_untidily()

    async def _call_with_retry(self, request: ChatRequest, answer: AnswerReader) -> None:
        """Call, within the same deadlines; repeat without a refused part, and once if the provider was only busy."""
        repaired = answer.completion.repaired
        has_waited = False
        while True:
            try:
                await self._call(request, answer)
            except _Refused as refused:
                error = refused.as_provider_error()
            except ProviderError as in_stream:
                if not repairs.find_repair(in_stream, request) or not answer.restart():
                    raise
                error = in_stream
            except httpx2.HTTPError as failure:
                if not connections.unanswered(failure):
                    raise
                error = ProviderError(FailureCode.UNREACHABLE, str(failure), status=UNANSWERED)
            else:
                return
            repair = repairs.find_repair(error, request)
            if repair and repair not in repaired and len(repaired) < repairs.MAX_REPAIRS:
                logger.info("repeat with the repair %s", repair)
                request = repairs.apply_repair(repair, request)
                repaired.append(repair)
                continue
            delay = refusals.retry_delay_s(error.status, error.retry_after) if refusals.may_help(error) else None
            if has_waited or delay is None or delay >= answer.deadlines.seconds_left:
                raise error
            logger.info("retry after HTTP %s", error.status)
            await asyncio.sleep(delay)
            has_waited = True

    async def _call(self, request: ChatRequest, answer: AnswerReader) -> None:
        # Not by the SDK's method, which took half of a call's CPU: docs/adr/0059.
        url, headers = self._endpoint(request.base_url, request.key or "none")
        if request.sends_trace and (place := tracing.current_traceparent()):
            headers = headers | {"traceparent": place}
        body = {"model": request.model, "stream": True, **request.parameters, "messages": sent_messages(request)}
        timeout = httpx2.Timeout(None, connect=request.deadlines["connect"])
        response = await self._client(request.allows_private).send(
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

    async def _read(self, response: httpx2.Response, answer: AnswerReader) -> None:
        """Raises _Refused for an error's status."""
        if not response.is_success:
            await response.aread()
            raise _Refused(response)
        if response.status_code in (204, 205):
            raise refusals.error_for_status(response.status_code, "")
        headers = response.headers
        answer.completion.request_id = (headers.get("x-request-id") or "")[:200]
        answer.begin(content_type=headers.get("content-type", ""), encoding=headers.get("content-encoding", ""))
        try:
            async for piece in response.aiter_raw():
                if answer.feed(piece):
                    return
                if answer.pause_s:
                    await _pause(response, answer.pause_s)
        except httpx2.HTTPError:
            if not answer.feed(connections.take_unread(response.extensions["aiohttp"])):
                raise
            return
        answer.end_of_stream()


def _error_for(error: Exception, answer: AnswerReader) -> ProviderError:
    """Return the error for one of a library, with its words."""
    if isinstance(error, TimeoutError):
        return ProviderError(answer.deadlines.code)
    if isinstance(error, ClientResponseError):  # aiohttp's error for bytes that are not HTTP
        return ProviderError(FailureCode.MALFORMED, error.message)
    code = answer.connection_error_code
    if connections.is_address_refused(error):
        code = FailureCode.ADDRESS_REFUSED
    elif connections.is_invalid_http(error):
        code = FailureCode.MALFORMED
    return ProviderError(code, str(error.__cause__ or error))


class _Refused(Exception):
    """Raised for a status other than 2xx; the response is read."""

    def __init__(self, response: httpx2.Response) -> None:
        super().__init__(response.status_code)
        self.response = response

    def as_provider_error(self) -> ProviderError:
        response = self.response
        return refusals.error_for_status(response.status_code, response.text, headers=response.headers)


# Failures that the estimate of a prompt's length explains.
_UNEXPLAINED = {FailureCode.REJECTED, FailureCode.PROVIDER_ERROR, FailureCode.UNSUPPORTED}


_REFUSED_ABILITIES = {IMAGES: Oddity.IMAGES_REFUSED, "tools": Oddity.TOOLS_REFUSED}


def _public_error(error: ProviderError, request: ChatRequest) -> ProviderError:
    """Return the error with a shortened text without the key, and the code that the request itself explains."""
    code, parameter = error.code, error.parameter
    if code in _UNEXPLAINED and is_over_context(request):
        code, parameter = FailureCode.PROMPT_TOO_LONG, ""
    elif code is FailureCode.UNSUPPORTED and not repairs.is_part_of(parameter, request):
        code, parameter = FailureCode.REJECTED, ""
    upstream = scrub(error.upstream, request.key)
    return ProviderError(
        code, upstream, retry_after=error.retry_after, status=error.status, parameter=parameter,
        words=public_words(error.words, request),
    )  # fmt: skip


def _new_client(allows_private: bool | None) -> httpx2.AsyncClient:
    return DefaultAioHttpClient(
        follow_redirects=False,
        trust_env=False,
        timeout=None,
        transport=_Transport(allows_private),
        event_hooks={"response": [_limit_error_body]},
        # Cookies would be sent with every later call to the host, also with another key.
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
    )


class _Transport(AiohttpTransport):
    """The SDK's transport with connections of models_registry.providers.connections."""

    def __init__(self, allows_private: bool | None, *, is_fresh: bool = False) -> None:
        super().__init__(trust_env=False)
        self._allows_private = allows_private
        self._is_fresh = is_fresh  # each request has a connection of its own
        self._fresh = None if is_fresh else _Transport(allows_private, is_fresh=True)

    def get_client(self) -> ClientSession:
        return connections.new_session(
            allows_private=self._allows_private, ssl=self.ssl_context, force_close=self._is_fresh
        )

    async def aclose(self) -> None:
        await super().aclose()
        if self._fresh is not None:
            await self._fresh.aclose()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Put aiohttp's response among the extensions."""
        try:
            response = await super().handle_async_request(request)
        except httpx2.HTTPError as error:
            closed = connections.unanswered(error)
            if self._fresh is None or closed is None or not closed.was_idle:
                raise
            # The server closed an idle connection when this request was on its way.
            return await self._fresh.handle_async_request(request)
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
    if not response.is_success:
        response.stream = _TruncatedStream(cast("httpx2.AsyncByteStream", response.stream))
        for name in ("content-encoding", "content-type"):
            response.headers.pop(name, None)


class _TruncatedStream(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
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
