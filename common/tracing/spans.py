"""Spans as the code places them: nothing but an attribute test while traces are off."""

from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from types import TracebackType
from typing import Protocol

from common.errors import ArenaError
from common.tracing.names import Attribute, EventName
from common.tracing.traceparent import TraceParent, parse

Value = str | int | float | Sequence[str]
# Attributes without a value are left out.
Attributes = Mapping[Attribute, Value | None]
NONE: Attributes = {}


class Recorder(Protocol):
    """Span of a sampled trace: opentelemetry's, behind common.tracing.pipeline."""

    def set(self, attributes: Attributes) -> None: ...

    def rename(self, name: str) -> None: ...

    def add_event(self, name: EventName, attributes: Attributes) -> None: ...

    def end(self) -> None: ...


class Tracer(Protocol):
    def begin(
        self, name: str, above: TraceParent | None, attributes: Attributes, *, is_client: bool, person: str
    ) -> tuple[TraceParent, Recorder | None]:
        """Return the new span's place, with its recorder if the trace is sampled."""
        ...


class Span:
    """One span, current inside `with`. Without a recorder it only carries its place."""

    __slots__ = ("_recorder", "_stays_open", "_token", "place")

    def __init__(self, place: TraceParent | None, recorder: Recorder | None) -> None:
        self.place, self._recorder = place, recorder
        self._stays_open = False

    def __enter__(self) -> "Span":
        if self.place is not None:
            self._token = _current.set(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self.place is None:
            return
        _current.reset(self._token)
        if isinstance(error, Exception):
            self.fail(error)
        if not self._stays_open or error is not None:
            self.end()

    @property
    def is_recording(self) -> bool:
        return self._recorder is not None

    def set(self, attributes: Attributes) -> None:
        if self._recorder is not None:
            self._recorder.set(attributes)

    def rename(self, name: str) -> None:
        if self._recorder is not None:
            self._recorder.rename(name)

    def add_event(self, name: EventName, attributes: Attributes) -> None:
        if self._recorder is not None:
            self._recorder.add_event(name, attributes)

    def fail(self, error: Exception) -> None:
        """Keep the error's code or class; its message may hold texts and addresses."""
        self.set({Attribute.ERROR: error.code if isinstance(error, ArenaError) else type(error).__name__})

    def stay_open(self) -> None:
        """Let `end` end it instead of the block's end."""
        if self.place is not None:  # NO_SPAN is shared
            self._stays_open = True

    def make_current(self) -> None:
        """Make it current until this task ends."""
        if self.place is not None:
            _current.set(self)

    def end(self) -> None:
        """End it; without effect from the second time on."""
        recorder, self._recorder = self._recorder, None
        if recorder is not None:
            recorder.end()


NO_SPAN = Span(None, None)
_current: ContextVar[Span] = ContextVar("span", default=NO_SPAN)
_tracer: Tracer | None = None


def use(tracer: Tracer | None) -> None:
    global _tracer
    _tracer = tracer


def is_on() -> bool:
    return _tracer is not None


def span(
    name: str, attributes: Attributes = NONE, *, parent: str = "", is_client: bool = False, person: str = ""
) -> Span:
    """Begin a span below the current one, or below `parent`, a traceparent; a malformed one begins a trace.

    person: an Actor.key, of which a keyed pseudonym of the month is sent.
    """
    if _tracer is None:
        return NO_SPAN
    above = parse(parent) if parent else _current.get().place
    return Span(*_tracer.begin(name, above, attributes, is_client=is_client, person=person))


def current_place() -> TraceParent | None:
    """Return the trace and span of this task or thread, also of a trace that is not sampled."""
    return _current.get().place


def current_traceparent() -> str:
    """Return "" outside of spans."""
    place = _current.get().place
    return "" if place is None else str(place)
