"""Tools of Responses as functions of chat completions, and the way back."""

from dataclasses import dataclass, field

from common.conversation.errors import BadField
from common.payload_types import JsonObject
from gateway.parsing.fields import Fields

FUNCTION_FIELDS = ("name", "description", "parameters", "strict")


@dataclass
class Tools:
    """functions: as models receive them. calls: by function, the fields that tell its calls apart.

    dropped: kinds of tools that run on a server.
    """

    functions: list[JsonObject] = field(default_factory=list)
    calls: dict[str, JsonObject] = field(default_factory=dict)
    dropped: list[str] = field(default_factory=list)

    def add(self, values: object, param: str, *, namespace: str = "") -> None:
        """Raises BadField."""
        if not isinstance(values, list):
            raise BadField(f"“{param}” must be a list.", param, "invalid_type")
        for number, value in enumerate(values):
            tool = Fields(value, f"{param}.{number}")
            kind = tool.text("type", max_length=100, required=True)
            if kind == "namespace":
                name = tool.text("name", max_length=1_000, required=True)
                self.add(tool.take("tools") or [], tool.param("tools"), namespace=name)
            elif kind in ("function", "custom"):
                self._add_function(tool, kind, namespace)
            else:
                self.dropped.append(kind)

    def function_name(self, name: str, namespace: str) -> str:
        if not namespace:
            return name
        return namespace + name if namespace.endswith("__") else f"{namespace}__{name}"

    def _add_function(self, tool: Fields, kind: str, namespace: str) -> None:
        own = tool.text("name", max_length=1_000, required=True)
        name = self.function_name(own, namespace)
        function: JsonObject = {field: value for field in FUNCTION_FIELDS if (value := tool.take(field)) is not None}
        function["name"] = name
        if kind == "custom":
            function["parameters"] = _one_text(tool.take("format"))
        self.functions.append({"type": "function", "function": function})
        if kind == "custom" or namespace:
            self.calls[name] = {
                "type": "custom_tool_call" if kind == "custom" else "function_call", "name": own,
                **({"namespace": namespace} if namespace else {}),
            }  # fmt: skip


def _one_text(grammar: object) -> JsonObject:
    """Return the schema of a custom tool's input. grammar: of its `format`."""
    text: JsonObject = {"type": "string"}
    if isinstance(grammar, dict) and grammar.get("type") == "grammar":
        text["description"] = f"Must match this {grammar.get('syntax')} grammar:\n{grammar.get('definition')}"
    return {"type": "object", "properties": {"input": text}, "required": ["input"], "additionalProperties": False}


def chat_tool_choice(choice: object, tools: Tools) -> str | JsonObject | None:
    """Leave only the allowed tools in `tools`. Raises BadField if a dropped tool is required."""
    if choice == "required" and tools.dropped and not tools.functions:
        raise _dropped_choice()
    if not isinstance(choice, dict):
        return choice if isinstance(choice, str) else None
    kind = choice.get("type")
    if kind in ("function", "custom"):
        name = tools.function_name(str(choice.get("name")), str(choice.get("namespace") or ""))
        return {"type": "function", "function": {"name": name}}
    if kind != "allowed_tools":
        raise _dropped_choice()
    allowed = [tool for tool in choice.get("tools") or () if isinstance(tool, dict)]
    names = {tools.function_name(str(tool.get("name")), str(tool.get("namespace") or "")) for tool in allowed}
    tools.functions = [tool for tool in tools.functions if tool["function"]["name"] in names]
    mode = choice.get("mode")
    if mode == "required" and not tools.functions:
        raise _dropped_choice()
    return mode if isinstance(mode, str) else None


def _dropped_choice() -> BadField:
    return BadField("“tool_choice” requires a tool that runs on a server, and there is none here.", "tool_choice")
