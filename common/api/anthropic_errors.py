"""Refusals in the shape of Anthropic's API, which clients of /v1/messages expect."""

from typing import Literal, TypedDict

from common import logs
from common.errors import ArenaError

_TYPES = {
    401: "authentication_error", 402: "billing_error", 403: "permission_error", 404: "not_found_error",
    413: "request_too_large", 429: "rate_limit_error", 503: "overloaded_error", 504: "timeout_error",
}  # fmt: skip


class AnthropicErrorDetail(TypedDict):
    type: str
    message: str


class AnthropicErrorPayload(TypedDict):
    type: Literal["error"]
    error: AnthropicErrorDetail
    request_id: str


def anthropic_error(error: ArenaError) -> AnthropicErrorPayload:
    kind = _TYPES.get(error.http_status, "api_error" if error.http_status >= 500 else "invalid_request_error")
    detail: AnthropicErrorDetail = {"type": kind, "message": error.as_json()["detail"]}
    return {"type": "error", "error": detail, "request_id": logs.current_request_id()}
