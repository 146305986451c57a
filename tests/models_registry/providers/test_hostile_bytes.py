"""Hostile bytes end each kind of call to a provider with a result or with the call's own error."""

import asyncio
import contextlib
import json
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from models_registry.health import reachability
from models_registry.providers import ChatRequest, ProviderError, catalogue_page
from models_registry.providers.catalogue import CatalogueRefused
from models_registry.providers.kinds import ProviderKind
from models_registry.providers.moderations import request_moderation
from models_registry.providers.openai_compatible import OpenAICompatible
from tests.fake_provider import FakeProvider
from tests.provider_streams import TWO, event, text
from tests.raw_server import RawServer, chunked, refusal

USAGE = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 12}
BODIES = [
    {"data": [{"id": "honest", "pricing": {"prompt": "0.1"}, "context_length": 7, "aliases": ["x"]}]},
    {"models": [{"model": "a", "details": {"parameter_size": "3.2B"}, "capabilities": ["completion"]}]},
    {"results": [{"category_scores": {"violence": 0.9}}], "model": "judge"},
    {"error": {"message": "context length exceeded", "code": 400}},
]
_STATUS_LINE = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: identity\r\n\r\n"
REPLIES = [
    chunked(TWO, event({}, "stop", usage=USAGE), b"data: [DONE]\n\n"),
    chunked(event({"reasoning": "hm"}), text("<think>"), event({"content": [{"type": "text", "text": "x"}]}), b": x\n"),
    chunked(event(error={"code": "429", "message": "slow down"})),
    *(refusal(status, json.dumps(BODIES[-1]).encode(), b"Retry-After: 0.1") for status in (400, 404, 529)),
    *(_STATUS_LINE + json.dumps(body).encode() for body in BODIES),
]
ODDITIES = [
    b"\r\n", b"\r\n\r\n", b"\n\n", b"\x00", b"\xff\xfe", b"data: ", b"[" * 30_000, b'{"a":' * 2_000, b"NaN", b"-1",
    b"1e999", b"9" * 400, b"9" * 5_000, b"null", b"true", b'"', b"\\ud83d", b"0\r\n\r\n", b"ffffffffffffffff\r\n",
    b"5;x=" + b"y" * 9_000, b"X" * 9_000, b"Content-Length: 5\r\n", b"Content-Encoding: gzip\r\n",
    b"Content-Encoding: br\r\n", b"Transfer-Encoding: gzip\r\n", b"Content-Type: text/plain; charset=zlib\r\n",
    b"Retry-After: nan\r\n", b"Set-Cookie: a=\xff; expires=9\r\n", b"Location: http://[::1\r\n",
    b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 101 Up\r\nUpgrade: x\r\n\r\n",
]  # fmt: skip


@st.composite
def soups(draw: st.DrawFn) -> bytes:
    """Generate a valid reply with some slices replaced, or random bytes."""
    soup = draw(st.sampled_from(REPLIES) | st.binary(max_size=200))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(soup)))
        end = min(len(soup), start + draw(st.sampled_from([0, 0, 1, 5, 40])))
        filling = draw(st.sampled_from(ODDITIES) | st.binary(max_size=5) | st.just(soup[start : start + 60]))
        soup = soup[:start] + filling + soup[end:]
    return soup


FEW = settings(max_examples=50, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def server() -> Iterator[RawServer]:
    made = RawServer()
    yield made
    made.close()


def stream(at: str) -> None:
    """Call a model at this URL. Raises ProviderError."""
    request = ChatRequest(
        at, "sk-a-key-of-some-length", "m", [{"role": "user", "content": "hi"}], {"max_tokens": 100},
        {"connect": 5, "first": 5, "idle": 5, "total": 10},
    )  # fmt: skip

    async def call() -> None:
        provider = OpenAICompatible()
        try:
            await provider.stream(request, lambda text, reasoning: 0.0)
        finally:
            await provider.close()

    asyncio.run(call())


@pytest.mark.slow
@FEW
@given(soup=soups())
def test_byte_soup_ends_a_call_with_a_code(server: RawServer, soup: bytes):
    server.answer_with(soup)
    with contextlib.suppress(ProviderError):
        stream(server.base_url)


@pytest.mark.slow
@FEW
@given(soup=soups())
def test_byte_soup_ends_moderation_with_a_code(server: RawServer, soup: bytes):
    server.answer_with(soup)
    with contextlib.suppress(ProviderError):
        request_moderation(server.base_url, key="", model="", texts=["a"], seconds=10)


@FEW
@given(soup=soups())
def test_byte_soup_ends_discovery_with_a_sentence(server: RawServer, soup: bytes):
    server.answer_with(soup)
    with contextlib.suppress(CatalogueRefused):
        catalogue_page.fetch(server.base_url, key="", kind=ProviderKind.OTHER)


@pytest.mark.slow
@FEW
@given(soup=soups())
def test_byte_soup_hides_no_other_server(server: RawServer, fake_provider: FakeProvider, soup: bytes):
    server.answer_with(soup)
    replies = reachability.Replies()
    reachability._probe(set(map(reachability.Target, [server.base_url, fake_provider.base_url])), replies)
    assert reachability.Target(fake_provider.base_url) in replies.answering


def test_score_of_many_digits_ends_moderation_with_a_code(server: RawServer):
    server.answer_with(_STATUS_LINE + b'{"results": [{"category_scores": {"violence": %s}}]}' % (b"9" * 400))
    with pytest.raises(ProviderError) as failed:
        request_moderation(server.base_url, key="", model="", texts=["a"], seconds=10)
    assert failed.value.code == "malformed"
