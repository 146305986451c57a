"""Reading of an answer: its bytes become text within deadlines and limits, with the key masked; docs/adr/0064."""

from collections import OrderedDict

from common.payload_types import JsonObject
from common.text.redaction import MASK, StreamRedactor
from common.text.storable import storable
from models_registry.providers import refusals
from models_registry.providers.answer_state import merge
from models_registry.providers.base import (
    ChatRequest,
    Completion,
    FailureCode,
    ProviderError,
    Receive,
    StreamOptions,
)
from models_registry.providers.kinds import CAPS
from models_registry.providers.oddities import Oddity
from models_registry.providers.reading.chunks import DONE, Choice, Chunk, ConvertedChunk
from models_registry.providers.reading.deadlines import Deadlines
from models_registry.providers.reading.event_stream import Decompressor, EventReader
from models_registry.providers.reading.finish_reasons import Finish, meaning_of
from models_registry.providers.reading.reasoning_tags import ReasoningTags
from models_registry.providers.reading.tool_calls import ToolCalls, masked_state
from models_registry.providers.reading.usage import TokenCounts

MAX_BYTES = 8_000_000
MAX_CHARACTERS = 400_000
# An answer of about four times the requested tokens is ended, because its server ignores the cap.
MAX_CHARACTERS_PER_TOKEN = 4 * 4
# The estimate is too rough below this; only probes have such small caps.
MIN_CHARACTERS = 4_000
# The usage and [DONE] are awaited for so long after a finish reason.
MAX_LINGER_S = 3.0
MAX_BEGINNING_INSIDE = 1_000


class _BeginningInside:
    """Models, by address and name, whose last answer closed a tag of reasoning that it had not opened.

    Their text is held back until the closing tag; an answer without one takes them off.
    """

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, str], None] = OrderedDict()

    def __contains__(self, request: ChatRequest) -> bool:
        return (request.base_url, request.model) in self._known

    def note(self, request: ChatRequest, *, closed: bool) -> None:
        self._known.pop((request.base_url, request.model), None)
        if closed:
            self._known[request.base_url, request.model] = None
            while len(self._known) > MAX_BEGINNING_INSIDE:
                self._known.popitem(last=False)


_beginning_inside = _BeginningInside()


class AnswerReader:
    """State of one call: text so far, deadlines, possible errors."""

    def __init__(self, request: ChatRequest, receive: Receive, options: StreamOptions) -> None:
        self.completion = options.get("completion") or Completion()
        self.deadlines = Deadlines(request.deadlines)
        self.is_connected = False
        self.content_type = ""
        self._request = request
        self._receive = receive
        self._receive_tool_calls = options.get("receive_tool_calls")
        self._take_back = options.get("take_back")
        self._max_characters = _max_characters(request)
        self.pause_s = 0.0
        self._begin_reading()

    def _begin_reading(self) -> None:
        request = self._request
        self._tool_calls = ToolCalls(request.key, request.parameters.get("tools"))
        self._decompressor = Decompressor("", MAX_BYTES)
        self._reader = EventReader()
        self._bytes = self._characters = 0
        self._begins_inside = request in _beginning_inside
        self._content = ReasoningTags(may_begin_inside=self._begins_inside)
        # A finish reason has come: a failure after it does not concern the answer.
        self.is_whole = False
        self._finish: Finish | None = None
        self._finish_word = ""
        self._has_word_for_null = self._has_ended = False
        self._has_text = self._has_reasoning = self._has_called_tools = self._is_document = False
        self._has_odd_texts = False
        # Halves of characters: a server may send each in a chunk of its own.
        self._half = self._reasoning_half = ""
        self._counts = TokenCounts()
        self._state: JsonObject = {}
        self._other_choices: dict[int, list[Choice]] = {}
        # Mask the key, because an answer that repeats it would be stored and shown.
        self._text, self._reasoning = StreamRedactor(request.key), StreamRedactor(request.key)

    def restart(self) -> bool:
        """Forget a response without any part of an answer, for a repeat within the same deadlines.

        Return False if a part was passed on.
        """
        if self.completion.pieces or self._has_called_tools:
            return False
        self._begin_reading()
        self.is_connected = False
        completion = self.completion
        completion.finish_reason = ""
        completion.prompt_tokens = completion.completion_tokens = None
        completion.reasoning_tokens = completion.total_tokens = None
        self.deadlines.set(FailureCode.FIRST_TIMEOUT)
        return True

    @property
    def connection_error_code(self) -> FailureCode:
        return FailureCode.CUT if self.is_connected else FailureCode.UNREACHABLE

    def begin(self, *, content_type: str, encoding: str) -> None:
        """Called with the response's headers; neither decides how it is read."""
        self.is_connected, self.content_type = True, content_type
        self._decompressor = Decompressor(encoding, MAX_BYTES)

    def feed(self, piece: bytes) -> bool:
        """Read a piece of the response; return whether the answer ended with [DONE]."""
        if self._decompressor.is_compressed is not False:
            piece = self._decompressor.feed(piece)
        self._bytes += len(piece)
        if self._bytes > MAX_BYTES:
            raise ProviderError(FailureCode.TOO_LONG)
        return self._read_chunks(self._reader.feed(piece))

    def end_of_stream(self) -> None:
        """Accept an end without [DONE] only after a finish reason. Raises ProviderError."""
        if self._read_chunks(self._reader.close()):
            return
        beginning = self._reader.beginning
        is_stream = self._reader.has_frames or beginning.startswith(b"data:") or not beginning
        if not is_stream and self._is_silent and not self._has_word_for_null:
            words = f"{self.content_type}: {beginning.decode(errors='replace')}"
            raise ProviderError(FailureCode.NOT_A_STREAM, words)
        self._end(is_done=False)

    def end_untidily(self) -> None:
        """End an answer that is whole though its connection failed or stayed open. Raises ProviderError."""
        self.completion.oddities.add(Oddity.UNTIDY_END)
        if not self._has_ended:
            self._end(is_done=False)

    @property
    def _is_silent(self) -> bool:
        return not (self.completion.pieces or self._finish or any(self._counts) or self._other_choices)

    def _read_chunks(self, chunks: list[Chunk]) -> bool:
        texts: list[str] = []
        reasonings: list[str] = []
        is_done = False
        try:
            for chunk in chunks:
                if chunk is DONE:
                    is_done = True
                    break
                if type(chunk) is ConvertedChunk:
                    self._read_oddities(chunk)
                elif chunk.usage or chunk.x_groq:
                    self._count_usual(chunk)
                for choice in chunk.choices:
                    if choice.index:
                        self._keep_other_choice(choice)
                        continue
                    if choice.finish_reason is not None:
                        self._read_finish(choice.finish_reason)
                    delta = choice.delta
                    reasoning = delta.reasoning_content or delta.reasoning
                    if delta.content:
                        texts.append(delta.content)
                    if reasoning:
                        reasonings.append(reasoning)
                    if delta.state:
                        merge(self._state, delta.state)
                    if delta.tool_calls:
                        self._read_tool_calls(delta.tool_calls)
                    elif not (reasoning or delta.content):
                        continue
                    self.completion.pieces += 1
        finally:  # text before an error in the same read is part of the answer
            self._pass_on("".join(texts), "".join(reasonings))
        if is_done:
            for late in chunks[chunks.index(DONE) + 1 :]:
                self._count_late(late)
            self._end(is_done=True)
        return is_done

    def _count_late(self, chunk: Chunk) -> None:
        """Read no more than the usage: the answer has ended."""
        if type(chunk) is ConvertedChunk:
            for usage in chunk.usages:
                self._count(usage)
        else:
            self._count_usual(chunk)

    def _read_oddities(self, chunk: ConvertedChunk) -> None:
        """Raises ProviderError for the chunk's failure."""
        self._has_odd_texts = True
        self.completion.oddities |= chunk.oddities
        for usage in chunk.usages:
            self._count(usage)
        failure = chunk.failure or (refusals.error_for_event(chunk.error) if chunk.error else None)
        if failure is not None:
            if not (self.is_whole and self.completion.pieces):
                raise failure
            self.completion.oddities.add(Oddity.LATE_ERROR)
        self._is_document = self._is_document or chunk.is_whole

    def _count_usual(self, chunk: Chunk) -> None:
        """Some servers send growing numbers with every chunk."""
        if isinstance(chunk.usage, dict):
            self._count(chunk.usage)
        elif isinstance(chunk.x_groq, dict) and isinstance(chunk.x_groq.get("usage"), dict):
            self._count(chunk.x_groq["usage"])

    def _count(self, usage: JsonObject) -> None:
        self._counts = counts = TokenCounts.from_usage(usage).after(self._counts)
        completion = self.completion
        completion.prompt_tokens, completion.completion_tokens = counts.prompt, counts.completion
        completion.reasoning_tokens, completion.total_tokens = counts.reasoning, counts.total

    def _read_finish(self, word: str) -> None:
        finish = meaning_of(word)
        if finish is None:
            self._has_word_for_null = True
            return
        if finish is Finish.UNKNOWN:
            self.completion.oddities.add(Oddity.UNKNOWN_FINISH)
            finish = Finish.STOP
        if self._finish is Finish.BROKEN_OFF or (self._finish is not None and finish is Finish.STOP):
            return
        self._finish, self._finish_word = finish, word
        self.is_whole = finish is not Finish.BROKEN_OFF
        self.completion.finish_reason = finish if self.is_whole else ""
        self.deadlines.set(FailureCode.IDLE_TIMEOUT, at_most=MAX_LINGER_S)

    def _read_tool_calls(self, parts: list[object]) -> None:
        self._has_called_tools = True
        if self._receive_tool_calls is not None:
            self._tool_calls.add(parts)  # type: ignore[arg-type]

    def _keep_other_choice(self, choice: Choice) -> None:
        """Keep choices of another index, in case that none has index 0."""
        self.completion.oddities.add(Oddity.SECOND_CHOICE)
        if self._is_silent or self._other_choices:
            self._other_choices.setdefault(choice.index, []).append(choice)

    def _read_other_choices(self) -> None:
        others, self._other_choices = self._other_choices, {}
        if others and self._is_silent:
            choices = others[min(others)]
            for choice in choices:
                choice.index = 0
            self._read_chunks([Chunk(choices)])

    def _pass_on(self, text: str, reasoning: str) -> None:
        if self._has_odd_texts:
            text, self._half = _join_halves(self._half, text)
            reasoning, self._reasoning_half = _join_halves(self._reasoning_half, reasoning)
        elif "\0" in text or "\0" in reasoning:
            text, reasoning = storable(text), storable(reasoning)
        if text:
            text, tagged = self._content.part(text)
            reasoning += tagged
            if self._content.takes_back:
                reasoning = self._take_text_back() + reasoning
        if text or reasoning:
            self._emit(text, reasoning)
        if self._has_called_tools:
            self._emit_tool_calls()

    def _take_text_back(self) -> str:
        """Return text that was held back and is reasoning, too."""
        self._content.takes_back = self._has_text = False
        if self._take_back is not None:
            self._take_back()
        return self._text.flush()

    def _emit(self, text: str, reasoning: str) -> None:
        """Pass text on with the key masked; renew the idle deadline. Raises ProviderError if it is too long."""
        self._count_characters(len(text) + len(reasoning))
        if text:
            self._has_text = self._has_text or not text.isspace()
            text = self._text.feed(text)
        if reasoning:
            self._has_reasoning = True
            reasoning = self._reasoning.feed(reasoning)
        if text or reasoning:
            self.pause_s = self._receive(text, reasoning)

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
        self.deadlines.set(FailureCode.IDLE_TIMEOUT)

    def flush(self) -> None:
        """Pass on what is held back, at the end of any call; collect the oddities."""
        if not self._has_ended:
            self._emit_rest(is_cut=True)
        self._tool_calls.flush()
        self.completion.state = masked_state(self._state, self._request.key)
        if (deltas := self._tool_calls.take()) and self._receive_tool_calls is not None:
            self._receive_tool_calls(deltas)
        held_back = self._text.flush(), self._reasoning.flush()
        if any(held_back):
            self._receive(*held_back)
        self.completion.oddities |= self._reader.oddities | self._content.oddities
        if self._decompressor.is_compressed:
            self.completion.oddities.add(Oddity.COMPRESSED)
        if self._tool_calls.has_odd_parts:
            self.completion.oddities.add(Oddity.TOOL_CALL_PARTS)

    def _emit_rest(self, *, is_cut: bool) -> None:
        text, reasoning = self._content.rest(is_cut_by_length=is_cut)
        if self._content.takes_back:
            reasoning = self._take_text_back() + reasoning
        if text or reasoning:
            self._characters = 0  # it was counted when it was held back, or belongs to a failure
            self._emit(text, reasoning)

    def _end(self, *, is_done: bool) -> None:
        """Check that the answer is whole. Raises ProviderError."""
        self._read_other_choices()
        self._has_ended = True
        is_cut = self._finish is Finish.LENGTH
        self._emit_rest(is_cut=is_cut)
        closed = Oddity.UNOPENED_REASONING in self._content.oddities
        if closed or (self._begins_inside and not is_cut):
            _beginning_inside.note(self._request, closed=closed)
        if self._finish is None:
            self._accept_without_finish(is_done=is_done)
        if self._finish is Finish.BROKEN_OFF:
            words = f"the answer was broken off: {self._finish_word}"
            raise ProviderError(FailureCode.PROVIDER_ERROR, words)
        has_no_tools = self._receive_tool_calls is None or not self._has_called_tools
        if has_no_tools and not self._has_text and (self._has_called_tools or self._finish is Finish.CALLS):
            raise ProviderError(FailureCode.TOOL_CALLS)
        if self._finish is Finish.CALLS and not self._has_called_tools:
            self.completion.finish_reason = Finish.STOP
        if not self._has_text and self._finish is Finish.FILTERED:
            raise ProviderError(FailureCode.FILTERED)

    def _accept_without_finish(self, *, is_done: bool) -> None:
        """Raises ProviderError unless another sign shows that the answer is whole."""
        if self._is_document or (self._has_word_for_null and is_done):
            self._finish = Finish.STOP
        elif self._tool_calls.has_calls and self._tool_calls.are_complete:
            self._finish = Finish.CALLS
        elif self._request.finish_reason_required:
            if is_done:
                self.completion.oddities.add(Oddity.NO_FINISH)
            raise ProviderError(FailureCode.CUT, "no finish reason")
        else:
            return
        self.completion.oddities.add(Oddity.NO_FINISH)
        self.completion.finish_reason, self.is_whole = self._finish, True


def _join_halves(half: str, text: str) -> tuple[str, str]:
    """Return storable text, and the half of a character at its end."""
    text = half + text
    half = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
    text = text[: len(text) - len(half)]
    if any("\ud800" <= sign <= "\udfff" for sign in text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return storable(text), half


def _max_characters(request: ChatRequest) -> int:
    caps = [int(value) for name, value in request.parameters.items() if name in CAPS]
    by_tokens = max(caps, default=MAX_CHARACTERS) * MAX_CHARACTERS_PER_TOKEN
    return min(MAX_CHARACTERS, max(MIN_CHARACTERS, by_tokens))


def scrub(text: str, key: str) -> str:
    """Return upstream's text for log and database: short, printable, without the key."""
    if key:
        text = text.replace(key, MASK)
    return storable(text)[:500]
