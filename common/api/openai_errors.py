"""Refusals in the shape of OpenAI's API, which clients of /v1/ expect."""

from typing import TypedDict

from common.errors import ArenaError, FieldErrors

_TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}


class OpenAIErrorDetail(TypedDict):
    message: str
    type: str
    param: str | None
    code: str


class OpenAIErrorPayload(TypedDict):
    error: OpenAIErrorDetail


def openai_error(error: ArenaError) -> OpenAIErrorPayload:
    return {
        "error": {
            "message": error.as_json()["detail"],
            "type": _TYPES.get(
                error.http_status, "server_error" if error.http_status >= 500 else "invalid_request_error"
            ),
            "param": _first_field(error.fields),
            "code": error.code,
        }
    }


def _first_field(fields: FieldErrors | None) -> str | None:
    return next(iter(fields), None) if fields else None
