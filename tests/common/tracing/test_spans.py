import asyncio
import json
import logging
import time
from typing import Any

import pytest
from django.core.checks import run_checks

from common import logs, tracing
from common.tracing import pipeline, service
from common.tracing.names import Attribute, EventName, SpanName
from common.tracing.traceparent import LENGTH, TraceParent, parse
from common.valkey import counters
from tests.worlds.otlp_sink import OtlpSink

PARENT = f"00-{7:032x}-{9:016x}-01"
UNSAMPLED = f"00-{7:032x}-{9:016x}-00"


def dropped() -> int:
    return counters._pending[pipeline.DROPPED] + counters.read().get(pipeline.DROPPED, {}).get((), 0)


def test_names_are_those_of_the_decision():
    assert [*SpanName] == [
        "{method} {route}", "start battle", "cast vote", "turn", "chat {model}", "store", "aggregate", "gateway",
    ]  # fmt: skip
    assert [*EventName] == ["queued"]
    assert sorted(Attribute) == [
        "arena.attempt", "arena.cost", "arena.mode", "arena.origin", "arena.side", "arena.waited", "enduser.id",
        "error.type", "gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.max_tokens",
        "gen_ai.request.model", "gen_ai.request.temperature", "gen_ai.response.finish_reasons",
        "gen_ai.response.id", "gen_ai.response.time_to_first_chunk",
        "gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens", "gen_ai.usage.reasoning.output_tokens",
        "http.request.method", "http.response.status_code", "http.route",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (PARENT, TraceParent(7, 9, True)),
        (UNSAMPLED, TraceParent(7, 9, False)),
        (PARENT[:-2] + "03", TraceParent(7, 9, True)),
        (PARENT.upper().replace("7", "A"), None),
        (PARENT.replace("7", "0"), None),
        ("01" + PARENT[2:], None),
        (PARENT + "-more", None),
        (PARENT + "\n", None),
        ("", None),
    ],
)
def test_traceparent_is_parsed_strictly(text: str, expected: TraceParent | None):
    assert parse(text) == expected
    if expected:
        assert len(str(expected)) == LENGTH
        assert parse(str(expected)) == expected


def test_off_carries_nothing():
    assert not tracing.is_on()
    with tracing.span("turn", parent=PARENT) as span:
        assert span is tracing.NO_SPAN
        assert tracing.current_traceparent() == ""


def test_spans_nest_across_tasks_and_threads(traced: OtlpSink):
    def in_thread() -> None:
        with tracing.span("store"):
            pass

    async def side(name: str) -> None:
        with tracing.span(name, is_client=True):
            await asyncio.to_thread(in_thread)

    async def run() -> None:
        with tracing.span("turn", {Attribute.ATTEMPT: 2, Attribute.COST: None}, parent=PARENT):
            await asyncio.gather(side("chat left"), side("chat right"))
        assert tracing.current_place() is None

    asyncio.run(run())
    received = traced.wait_for(f"{7:032x}", turn=1, chat=2, store=2)
    by_name = {span.name: span for span in received}
    assert (by_name["turn"].parent, by_name["turn"].attributes) == (f"{9:016x}", {"arena.attempt": 2})
    assert {span.parent for span in received if span.is_client} == {by_name["turn"].id}
    calls = {span.id for span in received if span.is_client}
    assert {span.parent for span in received if span.name == "store"} == calls


def test_lines_of_logs_have_trace_and_span(traced: OtlpSink):
    record = logging.LogRecord("arena", logging.INFO, __file__, 1, "a line", (), None)
    with tracing.span("turn", parent=PARENT) as span:
        line = json.loads(logs.formatter("json").format(record))
    assert span.place is not None
    assert (line["trace_id"], line["span_id"]) == (f"{7:032x}", f"{span.place.span_id:016x}")
    assert "trace_id" not in json.loads(logs.formatter("json").format(record))


def test_error_is_named_without_its_message(traced: OtlpSink):
    with pytest.raises(ValueError, match="canary"), tracing.span("store", parent=PARENT):
        raise ValueError("a canary of a prompt")
    [span] = traced.wait_for(f"{7:032x}", store=1)
    assert (span.has_failed, span.attributes, span.events) == (True, {"error.type": "ValueError"}, ())
    assert b"canary" not in b"".join(traced.bodies)


def test_unsampled_parent_is_passed_on_and_not_sent(traced: OtlpSink):
    with tracing.span("turn", parent=UNSAMPLED) as span:
        assert (span.is_recording, tracing.current_traceparent()) == (False, UNSAMPLED)
        with tracing.span("store"):
            assert tracing.current_traceparent() == UNSAMPLED
    service.stop()
    assert traced.spans == []


def test_share_of_traces_is_sampled_whole(sink: OtlpSink, settings: Any):
    settings.ARENA_TRACES_ENDPOINT, settings.ARENA_TRACES_RATIO = f"{sink.url}/v1/traces", 0.5
    service.start("of-tests")
    for _ in range(200):
        with tracing.span("turn"), tracing.span("store"):
            pass
    service.stop()
    assert 40 < len(sink.spans) / 2 < 160  # p < 1e-15
    assert all(len(sink.trace(span.trace)) == 2 for span in sink.spans)


def test_person_is_a_pseudonym_of_the_month(traced: OtlpSink):
    with tracing.span("cast vote", parent=PARENT, person="user:4711"):
        pass
    [span] = traced.wait_for(f"{7:032x}", cast=1)
    assert span.attributes == {"enduser.id": pipeline.pseudonym("user:4711")}
    assert pipeline.pseudonym("user:4711") != pipeline.pseudonym("user:4712")


def test_full_queue_and_refusals_drop_and_count(traced: OtlpSink, monkeypatch: pytest.MonkeyPatch):
    traced.behaviour = "refusing"
    before = dropped()
    with tracing.span("turn"):
        pass
    deadline = time.monotonic() + 20
    while dropped() == before and time.monotonic() < deadline:
        time.sleep(0.02)
    assert dropped() == before + 1
    monkeypatch.setattr(pipeline, "MAX_WAITING", 0)
    with tracing.span("turn"):
        pass
    assert dropped() == before + 2


def test_hanging_collector_delays_neither_spans_nor_exit(traced: OtlpSink, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pipeline, "SHUTDOWN_TIMEOUT_S", 0.05)
    traced.behaviour = "hanging"
    before = dropped()
    for _ in range(pipeline.MAX_WAITING + pipeline.BATCH + 1):
        with tracing.span("turn"):
            pass
    service.stop()  # the test's time-out is the bar
    assert dropped() > before


@pytest.mark.parametrize(
    ("endpoint", "ratio", "message"),
    [
        ("collector:4317", 0.05, "is not an address like http://collector:4318"),
        ("http://collector/v1/traces", 1.5, "is not a number from 0 to 1"),
        ("http://collector/v1/traces", float("nan"), "is not a number from 0 to 1"),
    ],
)
def test_wrong_setting_is_named_and_traces_are_off(
    settings: Any, caplog: pytest.LogCaptureFixture, endpoint: str, ratio: float, message: str
):
    settings.ARENA_TRACES_ENDPOINT, settings.ARENA_TRACES_RATIO = endpoint, ratio
    [warning] = [found for found in run_checks() if found.id == "common.W001"]
    assert message in warning.msg
    with caplog.at_level(logging.WARNING, "common.tracing.service"):
        service.start("of-tests")
    assert message in caplog.text
    assert not tracing.is_on()


def test_missing_package_is_named(settings: Any, monkeypatch: pytest.MonkeyPatch):
    settings.ARENA_TRACES_ENDPOINT = "http://127.0.0.1:4318/v1/traces"
    monkeypatch.setattr(service, "find_spec", lambda name: None)
    assert "Install the extra “otel”" in service.check_traces()[0].msg
    service.start("of-tests")
    assert not tracing.is_on()
