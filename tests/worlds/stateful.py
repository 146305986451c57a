"""Models of the fake provider that want the state of their tool call back: name → (deltas, fields of the message)."""

from typing import Any

Body = dict[str, Any]
CALL: Body = {
    "index": 0, "id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Bonn"}'},
}  # fmt: skip
SIGNATURE = "c2lnbmF0dXJlIG9mIGEgdGhvdWdodA=="
SIGNED = {"google": {"thought_signature": SIGNATURE}}
TEXT = {"type": "reasoning.text", "text": "let me see", "signature": SIGNATURE, "index": 0, "format": "x-v1"}
SECRET = {"type": "reasoning.encrypted", "data": "gAAAAsealed", "id": "rs_1", "index": 1, "format": "x-v1"}
BLOCK = {"type": "thinking", "thinking": "let me see", "signature": SIGNATURE}
REDACTED = {"type": "redacted_thinking", "data": "EmwKsealed"}

STATEFUL: dict[str, tuple[list[Body], Body]] = {
    # Gemini: the signature stands in the tool call, or comes after its arguments.
    "signs-calls": ([{"tool_calls": [CALL | {"extra_content": SIGNED}]}], {"calls": SIGNED}),
    "signs-calls-late": ([{"tool_calls": [CALL]}, {"tool_calls": [{"index": 0, "extra_content": SIGNED}]}],
                         {"calls": SIGNED}),
    "signs-texts": ([{"content": "One moment."}, {"content": "", "extra_content": SIGNED}, {"tool_calls": [CALL]}],
                    {"content": "One moment.", "extra_content": SIGNED}),
    # DeepSeek, Kimi, and a server whose models the arena does not know.
    "deepseek-v9": ([{"reasoning_content": "let me "}, {"reasoning_content": "see"}, {"tool_calls": [CALL]}],
                    {"reasoning_content": "let me see"}),
    "kimi-k9-thinking": ([{"reasoning_content": "let me see", "content": None}, {"tool_calls": [CALL]}],
                         {"reasoning_content": "let me see"}),
    "unknown-thinker": ([{"reasoning_content": "let me see"}, {"tool_calls": [CALL]}],
                        {"reasoning_content": "let me see"}),
    # OpenRouter and LiteLLM, in parts.
    "has-details": (
        [
            {"reasoning": "let me ", "reasoning_details": [{**TEXT, "text": "let me ", "signature": None}]},
            {"reasoning": "see", "reasoning_details": [{"type": "reasoning.text", "text": "see", "index": 0}]},
            {"reasoning_details": [{"type": "reasoning.text", "signature": SIGNATURE, "index": 0}, SECRET]},
            {"tool_calls": [CALL]},
        ],
        {"reasoning_details": [TEXT, SECRET]},
    ),
    "has-blocks": (
        [
            {"reasoning_content": "let me ", "thinking_blocks": [{**BLOCK, "thinking": "let me ", "signature": ""}]},
            {"reasoning_content": "see", "thinking_blocks": [{**BLOCK, "thinking": "see", "signature": None}]},
            {"thinking_blocks": [{**BLOCK, "thinking": ""}, REDACTED]},
            {"tool_calls": [CALL]},
        ],
        {"thinking_blocks": [BLOCK, REDACTED]},
    ),
    "has-blocks-in-content": (
        [{"content": [BLOCK]}, {"content": [{"type": "text", "text": "One moment."}]}, {"tool_calls": [CALL]}],
        {"content": [BLOCK, {"type": "text", "text": "One moment."}]},
    ),
}  # fmt: skip


def refusal_of_second_turn(model: str, body: Body) -> tuple[int, Body] | None:
    """Return (status, error) unless the message that called the tool has its state."""
    wanted = STATEFUL[model][1]
    [message] = [message for message in body["messages"] if message.get("tool_calls")]
    found = {name: message.get(name) for name in wanted if name != "calls"}
    if "calls" in wanted:
        found["calls"] = message["tool_calls"][0].get("extra_content")
    if found == wanted:
        return None
    [name, *_] = [name for name in wanted if found[name] != wanted[name]]
    words = f"{name} is missing in the assistant tool call message: must be passed back as it was sent"
    return 400, {"error": {"message": words, "type": "invalid_request_error"}}
