"""Spans on their way to the collector. Imported only where traces are on: opentelemetry takes time and memory."""

import logging
import threading
from collections import deque
from collections.abc import Sequence

from django.utils import timezone
from django.utils.crypto import salted_hmac
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased

from common.tracing.names import Attribute, EventName
from common.tracing.spans import Attributes, Recorder
from common.tracing.traceparent import TraceParent
from common.valkey import counters

logger = logging.getLogger(__name__)

# Spans that wait at most; further ones are dropped. A battle has about eight.
MAX_WAITING = 2_000
BATCH = 200
EXPORT_INTERVAL_S = 2.0
# One attempt to reach the collector, with its repetitions.
EXPORT_TIMEOUT_S = 3.0
SHUTDOWN_TIMEOUT_S = 1.5
DROPPED = "spans_dropped"


class Pipeline:
    """Tracer of this process, and the thread that exports its spans. Made after a fork."""

    def __init__(self, endpoint: str, *, ratio: float, service: str, version: str) -> None:
        exporter = OTLPSpanExporter(endpoint=endpoint, timeout=EXPORT_TIMEOUT_S)
        self.export = BoundedExport(exporter)
        provider = TracerProvider(
            sampler=ParentBased(TraceIdRatioBased(ratio)),
            resource=Resource.create({"service.name": service, "service.version": version}),
            shutdown_on_exit=False,
        )
        provider.add_span_processor(self.export)
        self._tracer = provider.get_tracer("arena")

    def begin(
        self, name: str, above: TraceParent | None, attributes: Attributes, *, is_client: bool, person: str
    ) -> tuple[TraceParent, Recorder | None]:
        if above is not None and not above.is_sampled:
            return above, None
        begun = self._tracer.start_span(
            str(name),
            context=Context() if above is None else _context_of(above),
            kind=trace.SpanKind.CLIENT if is_client else trace.SpanKind.INTERNAL,
            record_exception=False,
            set_status_on_exception=False,
        )
        ids = begun.get_span_context()
        place = TraceParent(ids.trace_id, ids.span_id, ids.trace_flags.sampled)
        if not begun.is_recording():
            return place, None
        recorder = _Recorder(begun)
        recorder.set(attributes)
        if person:
            recorder.set({Attribute.PERSON: pseudonym(person)})
        return place, recorder


def _context_of(place: TraceParent) -> Context:
    ids = trace.SpanContext(place.trace_id, place.span_id, is_remote=True, trace_flags=trace.TraceFlags(1))
    return trace.set_span_in_context(trace.NonRecordingSpan(ids), Context())


def pseudonym(person: str) -> str:
    """Return a keyed digest of an Actor.key, another one each month: 2026-11:5f0c…."""
    month = f"{timezone.now():%Y-%m}"
    return f"{month}:{salted_hmac(f'common.tracing:{month}', person, algorithm='sha256').hexdigest()[:24]}"


class _Recorder:
    def __init__(self, begun: trace.Span) -> None:
        self._begun = begun

    def set(self, attributes: Attributes) -> None:
        for name, value in attributes.items():
            if value is not None:
                self._begun.set_attribute(str(name), str(value) if isinstance(value, str) else value)
        if attributes.get(Attribute.ERROR):
            self._begun.set_status(trace.StatusCode.ERROR)

    def rename(self, name: str) -> None:
        self._begun.update_name(name)

    def add_event(self, name: EventName, attributes: Attributes) -> None:
        self._begun.add_event(str(name), {str(key): value for key, value in attributes.items() if value is not None})

    def end(self) -> None:
        self._begun.end()


class BoundedExport(SpanProcessor):
    """Exports in a thread. What the collector does not take is dropped and counted, and delays no caller.

    Not the SDK's BatchSpanProcessor, which counts nothing without a meter and waits for the collector at the end.
    """

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter
        self._waiting: deque[ReadableSpan] = deque()
        self._wake = threading.Event()
        self._is_closing = False
        self._reaches_collector = True
        self._thread = threading.Thread(target=self._run, name="spans", daemon=True)
        self._thread.start()

    def on_end(self, span: ReadableSpan) -> None:
        if len(self._waiting) >= MAX_WAITING or self._is_closing:
            counters.add(DROPPED)
            return
        self._waiting.append(span)
        if len(self._waiting) == BATCH:
            self._wake.set()

    def _run(self) -> None:
        is_last = False
        while not is_last:
            self._wake.wait(EXPORT_INTERVAL_S)
            self._wake.clear()
            is_last = self._is_closing  # read before the queue, which takes no span from then on
            while self._waiting and (self._reaches_collector or not self._is_closing):
                self._export_batch()

    def _export_batch(self) -> None:
        batch = [self._waiting.popleft() for _ in range(min(BATCH, len(self._waiting)))]
        is_taken = self._is_taken(batch)
        if not is_taken:
            counters.add(DROPPED, by=len(batch))
        if is_taken != self._reaches_collector:
            self._reaches_collector = is_taken
            logger.warning("the collector takes spans again" if is_taken else "spans are dropped: see the collector")

    def _is_taken(self, batch: Sequence[ReadableSpan]) -> bool:
        try:
            return self._exporter.export(batch) is SpanExportResult.SUCCESS
        except Exception:
            logger.exception("spans could not be exported")
            return False

    def shutdown(self) -> None:
        """Export what waits, for SHUTDOWN_TIMEOUT_S at most."""
        self._is_closing = True
        self._wake.set()
        self._thread.join(SHUTDOWN_TIMEOUT_S)
        if lost := len(self._waiting):
            counters.add(DROPPED, by=lost)

    def force_flush(self, timeout_millis: int = 0) -> bool:
        self._wake.set()
        return True

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """Do nothing: spans are exported at their end."""
