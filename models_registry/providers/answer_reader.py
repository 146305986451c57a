"""Reading of a streamed answer: its events become text within deadlines and limits, with the key masked."""

import asyncio

from common.text.redaction import MASK, StreamRedactor
from common.text.storable import storable
from models_registry.providers import refusals
from models_registry.providers.base import (
    ChatRequest,
    Completion,
    FailureCode,
    ProviderError,
    Receive,
    StreamOptions,
)
from models_registry.providers.event_stream import EventReader, decode
from models_registry.providers.kinds import CAPS
from models_registry.providers.think_tag import ThinkTag
from models_registry.providers.tool_calls import ToolCalls

MAX_BYTES = 8_000_000
MAX_CHARACTERS = 400_000
# An answer of about four times the requested tokens is ended, because its server ignores the cap.
MAX_CHARACTERS_PER_TOKEN = 4 * 4
# The estimate is too rough below this; only probes have such small caps.
MIN_CHARACTERS = 4_000
DONE = b"[DONE]"


class AnswerReader:
    """State of one call: text so far, current deadline, possible errors."""

    def __init__(self, request: ChatRequest, receive: Receive, options: StreamOptions) -> None:
        self.completion = options.get("completion") or Completion()
        self.deadline: asyncio.Timeout
        self._timer: asyncio.TimerHandle | None = None
        self.is_connected = False
        self.timeout_code = FailureCode.FIRST_TIMEOUT
        self._request = request
        self._receive = receive
        self._receive_tool_calls = options.get("receive_tool_calls")
        self._tool_calls = ToolCalls(request.key)
        self._reader = EventReader()
        self._loop = asyncio.get_running_loop()
        self._total_at = self._deadline_at = self._loop.time() + request.deadlines["total"]
        self._bytes = self._characters = 0
        self._max_characters = _max_characters(request)
        self.pause_s = 0.0
        self._think_tag = ThinkTag()
        self._has_text = self._has_called_tools = False
        # Mask the key, because an answer that repeats it would be stored and shown.
        self._text, self._reasoning = StreamRedactor(request.key), StreamRedactor(request.key)

    @property
    def seconds_left(self) -> float:
        return self._deadline_at - self._loop.time()

    @property
    def connection_error_code(self) -> FailureCode:
        return FailureCode.CUT if self.is_connected else FailureCode.UNREACHABLE

    def set_deadline(self, code: FailureCode) -> None:
        """Start the first or idle deadline for the next piece of text; the total deadline stays."""
        name = "first" if code is FailureCode.FIRST_TIMEOUT else "idle"
        at = self._loop.time() + self._request.deadlines[name]
        self.timeout_code = code if at < self._total_at else FailureCode.TOTAL_TIMEOUT
        self._deadline_at = min(at, self._total_at)
        if self._timer is None or self._deadline_at < self._timer.when():
            self._start_timer()

    def _start_timer(self) -> None:
        # The only timer: one for each piece of text would take a tenth of a stream's CPU.
        self.stop_timer()
        self._timer = self._loop.call_at(self._deadline_at, self._check_deadline)

    def _check_deadline(self) -> None:
        if self._loop.time() < self._deadline_at:
            self._start_timer()
        else:
            self.deadline.reschedule(self._deadline_at)

    def stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def feed(self, piece: bytes) -> bool:
        """Read a piece of the stream; return whether it ended with [DONE]."""
        self._bytes += len(piece)
        if self._bytes > MAX_BYTES:
            raise ProviderError(FailureCode.TOO_LONG)
        return self._read_payloads(self._reader.feed(piece))

    def end_of_stream(self) -> None:
        """Accept an end without [DONE] only after a finish reason."""
        if not self._read_payloads(self._reader.close()):
            self._check_finish()

    def _read_payloads(self, payloads: list[bytes]) -> bool:
        texts: list[str] = []
        reasonings: list[str] = []
        is_done = False
        try:
            for payload in payloads:
                if payload == DONE:
                    is_done = True
                    break
                text, reasoning = self._read(payload)
                texts.append(text)
                reasonings.append(reasoning)
        finally:  # text before an error in the same read is part of the answer
            text, reasoning = storable("".join(texts)), storable("".join(reasonings))
            if not self._think_tag.is_past:
                text, tagged = self._think_tag.part(text)
                reasoning += tagged
            self._emit(text, reasoning)
            self._emit_tool_calls()
        if is_done:
            self._check_finish()
        return is_done

    def _emit(self, text: str, reasoning: str) -> None:
        """Pass text on with the key masked; renew the idle deadline. Raises ProviderError if it is too long."""
        if not (text or reasoning):
            return
        self._count_characters(len(text) + len(reasoning))
        self._has_text = self._has_text or bool(text.strip())
        masked = self._text.feed(text), self._reasoning.feed(reasoning)
        if any(masked):
            self.pause_s = self._receive(*masked)

    def _emit_tool_calls(self) -> None:
        deltas = self._tool_calls.take()
        if deltas and self._receive_tool_calls is not None:
            self._count_characters(sum(len(delta.arguments) for delta in deltas))
            self._receive_tool_calls(deltas)

    def _count_characters(self, number: int) -> None:
        """Renew the idle deadline. Raises ProviderError if the answer is too long."""
        self._characters += number
        if self._characters > self._max_characters:
            raise ProviderError(FailureCode.TOO_LONG)
        self.set_deadline(FailureCode.IDLE_TIMEOUT)

    def flush(self) -> None:
        """Pass on text held back as a possible beginning of the key."""
        self._tool_calls.flush()
        if (deltas := self._tool_calls.take()) and self._receive_tool_calls is not None:
            self._receive_tool_calls(deltas)
        held_back = self._text.flush(), self._reasoning.flush()
        if any(held_back):
            self._receive(*held_back)

    def _check_finish(self) -> None:
        self._emit(*self._think_tag.rest())
        reason = self.completion.finish_reason
        if reason == "error" or (not reason and self._request.finish_reason_required):
            raise ProviderError(FailureCode.PROVIDER_ERROR if reason else FailureCode.CUT, "no proper finish reason")
        has_no_tools = self._receive_tool_calls is None or not self._has_called_tools
        calls_tools = self._has_called_tools or reason in ("tool_calls", "function_call")
        if has_no_tools and not self._has_text and calls_tools:
            raise ProviderError(FailureCode.TOOL_CALLS)
        if not self._has_text and reason == "content_filter":
            raise ProviderError(FailureCode.FILTERED)

    def _read(self, payload: bytes) -> tuple[str, str]:
        """Return (text, reasoning) of an event."""
        chunk = decode(payload)
        if chunk.error:
            raise refusals.error_for_event(chunk.error)
        if (chunk.usage or chunk.x_groq) and (
            usage := chunk.token_counts
        ):  # some send growing numbers with every chunk
            self.completion.prompt_tokens = usage.prompt
            self.completion.completion_tokens = usage.completion
            self.completion.reasoning_tokens = usage.reasoning
        if not chunk.choices:
            return "", ""
        choice = chunk.choices[0]
        if choice.finish_reason:
            self.completion.finish_reason = scrub(choice.finish_reason, self._request.key)[:40]
        if choice.delta is None:
            return "", ""
        text, reasoning = choice.delta.read()
        if choice.delta.tool_calls:
            self._has_called_tools = True
            if self._receive_tool_calls is not None:
                self._tool_calls.add(choice.delta.tool_calls)
        self.completion.pieces += bool(text or reasoning or choice.delta.tool_calls)
        return text, reasoning


def _max_characters(request: ChatRequest) -> int:
    caps = [int(value) for name, value in request.parameters.items() if name in CAPS]
    by_tokens = max(caps, default=MAX_CHARACTERS) * MAX_CHARACTERS_PER_TOKEN
    return min(MAX_CHARACTERS, max(MIN_CHARACTERS, by_tokens))


def scrub(text: str, key: str) -> str:
    """Return upstream's text for log and database: short, printable, without the key."""
    if key:
        text = text.replace(key, MASK)
    return storable(text)[:500]
