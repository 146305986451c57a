"""The table of docs/odd-answers.md: `python -m tests.models_registry.providers.odd_answers` writes it."""

import os
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import django

from tests.worlds import oddities
from tests.worlds.oddities import Odd

if TYPE_CHECKING:
    from battles.models import Call

PAGE = Path(__file__).parents[3] / "docs" / "odd-answers.md"
HEAD = """# Odd answers

How each kind of answer ends that is unlike OpenAI's: in a battle, as an item of a run, and for a caller of the gateway,
without and with a stream. The rows are the tests' own (`tests/worlds/oddities.py`); a real
server sends those of answers to all four, and those of connections and usage to the reader.
`python -m tests.models_registry.providers.odd_answers` writes this page.

An *answer* is stored and can be judged. A code is a failure, for which there is no vote; the gateway has codes of its
own. *Booked* says which tokens are paid for: *reported* by the server within the bounds of
[ADR 64](adr/0064-one-tolerant-reader.md), *estimated* by the arena, or *nothing*, because refusals are not billed.
"""
# Plain words for names that do not explain themselves.
WORDS = {
    "crlf": "lines end with CR and LF",
    "cr": "lines end with CR",
    "no-blank": "no blank behind “data:”",
    "padded": "blanks around names, values and lines",
    "capitals": "“DATA:” in capitals",
    "data-in-data": "“data: data: …”",
    "one-newline": "no empty line between events",
    "one-newline-named": "the same, with names and ids of events",
    "json-in-json": "each event is JSON in a JSON text",
    "several-values": "several chunks in one event",
    "list-of-chunks": "a list of chunks in one event",
    "several-lines": "one event over several data lines",
    "done-quoted": "“[DONE]” as a JSON text",
    "done-padded": "blanks around “[done]”",
    "done-without-end": "the connection stays open behind “[DONE]”",
    "finish-without-end": "the connection stays open behind the finish reason",
    "more-after-done": "more text behind “[DONE]”",
    "usage-after-done": "the usage behind “[DONE]”",
    "ends-inside-a-whole": "a completion that was not streamed ends in its middle",
    "no-done": "no “[DONE]”",
    "heartbeats": "empty, null, quoted and worded heartbeats",
    "broken-off-after-finish": "the connection breaks behind a finish reason",
    "error-after-finish": "an error behind a finish reason",
    "no-type": "no content type",
    "type-in-capitals": "the content type in capitals",
    "type-of-json": "a stream declared as JSON",
    "created": "status 201",
    "gzip": "compressed unasked",
    "gzip-unsaid": "compressed, and not declared",
    "deflate-raw": "deflate without its header",
    "encoding-of-text": "“Content-Encoding: utf-8”",
    "gzip-untrue": "declared as compressed, and plain",
    "json-lines": "JSON lines without “data:”",
    "whole": "a whole completion in place of a stream",
    "whole-after-blanks": "the same behind empty lines",
    "whole-in-an-event": "a whole completion in an event",
    "whole-without-finish": "a whole completion without finish reason",
    "whole-in-an-envelope": "a whole completion inside “data”",
    "message": "“message” in place of “delta”",
    "message-beside-deltas": "an empty message beside deltas",
    "text": "“text” of the older completions",
    "texts": "content as a list of texts",
    "parts": "content as parts",
    "part": "content as one part",
    "number": "content is a number",
    "other-values": "false, null, lists and numbers as chunks",
    "choices-as-object": "choices as an object",
    "other-index": "the only choice has index 1",
    "index-as-text": "the index is a text",
    "halves": "half of an emoji in each of two chunks",
    "half": "half of an emoji",
    "nul": "U+0000 in a text",
    "latin-1": "Latin-1 in place of UTF-8",
    "control-signs": "control signs in a text",
    "refusal": "the refusal in a field of its own",
    "refusal-part": "the refusal as a part",
    "transcript": "a transcript of speech",
    "special-token": "a control token at the end",
    "empty-error": "an empty error in each chunk",
    "pictures": "pictures without text",
    "field-twice": "reasoning in two fields",
    "part-of-content": "reasoning as a part of the content",
    "tag": "“<think>”, split over pieces",
    "tag-of-seed": "“<seed:think>”",
    "tag-again": "“<think>” again behind text",
    "tag-closed-only": "“</think>” alone: the prompt opened it",
    "tag-in-whole": "the same in a whole completion",
    "tag-mentioned": "a sentence about the tag",
    "channels": "channels of gpt-oss",
    "words": "words in place of an answer",
    "other-json": "other JSON",
    "bomb": "a compression bomb",
    "page": "a page in place of an answer",
    "finish-on-each": "a finish reason on each chunk",
    "finish-empty": "an empty finish reason",
    "finish-null-as-text": "the text “null” as finish reason",
    "finish-in-camel-case": "“finishReason”",
    "no-finish": "no finish reason, then “[DONE]”",
    "no-finish-no-done": "no finish reason, and no “[DONE]”",
    "no-room": "the limit of tokens before any text",
    "filtered": "filtered before any text",
}
GROUPS = {
    "Frames": ("How events are written, ended and kept alive.", oddities.FRAMES),
    "Values": ("Fields with other names, types and shapes.", oddities.VALUES),
    "Ends": ("The word with which an answer ends.", oddities.FINISHES),
    "Reasoning": ("Where the reasoning stands.", oddities.REASONING),
    "Errors": ("Errors inside of an answer, and answers of another kind.", oddities.ERRORS),
}
COLUMNS = ["what the server sends", "battle", "run", "gateway", "gateway, stream", "booked"]
# The caller of a stream has read this text before the tag came; from the next answer on it is held back.
TEXT_ONCE = "tag-closed-only"
_FINISHES = {"length": "answer, cut by length", "content_filter": "answer, filtered"}


def page() -> str:
    # An unescaped tag would be HTML.
    return HEAD + "".join((*_sections(), *_connections(), *_usage())).replace("<", "\\<")


def _sections() -> Iterator[str]:
    for title, (sentence, odds) in GROUPS.items():
        yield f"\n## {title}\n\n{sentence}\n\n| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}\n"
        for name, odd in odds.items():
            yield f"| {' | '.join(_row(name, odd))} |\n"


def _connections() -> Iterator[str]:
    from tests.models_registry.providers.test_connection_errors import ENDS

    yield "\n## Connections\n\nLengths, chunks and breaks; the end is the same everywhere.\n"
    yield "\n| what the server does | end |\n|---|---|\n"
    for name, (_, code) in ENDS.items():
        yield f"| {name.replace('-', ' ')} | {f'`{code}`' if code else 'answer'} |\n"


def _usage() -> Iterator[str]:
    from tests.battles.worker.test_booked_tokens import SHAPES

    yield "\n## Usage\n\nReported tokens, and those that are booked; the same everywhere, also for failed answers.\n"
    yield "\n| what the server reports | prompt and answer, booked | kind |\n|---|---|---|\n"
    for name, (_, (prompt, answer), odd) in SHAPES.items():
        yield f"| {name} | {prompt} + {answer} | {'reported' if odd is None else 'estimated'} |\n"


def _row(name: str, odd: Odd) -> list[str]:
    from tests.gateway.test_odd_providers import wanted

    own, (code, text, finish) = _end_of(odd), wanted(odd)
    gateway = f"`{code}`" if code else _words(finish, has_text=bool(text), has_reasoning=bool(odd.reasoning))
    stream = "text the first time, then " + gateway if name == TEXT_ONCE else gateway
    return [WORDS.get(name, name.replace("-", " ")), own, own, gateway, stream, _booked(odd)]


def _end_of(odd: Odd) -> str:
    return f"`{odd.code}`" if odd.code else _words(odd.finish, has_text=True, has_reasoning=bool(odd.reasoning))


def _words(finish: str, *, has_text: bool, has_reasoning: bool) -> str:
    if finish == "tool_calls":
        return "tool calls"
    if not has_text:
        return "no text, cut by length" if finish == "length" else "no text"
    return _FINISHES.get(finish, "answer") + (", reasoning apart" if has_reasoning else "")


def _booked(odd: Odd) -> str:
    call = _call(odd)
    if not call.cost:
        return "nothing"
    return "estimated" if call.tokens_estimated else "reported"


def _call(odd: Odd) -> "Call":
    from battles.calls.outcomes import set_outcome
    from battles.calls.values import CallResult, PreparedCall
    from battles.models import Call
    from models_registry.models import LanguageModel, Price, Provider
    from models_registry.providers import ChatRequest, FailureCode
    from tests.models_registry.providers.reading import read

    got = read([odd.body], encoding=odd.headers.get("Content-Encoding", ""), broken_off=odd.breaks_off)
    price = Price(input_per_million=Decimal(1000), output_per_million=Decimal(1000))
    model = LanguageModel(provider=Provider(), upstream_name="m", parameters={"max_tokens": 500})
    messages = [{"role": "user", "content": "Which river flows through Bonn?"}]
    request = ChatRequest("http://127.0.0.1:1/v1", "", "m", messages, {"max_tokens": 500}, {})
    error = FailureCode(odd.code) if odd.code else None
    result = CallResult([got.text], reasonings=[got.reasoning], completion=got.completion, error=error)
    call = Call(model=model, price=price)
    set_outcome(PreparedCall(call, 0, 0, "", request), result)
    return call


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.arena_settings")
    django.setup()
    PAGE.write_text(page())
