"""Events of a chat completion as values: usual ones are decoded at once, odd ones converted by their shape."""

import json
import re
import secrets
from collections.abc import Iterator
from typing import Any

import msgspec

from common.payload_types import Json, JsonObject
from models_registry.providers.answer_state import state_of
from models_registry.providers.base import FailureCode, ProviderError
from models_registry.providers.oddities import Oddity

MAX_DEPTH = 8
# Objects in one event, of servers that send several.
MAX_VALUES = 10_000


class Delta(msgspec.Struct, forbid_unknown_fields=True):
    """Usual fields; a delta with others is converted by _Converter."""

    content: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    tool_calls: list[Any] | None = None
    role: object = None
    refusal: None = None
    function_call: None = None
    audio: None = None
    reasoning_details: None = None
    # Never decoded: no server knows the name.
    state: JsonObject | None = msgspec.field(default=None, name=secrets.token_hex(8))


class Choice(msgspec.Struct, forbid_unknown_fields=True):
    delta: Delta
    finish_reason: str | None = None
    index: int = 0
    logprobs: msgspec.Raw = msgspec.Raw()
    stop_reason: msgspec.Raw = msgspec.Raw()
    matched_stop: msgspec.Raw = msgspec.Raw()
    token_ids: msgspec.Raw = msgspec.Raw()
    native_finish_reason: msgspec.Raw = msgspec.Raw()
    content_filter_results: msgspec.Raw = msgspec.Raw()


class Chunk(msgspec.Struct):
    choices: list[Choice]
    usage: Any = None
    x_groq: Any = None
    error: Any = None


class ConvertedChunk(Chunk):
    """usages: objects with token counts. is_whole: a completion that was not streamed.

    failure: raised by the reader, after the text before it.
    """

    usages: list[JsonObject] = []
    oddities: set[Oddity] = set()
    is_whole: bool = False
    failure: ProviderError | None = None

    @property
    def is_heartbeat(self) -> bool:
        return not (self.choices or self.usages or self.error or self.failure)


_decoder = msgspec.json.Decoder(Chunk)
# Marks the end of a stream among its chunks.
DONE = Chunk([])
_DONE_WORDS = re.compile(r'"?\[(?:DONE|END)\]"?', re.IGNORECASE)
_BRACKETED_WORDS = re.compile(r"\[[\w .:-]*\]")
decode_usual = _decoder.decode
UNUSUAL = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


def decode(payload: bytes) -> list[Chunk]:
    """Return an event's chunks; failures are among them."""
    try:
        chunk = decode_usual(payload)
    except UNUSUAL:
        return decode_unusual(payload)
    return decode_unusual(payload) if chunk.error else [chunk]


def failed(code: FailureCode, words: str) -> Chunk:
    return ConvertedChunk([], failure=ProviderError(code, words))


def decode_unusual(payload: bytes, event: str = "", *, is_document: bool = False) -> list[Chunk]:
    """As decode. event: its name. is_document: JSON without a frame."""
    text = payload.decode(errors="replace").strip().removeprefix("\ufeff")
    while text[:5].lower() == "data:":
        text = text[5:].strip()
    if _DONE_WORDS.fullmatch(text):
        return [DONE]
    chunks: list[Chunk] = []
    try:
        for value in _values(text, event=event):
            chunks += _chunks_of(value, event=event, is_document=is_document)
    except ProviderError as error:
        chunks.append(ConvertedChunk([], failure=error))
    if not chunks:
        return [ConvertedChunk([], oddities={Oddity.HEARTBEAT})] if text else []
    if "\ufffd" in text:
        for chunk in chunks:
            if isinstance(chunk, ConvertedChunk):
                chunk.oddities.add(Oddity.INVALID_TEXT)
    return chunks


def _values(text: str, *, event: str) -> Iterator[Json]:
    """Yield JSON values; none for words. Raises ProviderError for broken JSON."""
    at = number = 0
    while at < len(text):
        try:
            value, at = _json.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            if event == "error":
                yield {"error": text[at:]}
            elif text[0] in "{[" and not _BRACKETED_WORDS.fullmatch(text):
                raise ProviderError(FailureCode.MALFORMED, str(error)) from None
            return
        if number == 0 and text[0] not in '{["' and at < len(text):
            return  # words that begin with a number, such as a date
        yield value
        number += 1
        if number > MAX_VALUES:
            raise ProviderError(FailureCode.MALFORMED, "too many values in an event")
        at = _SEPARATORS.match(text, at).end()  # type: ignore[union-attr]  # matches "" too


_SEPARATORS = re.compile(r"[\s,]*")
# The int of a number with thousands of digits raises ValueError.
_json = json.JSONDecoder(strict=False, parse_int=lambda digits: int(digits[:30]))


def _chunks_of(value: Json, *, event: str, is_document: bool, depth: int = 0) -> list[Chunk]:
    if depth > MAX_DEPTH:
        return []
    if isinstance(value, str):
        if _DONE_WORDS.fullmatch(value.strip()):
            return [DONE]
        if value.lstrip()[:1] in ("{", "["):  # JSON in JSON
            inner = _values(value.strip(), event="")
            return [
                chunk
                for entry in inner
                for chunk in _chunks_of(entry, event=event, is_document=is_document, depth=depth + 1)
            ]
        value = {"error": value} if event == "error" and value.strip() else None
    if isinstance(value, list):
        return [
            chunk
            for entry in value[:MAX_VALUES]
            for chunk in _chunks_of(entry, event=event, is_document=is_document, depth=depth + 1)
        ]
    if not isinstance(value, dict):
        return []
    return [_Converter(value, event=event, is_document=is_document).chunk()]


_REASONING = re.compile(r"reason|think|thought|analysis|(?:^|_)cot(?:$|_)", re.IGNORECASE)
_NO_REASONING = re.compile(
    r"finish|stop|token|effort|signature|budget|enabled|time|(?:^|_)id$|type|encrypt|opaque|redact", re.IGNORECASE
)
# The first of these fields that has a text is the text.
_TEXTS = ("content", "text", "output_text", "value", "parts")
_FINISHES = ("finish_reason", "finishReason", "stop_reason", "stopReason", "done_reason")
_CODES = ("code", "status", "status_code", "statusCode", "error_code", "errorCode")
_WORDS = ("message", "detail", "error_message", "error_msg", "errorMessage", "msg", "status_msg", "title")
_ERROR_WORDS = re.compile(
    r"error|fail|invalid|exceed|limit|denied|unauth|forbid|exhaust|unavailable|overload|not_?found|quota|insufficient",
    re.IGNORECASE,
)
# Fields in which proxies put a completion.
_ENVELOPES = ("data", "result", "output", "response", "body", "chunk", "completion")


def _split(value: Json, depth: int = 0) -> tuple[str, str]:
    """Return (text, reasoning) of a text, a part, or a list of them."""
    if isinstance(value, str):
        return value, ""
    if isinstance(value, bool) or value is None or depth > MAX_DEPTH:
        return "", ""
    if isinstance(value, int | float):
        return json.dumps(value), ""
    if isinstance(value, list):
        parts = [_split(part, depth + 1) for part in value]
        return "".join(text for text, _ in parts), "".join(reasoning for _, reasoning in parts)
    kind = str(value.get("type") or "")
    reasoning = _reasoning_of(value, depth + 1)
    if _REASONING.search(kind) or value.get("thought") is True:
        return "", reasoning or "".join(_split({"text": _first_text(value), "type": ""}, depth + 1))
    text, inner = _split(_first_text(value), depth + 1)
    refusal = value.get("refusal")
    return text or (refusal if isinstance(refusal, str) else ""), reasoning + inner


def _first_text(part: JsonObject) -> Json:
    text: Json = next((part[name] for name in _TEXTS if part.get(name) not in (None, "")), None)
    return text if not isinstance(text, bool) else None


def _reasoning_of(fields: JsonObject, depth: int = 0) -> str:
    """Return the first reasoning among fields: some servers send the same in two."""
    for name, value in fields.items():
        if _REASONING.search(name) and not _NO_REASONING.search(name) and not isinstance(value, bool | int | float):
            text, reasoning = _split(value, depth + 1)
            if not (text or reasoning) and isinstance(value, dict | list):
                text = _summaries(value)
            if text or reasoning:
                return reasoning + text
    return ""


def _summaries(value: Json) -> str:
    parts = value if isinstance(value, list) else [value]
    return "".join(_split(part.get("summary"))[0] for part in parts if isinstance(part, dict))


class _Converter:
    """One object of any shape."""

    def __init__(self, value: JsonObject, *, event: str, is_document: bool) -> None:
        self._event, self._is_document = event, is_document
        self._oddities: set[Oddity] = set()
        for _ in range(3):
            inner = next((value[name] for name in _ENVELOPES if isinstance(value.get(name), dict)), None)
            if "choices" in value or inner is None:
                break
            if not ({"choices", "usage"} & inner.keys()):
                break
            value = value | inner
        self._value = value

    def chunk(self) -> Chunk:
        """Raises ProviderError for another API."""
        value = self._value
        usages = list(_usages(value))
        choices = value.get("choices")
        if isinstance(choices, dict):
            is_one = {"delta", "message", "text", "finish_reason"} & choices.keys()
            choices = [choices] if is_one else list(choices.values())
        objects = [choice for choice in choices if isinstance(choice, dict)] if isinstance(choices, list) else []
        for choice in objects:
            usages += _usages(choice)
        error = _error_in(value) or next(filter(None, map(_error_in, objects)), None)
        if error is None and not objects:
            error = self._bare_error()
            if error is None and "choices" not in value:
                _refuse_another_api(value)
        converted = [self._choice(choice) for choice in objects]
        is_whole = Oddity.MESSAGE in self._oddities and (self._is_document or value.get("object") == "chat.completion")
        if "choices" in value and not isinstance(choices, list | None):
            self._oddities.add(Oddity.ODD_VALUE)
        return ConvertedChunk(converted, error=error, usages=usages, oddities=self._oddities, is_whole=is_whole)

    def _choice(self, choice: JsonObject) -> Choice:
        delta, message = choice.get("delta"), choice.get("message")
        finish = _finish_of(choice)
        if not delta and (isinstance(message, dict | str) or choice.get("text") not in (None, "")):
            self._oddities.add(Oddity.MESSAGE)
            delta = message if message else {"content": choice.get("text")}
        if isinstance(delta, dict):
            finish = finish or _finish_of(delta)
        else:
            delta = {"content": delta if isinstance(delta, str | list) else None}
        word = choice.get("finish_reason")
        if not isinstance(word, str | None) or not isinstance(delta.get("content"), str | list | None):
            self._oddities.add(Oddity.ODD_VALUE)
        index = choice.get("index")
        if isinstance(index, str) and index.isascii() and index.isdigit():
            index = int(index[:9])
        is_number = isinstance(index, int | float) and index == index and abs(index) < 1e9
        return Choice(self._delta(delta), finish, int(index) if is_number else 0)  # type: ignore[arg-type]

    def _delta(self, fields: JsonObject) -> Delta:
        text, inner = _split({name: fields[name] for name in _TEXTS if name in fields})
        reasoning = _reasoning_of(fields) + inner
        refusal, _ = _split(fields.get("refusal"))
        if refusal and not text:
            self._oddities.add(Oddity.REFUSAL)
            text = refusal
        audio = fields.get("audio")
        if not text and isinstance(audio, dict):
            text, _ = _split(audio.get("transcript"))
        if _has_picture(fields):
            self._oddities.add(Oddity.PICTURE)
        calls = fields.get("tool_calls")
        calls = [calls] if isinstance(calls, dict) else calls if isinstance(calls, list) else []
        if isinstance(fields.get("function_call"), dict):
            calls = [*calls, {"function": fields["function_call"]}]
            self._oddities.add(Oddity.TOOL_CALL_PARTS)
        return Delta(text or None, reasoning or None, tool_calls=calls or None, state=state_of(fields) or None)

    def _bare_error(self) -> Json:
        """Return an error that is not in a field `error`."""
        value = self._value
        words = next((value[name] for name in _WORDS if isinstance(value.get(name), str) and value[name]), None)
        base = value.get("base_resp")
        if isinstance(base, dict) and base.get("status_code"):
            return base
        is_marked = self._event == "error" or "error" in f"{value.get('type')} {value.get('object')}".lower()
        has_code = any(_is_error_code(value.get(name)) for name in _CODES)
        if is_marked or (words and (has_code or self._is_document)):
            return value
        return None


def _is_error_code(code: Json) -> bool:
    """Return whether a code beside words means an error: no success, and no state of a queue."""
    if isinstance(code, str):
        return bool(_ERROR_WORDS.search(code)) or (code.isascii() and code.isdigit() and _is_error_code(int(code[:9])))
    return isinstance(code, int | float) and bool(code) and not 100 <= code < 400


def _error_in(value: JsonObject) -> Json:
    """Return the error of an object; None for placeholders without any value."""
    error = value.get("error")
    while isinstance(error, dict) and isinstance(error.get("error"), dict):
        error = error["error"]
    if isinstance(error, list):
        error = next((entry for entry in error if entry), None)
    if not error or (isinstance(error, dict) and not any(error.values())):
        return None
    if not isinstance(error, dict):  # its code, its type and its words may stand beside it
        siblings = {name: value[name] for name in (*_CODES, *_WORDS, "type") if value.get(name)}
        return {"message": error, **siblings} if isinstance(error, str) else siblings or {"message": json.dumps(error)}
    if not any(error.get(name) for name in _CODES):
        return error | {name: value[name] for name in _CODES if value.get(name)}
    return error


def _usages(value: JsonObject) -> Iterator[JsonObject]:
    for name, inner in value.items():
        word = name.lower()
        if isinstance(inner, dict) and word not in ("choices", "error"):
            if "usage" in word or word in ("tokens", "timings"):
                yield inner
            elif word in ("x_groq", "message", "meta", "metadata"):
                yield from _usages(inner)


def _finish_of(fields: JsonObject) -> str | None:
    return next((fields[name] for name in _FINISHES if isinstance(fields.get(name), str)), None)


def _has_picture(fields: JsonObject) -> bool:
    parts = fields.get("content")
    kinds = [str(part.get("type")) for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
    return bool(fields.get("images")) or any("image" in kind for kind in kinds)


# Fields that tell APIs apart: their names, and beginnings of `type` or `event_type`.
_OTHER_APIS: tuple[tuple[str, frozenset[str], tuple[str, ...]], ...] = (
    ("Anthropic's Messages", frozenset(), ("message_", "content_block_")),
    ("OpenAI's Responses", frozenset(), ("response.",)),
    ("Gemini's", frozenset({"candidates"}), ()),
    ("Ollama's", frozenset({"done", "model"}), ()),
    ("Cohere's", frozenset(), ("content-", "message-", "text-generation", "stream-")),
    ("Bedrock's Converse", frozenset({"contentBlockDelta"}), ()),
    ("Bedrock's Converse", frozenset({"messageStart"}), ()),
    ("Text Generation Inference's", frozenset({"generated_text"}), ()),
    ("llama.cpp's", frozenset({"content", "stop"}), ()),
    ("Hugging Face's Inference", frozenset({"token", "details"}), ()),
)
# Answers that are not streamed: (`type` or `object`, a field) → API.
_WHOLE = {("message", "content"): "Anthropic's Messages", ("response", "output"): "OpenAI's Responses"}


def _refuse_another_api(value: JsonObject) -> None:
    """Raises ProviderError for an object of another API."""
    kind = value.get("type") or value.get("event_type") or value.get("object")
    kind = kind if isinstance(kind, str) else ""
    name = next(
        (
            name
            for name, fields, beginnings in _OTHER_APIS
            if (fields and fields <= value.keys()) or (beginnings and kind.startswith(beginnings))
        ),
        next((name for (word, field), name in _WHOLE.items() if kind == word and field in value), ""),
    )
    if name:
        raise ProviderError(FailureCode.ANOTHER_API, f"speaks {name} API: set the provider's dialect")
