from django.conf import settings

from common.conversation.errors import BadField
from common.payload_types import Json, JsonObject

# Tools that the caller runs; a provider would run those of other types itself.
CALLERS_TYPES = ("function", "custom")


def read_tools(value: Json) -> tuple[list[JsonObject], list[JsonObject]]:
    """Return the caller's tools and the provider's, as they came. Raises BadField."""
    if value is None:
        return [], []
    tools = [tool for tool in value if isinstance(tool, dict)] if isinstance(value, list) else []
    if not isinstance(value, list) or len(tools) < len(value):
        raise BadField("“tools” must be a list of objects.", "tools", "invalid_type")
    if len(tools) > settings.ARENA_GATEWAY_TOOLS:
        raise BadField(f"“tools” may have at most {settings.ARENA_GATEWAY_TOOLS:,} entries.", "tools")
    callers = [tool for tool in tools if _is_callers(tool)]
    return callers, [tool for tool in tools if not _is_callers(tool)]


def _is_callers(tool: JsonObject) -> bool:
    return tool.get("type", "function") in CALLERS_TYPES


def as_tools(body: JsonObject) -> JsonObject:
    """Return the body with OpenAI's older `functions` in the form of tools."""
    body = dict(body)
    functions, choice = body.pop("functions", None), body.pop("function_call", None)
    if isinstance(functions, list) and functions and not body.get("tools"):
        body["tools"] = [{"type": "function", "function": function} for function in functions]
        if choice is not None:
            body["tool_choice"] = {"type": "function", "function": choice} if isinstance(choice, dict) else choice
    return body
