import re

import msgspec

from common.payload_types import Json, JsonObject
from gateway.parsing.fields import BadField, Fields

MAX_TOOLS = 128
MAX_TOOLS_BYTES = 200_000
MAX_DESCRIPTION_CHARACTERS = 20_000
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


def parse_tools(body: Fields) -> list[JsonObject]:
    tools = [_tool(entry) for entry in body.objects("tools", at_most=MAX_TOOLS)]
    names = [tool["function"]["name"] for tool in tools]
    if len(set(names)) < len(names):
        raise BadField("Two tools have the same name.", "tools")
    _check_size(tools, "tools")
    return tools


def parse_tool_choice(body: Fields, tools: list[JsonObject]) -> str | JsonObject | None:
    choice = body.take("tool_choice")
    if choice is None:
        return None
    if not tools:
        raise BadField("“tool_choice” needs “tools”.", "tool_choice")
    if isinstance(choice, str) and choice in ("none", "auto", "required"):
        return choice
    fields = Fields(choice, "tool_choice")
    fields.one_of("type", ("function",))
    name = fields.required_object("function").text("name", max_length=64, required=True)
    if name not in (tool["function"]["name"] for tool in tools):
        raise BadField("“tool_choice” names no tool of this request.", "tool_choice.function.name")
    return {"type": "function", "function": {"name": name}}


def parse_response_format(body: Fields) -> JsonObject | None:
    fields = body.object("response_format")
    if fields is None:
        return None
    kind = fields.one_of("type", ("text", "json_object", "json_schema"))
    if kind != "json_schema":
        return {"type": kind}
    inner = fields.required_object("json_schema")
    found: JsonObject = {"name": _name(inner)}
    inner.require("schema")
    found |= _described_schema(inner, "schema")
    _check_size(found, "response_format")
    return {"type": kind, "json_schema": found}


def _tool(entry: Fields) -> JsonObject:
    entry.one_of("type", ("function",))
    function = entry.required_object("function")
    found: JsonObject = {"name": _name(function)}
    return {"type": "function", "function": found | _described_schema(function, "parameters")}


def _check_size(value: object, param: str) -> None:
    if len(msgspec.json.encode(value)) > MAX_TOOLS_BYTES:
        raise BadField(f"“{param}” may have at most {MAX_TOOLS_BYTES:,} bytes.", param)


def _name(fields: Fields) -> str:
    name = fields.text("name", max_length=64, required=True)
    if not _NAME.fullmatch(name):
        raise fields.bad("name", "A name has 1 to 64 letters, digits, hyphens and underscores.")
    return name


def _described_schema(fields: Fields, schema_name: str) -> JsonObject:
    found: JsonObject = {}
    if "description" in fields:
        found["description"] = fields.text("description", max_length=MAX_DESCRIPTION_CHARACTERS)
    if schema_name in fields:
        schema = fields.take(schema_name)
        if not isinstance(schema, dict):
            raise fields.bad(schema_name, f"“{fields.param(schema_name)}” must be a JSON Schema.", "invalid_type")
        _check_references(schema, fields.param(schema_name))
        found[schema_name] = schema
    if "strict" in fields:
        found["strict"] = fields.boolean("strict")
    return found


def _check_references(schema: JsonObject, path: str) -> None:
    """Refuse references that leave the schema or lead back to themselves: servers that expand them would not end.

    Each part is read once, however many references lead to it, and without recursion: chains may be long.
    """
    # By id, as parts are not hashable: whether all of a part was read.
    is_finished: dict[int, bool] = {}
    unread: list[Json] = [schema]
    while unread:
        part = unread[-1]
        if id(part) in is_finished:
            is_finished[id(unread.pop())] = True
            continue
        is_finished[id(part)] = False
        for following in _followed_by(part, schema, path):
            state = is_finished.get(id(following))
            if state is None:
                unread.append(following)
            elif not state:
                raise BadField("A schema may not contain itself.", path, "cyclic_schema")


def _followed_by(part: Json, schema: JsonObject, path: str) -> list[Json]:
    """Return the objects and lists in a part, and what its reference leads to."""
    found = list(part.values()) if isinstance(part, dict) else list(part) if isinstance(part, list) else []
    reference = part.get("$ref") if isinstance(part, dict) else None
    if isinstance(reference, str):
        found.append(_target(schema, reference, path))
    return [value for value in found if isinstance(value, dict | list)]


def _target(schema: JsonObject, reference: str, path: str) -> Json:
    head, *names = reference.split("/")
    found: Json = schema
    for name in names:
        name = name.replace("~1", "/").replace("~0", "~")
        found = found.get(name) if isinstance(found, dict) else None
    if head != "#" or found is None:
        raise BadField("A reference in a schema must begin with # and lead to a part of it.", path)
    return found
