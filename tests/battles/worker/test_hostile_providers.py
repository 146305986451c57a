"""Invalid HTTP and calls that raise: one side fails with a code, the other one continues."""

import asyncio
import gzip
from collections.abc import Iterator
from typing import Unpack

import brotli
import pytest
from django.utils import timezone

from battles.models import Answer, Call
from battles.worker.runner import Engine
from models_registry.models import Breaker
from models_registry.providers import ChatProvider, ChatRequest, Completion, Receive
from models_registry.providers.base import StreamOptions
from tests import make
from tests.fake_provider import FakeProvider
from tests.models_registry.paid_models import accounts, paid_model
from tests.provider_streams import DONE, END, STOP, event, text
from tests.raw_server import CHUNKED, RawServer, chunked, refusal

pytestmark = pytest.mark.django_db(transaction=True)

TWO = text("one two")
JUNK = b"\x00JUNK\xff\r\n\r\n"


def deep(depth: int) -> bytes:
    return b"[" * depth + b"]" * depth


@pytest.fixture
def raw_server() -> Iterator[RawServer]:
    server = RawServer()
    yield server
    server.close()


def answer_beside_healthy_side(engine: Engine, provider: FakeProvider, at: str) -> Answer:
    """Answer a turn with a healthy left side; return the right answer."""
    battle = make.battle(make.model("honest", at=provider.base_url), make.model("raw", at=at))
    engine.answer(battle.turns.get().pk)
    left, right = Answer.objects.filter(turn__battle=battle).order_by("side__position").select_related("call")
    assert (left.state, left.text, left.error) == ("done", "one two three ", "")
    assert battle.turns.get().state == "done"
    return right


FAULTS: dict[str, tuple[bytes, bytes, str]] = {
    "oversized-header": (b"HTTP/1.1 200 OK\r\nX-A: " + b"a" * 100_000 + b"\r\n\r\n", b"", "malformed"),
    "endless-header": (b"HTTP/1.1 200 OK\r\nX-A: ", b"a" * 65_536, "malformed"),
    "endless-headers": (b"HTTP/1.1 200 OK\r\n", b"X-A: a\r\n" * 5_000, "malformed"),
    "endless-interim-responses": (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 1_000, "malformed"),
    "http-0.9": (b"data: hello\n\n", b"", "malformed"),
    "http-2": (b"\x00\x00\x12\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00d", b"", "malformed"),
    "nothing": (b"", b"", "unreachable"),
    "bad-chunk-size": (CHUNKED + b"zz\r\nhello", b"", "malformed"),
    "junk-after-last-chunk": (chunked(TWO) + JUNK, b"", "cut"),
    "endless-trailers": (chunked(TWO)[:-2], b"X: y\r\n" * 5_000, "malformed"),
    "negative-length": (b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", b"", "malformed"),
    "deep-unknown-field": (chunked(b'data: {"x": ' + deep(100_000) + b"}\n\n", END), b"", "malformed"),
    "deep-error": (chunked(b'data: {"error": ' + deep(100_000) + b"}\n\n", END), b"", "malformed"),
    "error-code-of-many-digits": (chunked(event(error={"code": "4" * 5_000}), DONE), b"", "provider_error"),
    "deep-refusal": (refusal(400, deep(20_000)), b"", "rejected"),
    "refusal-in-odd-charset": (refusal(401, b"no", b"Content-Type: text/plain; charset=zlib"), b"", "refused_key"),
    "refusal-not-gzip": (refusal(401, b"no", b"Content-Encoding: gzip"), b"", "refused_key"),
    "refusal-with-bad-date": (
        refusal(404, b"no", b"Retry-After: 1 Jan 9" + b"9" * 30 + b" 0:0:0"),
        b"",
        "unknown_address",
    ),
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[] if name in ("http-0.9", "bad-chunk-size") else [pytest.mark.slow]) for name in FAULTS],
)
def test_unreadable_response_fails_only_its_side(
    fake_provider: FakeProvider, engine: Engine, raw_server: RawServer, name: str
):
    reply, repeats, code = FAULTS[name]
    raw_server.answer_with(reply, repeats=repeats)
    right = answer_beside_healthy_side(engine, fake_provider, raw_server.base_url)
    assert (right.state, right.error) == ("failed", code)
    assert raw_server.requests == (1 if reply or repeats else 2)  # nothing was read, so it is tried again
    assert (right.call.state, right.call.error, right.call.attempt) == ("failed", code, 1)
    assert [breaker.reason for breaker in Breaker.objects.all()] == [code]


def test_unreadable_responses_free_slot_and_money(fake_provider: FakeProvider, engine: Engine, raw_server: RawServer):
    raw_server.answer_with(FAULTS["oversized-header"][0])
    model = paid_model("raw", at=raw_server.base_url, cap=50)
    model.provider.calls_at_once = 1
    model.provider.save()
    for _ in range(3):
        battle = make.battle(make.model("honest", at=fake_provider.base_url), model)
        engine.answer(battle.turns.get().pk)
    assert raw_server.requests == 3
    assert not Call.objects.holding_slots().exists()
    assert set(accounts().values()) <= {(0, 0)}
    engine.probe(Breaker.objects.get(model=model).pk)  # the neutral question
    assert Breaker.objects.get(model=model).opened_at is not None


@pytest.mark.parametrize("encoding", ["gzip", "br"])
def test_compressed_refusal_is_read_raw(
    fake_provider: FakeProvider, engine: Engine, raw_server: RawServer, caplog, encoding: str
):
    body = {"gzip": gzip.compress, "br": brotli.compress}[encoding](b"x" * 5_000_000)
    raw_server.answer_with(refusal(401, body, b"Content-Encoding: " + encoding.encode()))
    right = answer_beside_healthy_side(engine, fake_provider, raw_server.base_url)
    assert (right.state, right.error) == ("failed", "refused_key")
    assert "xxxxx" not in caplog.text


def test_impossible_token_counts_are_estimated_instead(
    fake_provider: FakeProvider, engine: Engine, raw_server: RawServer
):
    usage = b', "usage": {"prompt_tokens": NaN, "completion_tokens": 3}}\n\n'
    raw_server.answer_with(chunked(TWO, STOP.replace(b"}\n\n", usage), DONE))
    right = answer_beside_healthy_side(engine, fake_provider, raw_server.base_url)
    assert (right.state, right.text) == ("done", "one two")
    assert (right.call.prompt_tokens, right.call.completion_tokens, right.call.tokens_estimated) == (5, 3, True)


def test_provider_cookies_are_never_sent_back(fake_provider: FakeProvider, engine: Engine, raw_server: RawServer):
    raw_server.answer_with(
        chunked(TWO, END).replace(b"\r\n\r\n", b"\r\nSet-Cookie: a=\xff\xfe\r\nSet-Cookie: b=canary\r\n\r\n", 1)
    )
    for _ in range(2):
        right = answer_beside_healthy_side(engine, fake_provider, raw_server.base_url)
        assert (right.state, right.text) == ("done", "one two")
    assert b"cookie" not in raw_server.received.lower()


@pytest.mark.parametrize(("max_tokens", "max_characters"), [(1_000, 16_000), (10, 4_000)])
@pytest.mark.parametrize("is_too_long", [False, True])
def test_answer_far_beyond_its_token_cap_ends(
    fake_provider: FakeProvider,
    engine: Engine,
    raw_server: RawServer,
    settings,
    max_tokens: int,
    max_characters: int,
    is_too_long,
):
    settings.ARENA_MAX_TOKENS = max_tokens
    raw_server.answer_with(
        chunked(*[text("and on and on and on")] * (max_characters // 20), text("!" * is_too_long), END)
    )
    right = answer_beside_healthy_side(engine, fake_provider, raw_server.base_url)
    assert (right.state, right.error) == (("failed", "answer_too_long") if is_too_long else ("done", ""))
    assert len(right.text) <= max_characters


def test_reasoning_far_beyond_its_token_cap_ends(
    fake_provider: FakeProvider, engine: Engine, raw_server: RawServer, settings
):
    settings.ARENA_MAX_TOKENS = 1_000
    raw_server.answer_with(chunked(*[event({"reasoning": "hm " * 50})] * 500, END))
    right = answer_beside_healthy_side(engine, fake_provider, raw_server.base_url)
    assert (right.state, right.error, right.text) == ("failed", "answer_too_long", "")


class Raising:
    """Provider whose behaviour is the model's name: an exception, or a completion that cannot be stored."""

    async def stream(self, request: ChatRequest, receive: Receive, **options: Unpack[StreamOptions]) -> Completion:
        if request.model == "silent":
            raise KeyError
        receive("one two three", "")
        if request.model == "unstorable":
            return Completion(finish_reason="stop", request_id="x" * 10_000)
        if request.model != "healthy":
            raise {
                "cancelled": asyncio.CancelledError,
                "error": KeyError,
                "deep": RecursionError,
                "full": MemoryError,
            }[request.model]
        await asyncio.sleep(0.2)  # until the other side has failed
        return Completion(finish_reason="stop")

    async def close(self) -> None:
        pass


@pytest.fixture
def raising_engine(_tasks) -> Iterator[Engine]:
    provider: type[ChatProvider] = Raising
    made = Engine(provider)
    yield made
    made.close()
    made._loop.run_until_complete(made._loop.shutdown_default_executor())


@pytest.mark.processes
@pytest.mark.parametrize(
    ("name", "text", "error"),
    [
        ("error", "one two three", "malformed"),
        ("deep", "one two three", "malformed"),
        ("full", "one two three", "malformed"),
        ("cancelled", "one two three", "malformed"),
        ("unstorable", "", "interrupted"),
    ],
)
def test_exception_in_one_call_fails_only_its_side(raising_engine: Engine, name: str, text: str, error: str):
    battle = make.battle(make.model("healthy"), make.model(name))
    raising_engine.answer(battle.turns.get().pk)
    ended = Answer.objects.filter(turn__battle=battle).order_by("side__position")
    assert [(answer.state, answer.text, answer.error) for answer in ended] == [
        ("done", "one two three", ""),
        ("failed", text, error),
    ]
    turn = battle.turns.get()
    assert (turn.state, turn.attempt) == ("done", 1)
    assert not Call.objects.unfinished().exists()


@pytest.mark.processes
def test_redrawn_side_that_cannot_be_stored_fails(raising_engine: Engine, settings):
    settings.ARENA_BUDGETS = {**settings.ARENA_BUDGETS, "site": None, "visitor": None}
    failing, healthy = make.model("silent"), make.model("healthy")
    paid_model("unstorable", cap=50)
    battle = make.battle(healthy, failing)
    raising_engine.answer(battle.turns.get().pk)
    right = Answer.objects.get(turn__battle=battle, side__position="right")
    assert (right.side.model.upstream_name, right.state, right.error) == ("unstorable", "failed", "interrupted")
    assert not Call.objects.unfinished().exists()
    assert {reserved for reserved, _spent in accounts().values()} == {0}


def test_exception_in_a_probe_keeps_the_breaker_open(raising_engine: Engine):
    breaker = Breaker.objects.create(model=make.model("error"), opened_at=timezone.now(), probe_at=timezone.now())
    raising_engine.probe(breaker.pk)
    breaker.refresh_from_db()
    assert (breaker.opened_at is not None, breaker.reason) == (True, "malformed")
    assert Call.objects.get().state == "failed"
