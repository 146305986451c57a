"""One arena for all fault tests: it must survive all of them, and its start is slow."""

from collections.abc import Iterator

import pytest

from tests.fake_provider import FakeProvider
from tests.site import Reader
from tests.waiting import wait_for
from tests.worlds.arena import Arena, arena_with
from tests.worlds.otlp_sink import OtlpSink


@pytest.fixture(scope="package")
def steady_provider() -> Iterator[FakeProvider]:
    provider = FakeProvider().start()
    yield provider
    provider.stop()


@pytest.fixture(scope="package")
def collector() -> Iterator[OtlpSink]:
    """Collector of the shared arena's traces."""
    sink = OtlpSink()
    yield sink
    sink.stop()


@pytest.fixture(scope="package")
def _arena(steady_provider: FakeProvider, collector: OtlpSink) -> Iterator[Arena]:
    own = {"ARENA_WEB_PROCESSES": "2", "ARENA_AGGREGATE_EVERY_S": "5", "ARENA_DEADLINE_IDLE_S": "600"}
    own |= {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_TRACES_SAMPLER_ARG": "1"}
    with arena_with(steady_provider, **own) as arena:
        yield arena


@pytest.fixture
def arena(_arena: Arena, steady_provider: FakeProvider) -> Arena:
    """The shared arena, ready after the previous test."""
    if _arena.launcher.poll() is not None:
        _arena.start()
    wait_for(lambda: all(_arena.is_ready() for _ in range(8)))  # both web processes are asked
    steady_provider.forget()
    return _arena


@pytest.fixture
def reader(arena: Arena) -> Reader:
    return Reader(arena.url)
