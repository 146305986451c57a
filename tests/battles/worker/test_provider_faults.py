"""Faults of providers: the side ends in time, with a code and a message."""

import socket
import time
import tracemalloc
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from battles.models import Answer, Call
from battles.worker.runner import Engine
from models_registry.health.failure_messages import FAILURE_MESSAGES
from models_registry.providers import FailureCode
from tests import make
from tests.fake_provider import FakeProvider

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

# Longer than a test may take: each fault ends by itself or at the one deadline that is shortened for it.
LONG_DEADLINES = {"connect": 900, "first": 900, "idle": 900, "total": 900}
LIMITS = {"connect": 0.5, "first": 0.5, "idle": 0.8, "total": 1.5}


@dataclass
class Outcome:
    state: str
    error: str
    text: str
    reasoning: str
    after_s: float
    call: Call


@pytest.fixture(autouse=True)
def _long_deadlines(settings):
    settings.ARENA_DEADLINES = LONG_DEADLINES
    settings.ARENA_MAX_TOKENS = 30_000  # so that very long answers end by other limits


def answer_with(engine: Engine, model: str, at: str) -> Outcome:
    battle = make.battle(make.model("refused", at="http://127.0.0.1:9/v1"), make.model(model, at=at))
    turn = battle.turns.get()
    began = time.monotonic()
    engine.answer(turn.pk)
    took = time.monotonic() - began
    turn.refresh_from_db()
    assert turn.state == "done"
    answer = Answer.objects.select_related("call").get(turn=turn, side__position="right")
    return Outcome(answer.state, answer.error, answer.text, answer.reasoning, took, answer.call)


# Model of the fake provider, failure code, the deadline that ends it (or "": it ends by itself), start of the text.
FAULTS = [
    ("hang-after-0", "first_timeout", "first", ""),
    ("silent", "first_timeout", "first", ""),
    ("comments", "first_timeout", "first", ""),
    ("drip-from-the-start", "first_timeout", "first", ""),
    ("hang-after-2", "idle_timeout", "idle", "one two "),
    ("drip", "idle_timeout", "idle", "one "),
    ("comments-after-text", "idle_timeout", "idle", "one "),
    ("null-events-forever", "idle_timeout", "idle", "one "),
    ("talks-on-forever", "total_timeout", "total", "on on "),
    ("status-500", "provider_error", "", ""),
    ("status-503", "provider_error", "", ""),
    ("status-429", "rate_limited", "", ""),
    ("later-3600", "rate_limited", "", ""),
    ("status-408", "provider_error", "", ""),
    ("status-400", "rejected", "", ""),
    ("status-401", "refused_key", "", ""),
    ("status-402", "account", "", ""),
    ("status-403", "forbidden", "", ""),
    ("status-404", "unknown_address", "", ""),
    ("status-413", "prompt_too_long", "", ""),
    ("status-204", "not_a_stream", "", ""),
    ("redirect", "redirected", "", ""),
    ("html", "not_a_stream", "", ""),
    ("json-error", "provider_error", "", ""),
    ("malformed", "malformed", "", ""),
    ("truncated-json", "malformed", "", "one "),
    ("no-json", "empty", "", ""),
    ("deep-json", "malformed", "", ""),
    ("wrong-types", "empty", "", ""),
    ("nan", "empty", "", ""),
    ("ends-inside-an-event", "cut", "", "one "),
    ("cut-inside-an-event", "cut", "", "one "),
    ("cut-after-2", "cut", "", "one two "),
    ("chunked-cut", "cut", "", "one two"),
    ("reset", "cut", "", "one two"),
    ("no-finish", "cut", "", "one two three "),
    ("done-without-finish", "cut", "", "one two"),
    ("not-one-byte", "cut", "", ""),
    ("null-choices-only", "cut", "", ""),
    ("finish-error", "provider_error", "", "one two"),
    ("error-event", "provider_error", "", "one "),
    ("error-event-at-once", "provider_error", "", "one "),
    ("error-event-429", "rate_limited", "", ""),
    ("error-event-named", "provider_error", "", ""),
    ("empty", "empty", "", ""),
    ("nothing", "empty", "", ""),
    ("whitespace", "empty", "", " \n\n "),
    ("only-thoughts", "only_reasoning", "", ""),
    ("tool-calls", "tool_calls", "", ""),
    ("filtered", "filtered", "", ""),
    ("refused-prompt", "filtered", "", ""),
]


@pytest.mark.parametrize(("model", "code", "limit", "text"), [pytest.param(*fault, id=fault[0]) for fault in FAULTS])
def test_fault_fails_side_with_code_within_deadline(
    fake_provider: FakeProvider, engine: Engine, settings, model: str, code: str, limit: str, text: str
):
    settings.ARENA_DEADLINES = LONG_DEADLINES | ({limit: LIMITS[limit]} if limit else {})
    ended = answer_with(engine, model, fake_provider.base_url)
    assert (ended.state, ended.error) == ("failed", code)
    assert ended.text.startswith(text)
    assert bool(ended.text) == bool(text)
    assert (ended.call.state, ended.call.error) == ("failed", code)
    assert ended.after_s < 60  # neither another deadline nor a long pause before a retry


@pytest.mark.parametrize(
    ("model", "code"),
    [
        ("endless-line", "malformed"),
        ("endless-event", "answer_too_long"),
        ("endless-comments", "answer_too_long"),
        ("endless-answer", "answer_too_long"),
        ("endless-thoughts", "answer_too_long"),
        ("endless-refusal", "provider_error"),
    ],
)
def test_endless_response_fails_with_bounded_memory(fake_provider: FakeProvider, engine: Engine, model: str, code: str):
    tracemalloc.start()
    try:
        ended = answer_with(engine, model, fake_provider.base_url)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (ended.state, ended.error) == ("failed", code)
    assert len(ended.text) <= 400_000
    assert peak < 40_000_000


TWO = "one two"
VALID_STREAMS = [
    ("no-final-blank-line", TWO, "stop"),
    ("said-twice", TWO, "stop"),
    ("roles-and-nulls", TWO, "stop"),
    ("null-choices", TWO, "stop"),
    ("null-error", TWO, "stop"),
    ("crlf", TWO, "stop"),
    ("cr", TWO, "stop"),
    ("byte-by-byte", "héé 🎉", "stop"),
    ("byte-by-byte-crlf", "héé 🎉", "stop"),
    ("all-at-once", TWO, "stop"),
    ("two-data-lines", TWO, "stop"),
    ("comments-between", TWO, "stop"),
    ("other-fields", TWO, "stop"),
    ("surrogates", "\ufffd half", "stop"),
    ("nul", "a\ufffdb", "stop"),
    ("bidi", "a\u202eb\u2066c", "stop"),
    ("combining", "e" + "\u0301" * 100_000, "stop"),
    ("broken-utf8", "a\ufffd", "stop"),
    ("text-and-tool-calls", TWO, "tool_calls"),
    ("no-tool-calls", TWO, "stop"),
    ("length", TWO, "length"),
    ("content-filter", TWO, "content_filter"),
    ("eos", TWO, "stop"),
    ("end-turn", TWO, "stop"),
    ("finish-with-the-text", TWO, "stop"),
]


@pytest.mark.parametrize(("model", "text", "finish"), VALID_STREAMS, ids=[model for model, *_ in VALID_STREAMS])
def test_unusual_valid_stream_is_read(fake_provider: FakeProvider, engine: Engine, model: str, text: str, finish: str):
    ended = answer_with(engine, model, fake_provider.base_url)
    assert (ended.state, ended.error, ended.text, ended.call.finish_reason) == ("done", "", text, finish)


@pytest.mark.parametrize(
    "model", ["reasoning-content", "reasoning", "think-tag", "think-tag-at-once", "mistrals-parts"]
)
def test_reasoning_is_separated_from_answer(fake_provider: FakeProvider, engine: Engine, model: str):
    ended = answer_with(engine, model, fake_provider.base_url)
    assert (ended.state, ended.reasoning, ended.text) == ("done", "let me see", TWO)
    assert (ended.call.completion_tokens, ended.call.reasoning_tokens, ended.call.answer_tokens) == (6, 4, 2)


@pytest.mark.parametrize(
    ("model", "is_estimated"),
    [
        ("usage-in-the-last", False),
        ("usage-growing", False),
        ("usage-of-groq", False),
        ("usage-null", True),
        ("all-at-once", True),
    ],
)
def test_tokens_come_from_last_usage_or_estimate(
    fake_provider: FakeProvider, engine: Engine, model: str, is_estimated: bool
):
    call = answer_with(engine, model, fake_provider.base_url).call
    assert call.tokens_estimated == is_estimated
    assert (call.prompt_tokens, call.completion_tokens) == ((5, 3) if is_estimated else (7, 3))


@pytest.mark.parametrize(("model", "reasoning"), [("usage-with-reasoning", 60), ("usage-of-gemini", 60)])
def test_hidden_reasoning_is_paid_and_not_in_answer_tokens(
    fake_provider: FakeProvider, engine: Engine, model: str, reasoning: int
):
    call = answer_with(engine, model, fake_provider.base_url).call
    assert (call.prompt_tokens, call.completion_tokens) == (7, 63)
    assert (call.reasoning_tokens, call.answer_tokens) == (reasoning, 3)


def test_reasoning_extends_first_token_deadline(fake_provider: FakeProvider, engine: Engine, settings):
    settings.ARENA_DEADLINES = LONG_DEADLINES | {"first": 1.9}
    ended = answer_with(engine, "thinks-two-seconds", fake_provider.base_url)
    assert (ended.state, ended.text) == ("done", TWO)
    assert ended.call.first_token_ms >= 2000, "reasoning is not counted as the first token"


@pytest.mark.parametrize("status", [429, 500, 503])
def test_busy_provider_is_retried_once(fake_provider: FakeProvider, engine: Engine, status: int):
    ended = answer_with(engine, f"busy-once-{status}", fake_provider.base_url)
    assert (ended.state, ended.text) == ("done", "one two three ")
    assert fake_provider.calls[f"busy-once-{status}"] == 2


@pytest.mark.parametrize(
    ("model", "requests"),
    [("status-500", 2), ("status-400", 1), ("later-3600", 1), ("redirect", 1), ("cut-after-0", 1), ("error-event", 1)],
)
def test_only_temporary_refusal_is_retried(fake_provider: FakeProvider, engine: Engine, model: str, requests: int):
    assert answer_with(engine, model, fake_provider.base_url).state == "failed"
    assert fake_provider.calls == {model: requests}


def test_retry_after_beyond_deadline_fails_at_once(fake_provider: FakeProvider, engine: Engine, settings):
    settings.ARENA_DEADLINES = LONG_DEADLINES | {"first": 4.5}
    ended = answer_with(engine, "later-4.9", fake_provider.base_url)
    assert (ended.state, ended.error) == ("failed", "rate_limited")
    assert fake_provider.calls == {"later-4.9": 1}


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """Bound socket that accepts no connection."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound


def test_silent_server_fails_at_first_token_deadline(listener: socket.socket, engine: Engine, settings):
    settings.ARENA_DEADLINES = LONG_DEADLINES | {"first": LIMITS["first"]}
    listener.listen(5)
    ended = answer_with(engine, "honest", f"http://127.0.0.1:{listener.getsockname()[1]}/v1")
    assert (ended.state, ended.error) == ("failed", "first_timeout")
    assert ended.after_s >= LIMITS["first"]


def test_full_backlog_fails_at_connect_deadline(listener: socket.socket, engine: Engine, settings):
    settings.ARENA_DEADLINES = LONG_DEADLINES | {"connect": LIMITS["connect"]}
    listener.listen(0)
    with socket.socket() as first, socket.socket() as second:  # they fill the queue
        for connection in (first, second):
            connection.setblocking(False)
            connection.connect_ex(listener.getsockname())
        ended = answer_with(engine, "honest", f"http://127.0.0.1:{listener.getsockname()[1]}/v1")
    assert (ended.state, ended.error) == ("failed", "unreachable")


@pytest.mark.parametrize("host", ["127.0.0.1:9", "no-such-host.invalid", f"{'x' * 64}.invalid", "\u202e.invalid"])
def test_missing_provider_is_unreachable(engine: Engine, host: str):
    ended = answer_with(engine, "honest", f"http://{host}/v1")
    assert (ended.state, ended.error) == ("failed", "unreachable")


def test_every_failure_code_has_a_sentence():
    assert FAILURE_MESSAGES.keys() == set(FailureCode)
    assert all(str(words).endswith(".") for words in FAILURE_MESSAGES.values())
