"""Objects of OpenAI's and Anthropic's APIs that leave the server."""

from datetime import datetime
from typing import Literal, NotRequired, TypedDict


class FunctionPayload(TypedDict, total=False):
    name: str
    arguments: str


class ToolCallPayload(TypedDict, total=False):
    """index: in chunks only. Other fields are sealed state of the provider, such as signatures."""

    index: int
    id: str
    type: Literal["function"]
    function: FunctionPayload


class UsagePayload(TypedDict):
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    completion_tokens_details: dict[str, int]


class MessagePayload(TypedDict):
    role: Literal["assistant"]
    content: str | None
    refusal: None
    reasoning_content: NotRequired[str]
    tool_calls: NotRequired[list[ToolCallPayload]]
    function_call: NotRequired[FunctionPayload]


class ChoicePayload(TypedDict):
    index: int
    message: MessagePayload
    logprobs: None
    finish_reason: str


class DeltaPayload(TypedDict, total=False):
    role: Literal["assistant"]
    content: str
    reasoning_content: str
    tool_calls: list[ToolCallPayload]
    function_call: FunctionPayload


class ModelPayload(TypedDict):
    id: str
    object: Literal["model"]
    created: int
    owned_by: str


class ModelListPayload(TypedDict):
    object: Literal["list"]
    data: list[ModelPayload]


class AnthropicModelPayload(TypedDict):
    type: Literal["model"]
    id: str
    display_name: str
    created_at: datetime


class AnthropicModelListPayload(TypedDict):
    data: list[AnthropicModelPayload]
    has_more: Literal[False]
    first_id: str
    last_id: str
