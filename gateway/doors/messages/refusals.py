import msgspec

from common.api.anthropic_errors import AnthropicErrorPayload, anthropic_error
from common.errors import ArenaError
from gateway.errors import ContextTooLong


def refusal_payload(error: ArenaError) -> AnthropicErrorPayload:
    """Return the refusal; of too long a prompt in Anthropic's words, on which agents compact."""
    payload = anthropic_error(error)
    if isinstance(error, ContextTooLong):
        has_numbers = error.tokens and error.maximum
        numbers = f": {error.tokens} tokens > {error.maximum} maximum" if has_numbers else ""
        payload["error"]["message"] = f"prompt is too long{numbers}"
    return payload


def error_event(error: ArenaError) -> bytes:
    return b"event: error\ndata: " + msgspec.json.encode(refusal_payload(error)) + b"\n\n"
