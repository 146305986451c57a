"""Reading of a response's bytes without a server."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from models_registry.providers import ChatRequest, Completion, FailureCode, ProviderError
from models_registry.providers.base import ToolCallDelta
from models_registry.providers.reading import answer_reader
from models_registry.providers.reading.answer_reader import AnswerReader

# One for all: a loop of its own for each would take most of the time of generated tests.
_loop = asyncio.Runner()


@dataclass
class Read:
    """Answer as its receiver has it at the end. code: of the failure, or ""."""

    text: str = ""
    reasoning: str = ""
    code: str = ""
    upstream: str = ""
    taken_back: int = 0
    completion: Completion = field(default_factory=Completion)
    tool_calls: list[ToolCallDelta] = field(default_factory=list)


def request(**parameters: object) -> ChatRequest:
    deadlines = {"connect": 30, "first": 60, "idle": 60, "total": 60}
    return ChatRequest("http://127.0.0.1:1/v1", "sk-a-key-of-some-length", "m", [], parameters, deadlines)


def read(
    pieces: Sequence[bytes],
    *,
    encoding: str = "",
    takes_tools: bool = False,
    broken_off: bool = False,
    remembers: bool = False,
) -> Read:
    """Read pieces of a response as one call.

    broken_off: the connection ends untidily. remembers: how earlier answers of the model began.
    """
    got = Read()

    def receive(text: str, reasoning: str) -> float:
        got.text += text
        got.reasoning += reasoning
        return 0.0

    def take_back() -> None:
        got.taken_back += 1
        got.text, got.reasoning = "", got.text + got.reasoning

    async def call() -> None:
        if not remembers:
            answer_reader._beginning_inside._known.clear()
        options = {"take_back": take_back, "completion": got.completion}
        if takes_tools:
            options["receive_tool_calls"] = got.tool_calls.extend
        answer = AnswerReader(request(), receive, options)  # type: ignore[arg-type]
        answer.begin(content_type="", encoding=encoding)
        try:
            if not any(answer.feed(piece) for piece in pieces):
                _end(answer, broken_off=broken_off)
        except ProviderError as error:
            got.code, got.upstream = error.code, error.upstream
        finally:
            answer.deadlines.stop()
            answer.flush()

    _loop.run(call())
    return got


def _end(answer: AnswerReader, *, broken_off: bool) -> None:
    if not broken_off:
        answer.end_of_stream()
    elif answer.is_whole:
        answer.end_untidily()
    else:
        raise ProviderError(FailureCode.CUT)
