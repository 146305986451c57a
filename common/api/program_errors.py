"""Refusals in the languages that other software speaks, by address."""

from common.api.anthropic_errors import AnthropicErrorPayload, anthropic_error
from common.api.openai_errors import OpenAIErrorPayload, openai_error
from common.errors import ArenaError

PROGRAMS_PREFIX = "/v1/"
_MESSAGES = "/v1/messages"


def program_error(path: str, error: ArenaError) -> OpenAIErrorPayload | AnthropicErrorPayload:
    is_messages = path == _MESSAGES or path.startswith(f"{_MESSAGES}/")
    return anthropic_error(error) if is_messages else openai_error(error)
