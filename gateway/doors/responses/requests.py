"""Requests of Responses as chat completions."""

import msgspec

from common.conversation.errors import BadField
from common.payload_types import JsonObject
from gateway.doors.conversation import ConversationBuilder, joined_texts, text_or_parts
from gateway.doors.responses.tools import Tools, chat_tool_choice
from gateway.parsing.fields import Fields

_TEXT_PARTS = ("input_text", "output_text", "text")
# Fields of the body that are refused with a sentence; null counts as missing.
_REFUSED = {
    "background": "Answers in the background are not offered here: use a stream.",
    "conversation": "Conversations are not stored here: send the items again.",
    "prompt": "Prompts are not stored here: send “instructions” and “input”.",
}
_CHATS_OWN = {
    "messages", "max_tokens", "max_completion_tokens", "response_format", "functions", "function_call", "n",
    "reasoning_effort", "stream_options", "top_logprobs", "logprobs", "include", "store",
}  # fmt: skip
_INCLUDED = "reasoning.encrypted_content"
# Fields that an answer repeats of its request, with their values where the request lacks them.
ECHO: JsonObject = {
    "background": False, "instructions": None, "max_output_tokens": None, "max_tool_calls": None, "metadata": {},
    "parallel_tool_calls": True, "previous_response_id": None, "prompt_cache_key": None,
    "reasoning": {"effort": None, "summary": None}, "safety_identifier": None, "service_tier": "default",
    "temperature": 1.0, "text": {"format": {"type": "text"}}, "tool_choice": "auto", "tools": [], "top_logprobs": 0,
    "top_p": 1.0, "truncation": "disabled", "user": None,
}  # fmt: skip


class ChatRequest(msgspec.Struct):
    """body: of chat completions. dropped: names of what is not in it. calls: as Tools.calls."""

    body: JsonObject
    dropped: list[str]
    calls: dict[str, JsonObject]


def chat_request(decoded: JsonObject, previous: list[JsonObject]) -> ChatRequest:
    """previous: messages before the input's. Raises BadField."""
    fields = Fields(decoded)
    for name, sentence in _REFUSED.items():
        if fields.take(name):
            raise BadField(sentence, name, "unsupported_parameter")
    fields.take("previous_response_id")
    tools, dropped = Tools(), _dropped_includes(fields)
    tools.add(fields.take("tools") or [], "tools")
    builder = ConversationBuilder(previous)
    _add_input(fields, builder, tools, dropped)
    body: JsonObject = {"messages": builder.finish()}
    if instructions := fields.text("instructions", max_length=100_000_000):
        body["messages"] = [{"role": "system", "content": instructions}, *body["messages"]]
    choice = chat_tool_choice(fields.take("tool_choice"), tools)
    body |= {
        "tools": tools.functions or None, "tool_choice": choice, "max_tokens": fields.take("max_output_tokens"),
        "stream_options": {"include_usage": True} if decoded.get("stream") is True else None,
    }  # fmt: skip
    _add_text(fields, body, dropped)
    _add_reasoning(fields, body, dropped)
    own = [name for name in fields.rest() if name in _CHATS_OWN]
    dropped += [name for name in own if name not in ("include", "store")]
    dropped += [f"tools.{kind}" for kind in dict.fromkeys(tools.dropped)]
    body |= {name: value for name in fields.rest() if name not in own and (value := fields.take(name)) is not None}
    return ChatRequest({name: value for name, value in body.items() if value is not None}, dropped, tools.calls)


def _dropped_includes(fields: Fields) -> list[str]:
    included = fields.take("include") or []
    if not isinstance(included, list):
        raise BadField("“include” must be a list.", "include", "invalid_type")
    return [f"include.{name}" for name in included if name != _INCLUDED]


def _add_text(fields: Fields, body: JsonObject, dropped: list[str]) -> None:
    text = fields.object("text")
    if text is None:
        return
    if (form := text.object("format")) is not None:
        kind = form.text("type", max_length=100, required=True)
        inner: JsonObject = {name: form.take(name) for name in form.rest()}
        if kind == "json_schema":
            body["response_format"] = {"type": kind, "json_schema": inner}
        elif kind != "text":
            body["response_format"] = {"type": kind, **inner}
    body["verbosity"] = text.take("verbosity")
    dropped += [f"text.{name}" for name in text.rest()]


def _add_reasoning(fields: Fields, body: JsonObject, dropped: list[str]) -> None:
    reasoning = fields.object("reasoning")
    if reasoning is None:
        return
    body["reasoning_effort"] = reasoning.take("effort")
    dropped += [f"reasoning.{name}" for name in reasoning.rest() if name not in ("summary", "generate_summary")]


def _add_input(fields: Fields, builder: ConversationBuilder, tools: Tools, dropped: list[str]) -> None:
    value = fields.take("input")
    if isinstance(value, str):
        builder.add({"role": "user", "content": value})
        return
    if not isinstance(value, list):
        code = "missing_required_parameter" if value is None else "invalid_type"
        raise BadField("“input” must be a string or a list of items.", "input", code)
    for number, entry in enumerate(value):
        item = Fields(entry, f"input.{number}")
        kind = item.text("type", max_length=100) or ("message" if "role" in item else "item_reference")
        match kind:
            case "message":
                _add_message(item, builder)
            case "reasoning":
                builder.add_reasoning(_reasoning_text(item), item.take("encrypted_content"))
            case "function_call" | "custom_tool_call":
                _add_call(item, kind, builder, tools)
            case "function_call_output" | "custom_tool_call_output":
                call_id = item.text("call_id", max_length=10_000, required=True)
                content = _output(item.take("output"), item.param("output"))
                builder.add({"role": "tool", "tool_call_id": call_id, "content": content})
            case "additional_tools":
                tools.add(item.take("tools") or [], item.param("tools"))
            case "item_reference":
                raise item.bad("type", "Items are not stored here: send the item itself.", "unsupported_parameter")
            case _:
                dropped.append(f"input.{kind}")


def _add_message(item: Fields, builder: ConversationBuilder) -> None:
    role = item.text("role", max_length=100, required=True)
    content = _content(item.take("content"), item.param("content"))
    if role != "assistant":
        builder.add({"role": role, "content": content})
        return
    builder.add_answer(joined_texts(content) if isinstance(content, list) else content)


def _add_call(item: Fields, kind: str, builder: ConversationBuilder, tools: Tools) -> None:
    call_id = item.text("call_id", max_length=10_000, required=True)
    name = item.text("name", max_length=1_000, required=True)
    name = tools.function_name(name, item.text("namespace", max_length=1_000))
    if kind == "custom_tool_call":
        arguments = msgspec.json.encode({"input": item.text("input", max_length=100_000_000)}).decode()
    else:
        arguments = item.text("arguments", max_length=100_000_000)
    builder.add_call(call_id, name, arguments)


def _reasoning_text(item: Fields) -> str:
    parts = item.take("content") or item.take("summary") or []
    if not isinstance(parts, list):
        return ""
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    return "\n\n".join(text for text in texts if isinstance(text, str))


def _output(output: object, param: str) -> str | list[JsonObject]:
    if isinstance(output, str | list):
        return _content(output, param)
    return msgspec.json.encode(output).decode()


def _content(content: object, param: str) -> str | list[JsonObject]:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise BadField(f"“{param}” must be a string or a list of parts.", param, "invalid_type")
    return text_or_parts([_part(part, f"{param}.{number}") for number, part in enumerate(content)])


def _part(value: object, param: str) -> JsonObject:
    """Return a part of chat completions; parts of unknown kinds stay as they are."""
    if not isinstance(value, dict):
        raise BadField(f"“{param}” must be an object.", param, "invalid_type")
    kind = value.get("type")
    rest: JsonObject = {name: field for name, field in value.items() if name != "type" and field is not None}
    if kind in _TEXT_PARTS:
        return {"type": "text", **{name: rest[name] for name in rest if name not in ("annotations", "logprobs")}}
    if kind == "refusal":
        return {"type": "text", "text": rest.get("refusal", "")}
    if kind == "input_image":
        if "image_url" not in rest:
            raise BadField("Send the picture itself: files are not stored here.", param, "unsupported_parameter")
        picture = {name: rest[name] for name in ("detail",) if name in rest}
        more: JsonObject = {name: rest[name] for name in rest if name not in ("image_url", "detail", "file_id")}
        return {"type": "image_url", "image_url": {"url": rest["image_url"], **picture}, **more}
    if kind == "input_file":
        return {"type": "file", "file": rest}
    return dict(value)
