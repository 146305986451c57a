"""Traces by OpenTelemetry, an optional extra: docs/adr/0095."""

from common.tracing.names import Attribute, EventName, SpanName
from common.tracing.spans import (
    NO_SPAN,
    Attributes,
    Span,
    current_place,
    current_traceparent,
    is_on,
    span,
)

__all__ = [
    "NO_SPAN",
    "Attribute",
    "Attributes",
    "EventName",
    "Span",
    "SpanName",
    "current_place",
    "current_traceparent",
    "is_on",
    "span",
]
