from common.payload_types import Json


def with_tool_calls(messages: list[Json]) -> list[Json]:
    """Return the messages with calls of OpenAI's older `functions`, and their results, in the form of tools."""
    if not any(map(_is_older, messages)):
        return messages
    renewed: list[Json] = []
    for number, message in enumerate(messages):
        if not isinstance(message, dict) or not _is_older(message):
            renewed.append(message)
        elif message.get("role") == "function":
            # The result of the newest call: there was one at a time.
            result = {name: value for name, value in message.items() if name != "name"}
            renewed.append({**result, "role": "tool", "tool_call_id": f"call_{number - 1}"})
        else:
            rest = {name: value for name, value in message.items() if name != "function_call"}
            call = {"id": f"call_{number}", "type": "function", "function": message["function_call"]}
            renewed.append({"content": None, **rest, "tool_calls": message.get("tool_calls") or [call]})
    return renewed


def _is_older(message: Json) -> bool:
    return isinstance(message, dict) and (message.get("role") == "function" or bool(message.get("function_call")))
