"""Collector of traces: a real HTTP server that takes OTLP, or refuses it, answers late or never."""

import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.waiting import wait_for


@dataclass(frozen=True)
class ReceivedSpan:
    name: str
    trace: str
    id: str
    parent: str
    is_client: bool
    has_failed: bool
    attributes: dict[str, Any]
    events: tuple[str, ...]


class OtlpSink:
    """`behaviour`: taking, refusing, slow or hanging. `bodies`: every byte that was received."""

    def __init__(self) -> None:
        self.behaviour = "taking"
        self.bodies: list[bytes] = []
        self.headers: list[dict[str, str]] = []
        self.spans: list[ReceivedSpan] = []
        self._ends = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def stop(self) -> None:
        self._ends.set()
        self._server.shutdown()
        self._server.server_close()

    def forget(self) -> None:
        self.behaviour = "taking"
        self.bodies, self.headers, self.spans = [], [], []

    def trace(self, trace: str) -> list[ReceivedSpan]:
        return [span for span in self.spans if span.trace == trace]

    def wait_for(self, trace: str, **numbers: int) -> list[ReceivedSpan]:
        """Wait until the trace has so many spans of each first word of a name; return all of it."""

        def counted() -> dict[str, int]:
            words = [span.name.split()[0] for span in self.trace(trace)]
            return {word: words.count(word) for word in numbers}

        wait_for(lambda: counted() == numbers)
        return self.trace(trace)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        sink = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if sink.behaviour in ("hanging", "slow"):
                    sink._ends.wait(None if sink.behaviour == "hanging" else 1)
                if sink.behaviour != "refusing":
                    sink._take(self.path, dict(self.headers), body)
                self.send_response(500 if sink.behaviour == "refusing" else 200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Log nothing."""

        return Handler

    def _take(self, path: str, headers: dict[str, str], body: bytes) -> None:
        assert path == "/v1/traces"
        self.bodies.append(body)
        self.headers.append(headers)
        for of_resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            for of_scope in of_resource.scope_spans:
                self.spans += [_received(span) for span in of_scope.spans]


def _received(span: Any) -> ReceivedSpan:
    return ReceivedSpan(
        name=span.name,
        trace=span.trace_id.hex(),
        id=span.span_id.hex(),
        parent=span.parent_span_id.hex(),
        is_client=span.kind == span.SPAN_KIND_CLIENT,
        has_failed=span.status.code == span.status.STATUS_CODE_ERROR,
        attributes={attribute.key: _value(attribute.value) for attribute in span.attributes},
        events=tuple(event.name for event in span.events),
    )


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    return [_value(each) for each in value.array_value.values] if kind == "array_value" else getattr(value, kind)
