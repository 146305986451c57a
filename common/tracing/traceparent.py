"""W3C Trace Context's `traceparent`: version, trace, span and flags, 55 characters."""

import re
from typing import NamedTuple

LENGTH = 55
_FORMAT = re.compile(r"00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})")


class TraceParent(NamedTuple):
    trace_id: int
    span_id: int
    is_sampled: bool

    def __str__(self) -> str:
        return f"00-{self.trace_id:032x}-{self.span_id:016x}-{self.is_sampled:02x}"


def parse(text: str) -> TraceParent | None:
    """Return None for a malformed text, and for the zeros that mean no trace."""
    match = _FORMAT.fullmatch(text)
    if match is None:
        return None
    trace_id, span_id, flags = (int(part, 16) for part in match.groups())
    return TraceParent(trace_id, span_id, bool(flags & 1)) if trace_id and span_id else None
