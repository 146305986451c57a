"""Requests of Messages as chat completions."""

import msgspec

from common.conversation.errors import BadField
from common.payload_types import JsonObject
from gateway.doors.conversation import ConversationBuilder, joined_texts, text_or_parts
from gateway.parsing.fields import Fields

_CHATS_OWN = {
    "messages", "max_completion_tokens", "response_format", "functions", "function_call", "n", "stop",
    "reasoning_effort", "stream_options", "parallel_tool_calls", "logprobs", "top_logprobs",
}  # fmt: skip
_TOOL_CHOICES = {"auto": "auto", "any": "required", "none": "none"}


def chat_body(decoded: JsonObject, *, needs_max_tokens: bool = True) -> tuple[JsonObject, list[str]]:
    """Return the body of chat completions, and the names of what is not in it. Raises BadField."""
    fields = Fields(decoded)
    if needs_max_tokens:
        fields.require("max_tokens")
    dropped: list[str] = []
    builder = ConversationBuilder()
    if system := _content(fields.take("system") or "", "system", dropped):
        builder.add({"role": "system", "content": system})
    fields.require("messages")
    for number, value in enumerate(_list(fields.take("messages"), "messages")):
        _add_message(Fields(value, f"messages.{number}"), builder, dropped)
    body: JsonObject = {"messages": builder.finish(), "stop": fields.take("stop_sequences")}
    if decoded.get("stream") is True:
        body["stream_options"] = {"include_usage": True}
    _add_tools(fields, body, dropped)
    _add_output_config(fields, body, dropped)
    own = [name for name in fields.rest() if name in _CHATS_OWN]
    dropped += own
    body |= {name: fields.take(name) for name in fields.rest() if name not in own}
    return {name: value for name, value in body.items() if value is not None}, dropped


def _add_output_config(fields: Fields, body: JsonObject, dropped: list[str]) -> None:
    old_format = fields.take("output_format")
    config = fields.object("output_config") or Fields({})
    body["reasoning_effort"] = config.take("effort")
    schema = config.take("format") or old_format
    if isinstance(schema, dict):
        body["response_format"] = {
            "type": "json_schema", "json_schema": {"name": "answer", "schema": schema.get("schema"), "strict": True},
        }  # fmt: skip
    dropped += [f"output_config.{name}" for name in config.rest()]


def _add_tools(fields: Fields, body: JsonObject, dropped: list[str]) -> None:
    tools = []
    for number, value in enumerate(_list(fields.take("tools") or [], "tools")):
        tool = Fields(value, f"tools.{number}")
        kind = tool.text("type", max_length=100)
        if kind not in ("", "custom"):
            dropped.append(f"tools.{kind}")
            continue
        function: JsonObject = {"name": tool.text("name", max_length=1_000, required=True)}
        given = {"description": "description", "parameters": "input_schema", "strict": "strict"}
        function |= {name: part for name, field in given.items() if (part := tool.take(field)) is not None}
        tools.append({"type": "function", "function": function, **_cache_control(value)})
    choice = fields.object("tool_choice")
    body["tools"] = tools or None
    if choice is None:
        return
    kind = choice.text("type", max_length=100, required=True)
    if kind == "tool":
        name = choice.text("name", max_length=1_000, required=True)
        body["tool_choice"] = {"type": "function", "function": {"name": name}}
    else:
        body["tool_choice"] = _TOOL_CHOICES.get(kind, kind)
    is_missing = kind == "any" and not tools
    is_missing |= kind == "tool" and all(tool["function"]["name"] != name for tool in tools)
    if is_missing:
        raise BadField("“tool_choice” requires a tool that is not here, or that runs on a server.", "tool_choice")
    if choice.boolean("disable_parallel_tool_use"):
        body["parallel_tool_calls"] = False


def _add_message(item: Fields, builder: ConversationBuilder, dropped: list[str]) -> None:
    role = item.text("role", max_length=100, required=True)
    item.require("content")
    content = item.take("content")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    blocks = _list(content, item.param("content"))
    param = item.param("content")
    if role == "assistant":
        _add_answer(blocks, param, builder, dropped)
        return
    parts = []
    for number, block in enumerate(blocks):
        path = f"{param}.{number}"
        if isinstance(block, dict) and block.get("type") == "tool_result":
            _add_result(block, path, builder, dropped)
        else:
            parts += _parts(block, path, dropped)
    if parts or not blocks:
        builder.add({"role": role, "content": text_or_parts(parts) if parts else ""})


def _add_result(block: JsonObject, path: str, builder: ConversationBuilder, dropped: list[str]) -> None:
    """Add a tool's result before the texts beside it: chat completions have it right after the call."""
    content = _content(block.get("content") or "", f"{path}.content", dropped)
    if cache := _cache_control(block):
        parts: list[JsonObject] = [{"type": "text", "text": content}] if isinstance(content, str) else content
        content = [*parts[:-1], parts[-1] | cache]
    call_id = Fields(block, path).text("tool_use_id", max_length=10_000, required=True)
    builder.add({"role": "tool", "tool_call_id": call_id, "content": content})


def _add_answer(blocks: list[JsonObject], param: str, builder: ConversationBuilder, dropped: list[str]) -> None:
    texts: list[JsonObject] = []
    calls: list[tuple[str, str, str]] = []
    for number, value in enumerate(blocks):
        block = Fields(value, f"{param}.{number}")
        match kind := value.get("type"):
            case "thinking":
                builder.add_reasoning(block.text("thinking", max_length=100_000_000), value.get("signature"))
            case "redacted_thinking":
                builder.add_reasoning("", value.get("data"))
            case "tool_use":
                arguments = msgspec.json.encode(value.get("input") or {}).decode()
                call_id = block.text("id", max_length=10_000, required=True)
                calls.append((call_id, block.text("name", max_length=1_000, required=True), arguments))
            case "text":
                texts += _parts(value, f"{param}.{number}", dropped)
            case _:
                dropped.append(f"messages.{kind}")
    if texts:
        builder.add_answer(joined_texts(texts))
    for call in calls:
        builder.add_call(*call)
    builder.end_answer()


def _content(content: object, param: str, dropped: list[str]) -> str | list[JsonObject]:
    if isinstance(content, str):
        return content
    parts = [
        part
        for number, block in enumerate(_list(content, param))
        for part in _parts(block, f"{param}.{number}", dropped)
    ]
    return text_or_parts(parts) if parts else ""


def _parts(value: object, param: str, dropped: list[str]) -> list[JsonObject]:
    """Return parts of chat completions; blocks of unknown kinds stay as they are."""
    if not isinstance(value, dict):
        raise BadField(f"“{param}” must be an object.", param, "invalid_type")
    more = _cache_control(value)
    match value.get("type"):
        case "text":
            return [{"type": "text", "text": value.get("text"), **more}]
        case "image":
            return [{"type": "image_url", "image_url": {"url": _address(value, param)}, **more}]
        case "document":
            return _document(value, param, dropped)
        case _:
            return [value]


def _document(value: JsonObject, param: str, dropped: list[str]) -> list[JsonObject]:
    given = value.get("source")
    source: JsonObject = given if isinstance(given, dict) else {}
    kind = source.get("type")
    if kind == "text":
        return [{"type": "text", "text": source.get("data"), **_cache_control(value)}]
    if kind == "content":
        content = _content(source.get("content") or "", f"{param}.source.content", dropped)
        return [{"type": "text", "text": content}] if isinstance(content, str) else content
    name = str(value.get("title") or "document.pdf")
    return [{"type": "file", "file": {"filename": name, "file_data": _address(value, param)}, **_cache_control(value)}]


def _address(value: JsonObject, param: str) -> str:
    """Return the address, or the data as one, of a picture or document. Raises BadField."""
    source = Fields(value.get("source"), f"{param}.source")
    match source.text("type", max_length=100, required=True):
        case "base64":
            media_type = source.text("media_type", max_length=200, required=True)
            return f"data:{media_type};base64,{source.text('data', max_length=100_000_000, required=True)}"
        case "url":
            return source.text("url", max_length=100_000_000, required=True)
    raise source.bad("type", "Send the data itself: files are not stored here.", "unsupported_parameter")


def _cache_control(value: JsonObject) -> JsonObject:
    return {"cache_control": value["cache_control"]} if value.get("cache_control") else {}


def _list(value: object, param: str) -> list[JsonObject]:
    if not isinstance(value, list):
        raise BadField(f"“{param}” must be a list.", param, "invalid_type")
    return value
