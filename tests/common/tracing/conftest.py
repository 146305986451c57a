from collections.abc import Iterator
from typing import Any

import pytest

from common.tracing import pipeline, service
from tests.worlds.otlp_sink import OtlpSink


@pytest.fixture
def sink() -> Iterator[OtlpSink]:
    sink = OtlpSink()
    yield sink
    sink.stop()


@pytest.fixture
def traced(sink: OtlpSink, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[OtlpSink]:
    """Trace everything of this process."""
    monkeypatch.setattr(pipeline, "EXPORT_INTERVAL_S", 0.02)
    settings.ARENA_TRACES_ENDPOINT, settings.ARENA_TRACES_RATIO = f"{sink.url}/v1/traces", 1.0
    service.start("of-tests")
    yield sink
    service.stop()
