"""What a provider module promises to the rest of the arena."""

import asyncio
import logging
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol, TypeAlias

from common.payload_types import JsonObject

logger = logging.getLogger(__name__)

# Called with (text, reasoning) for every piece, in order, on the event loop; must not block. Returns for how many
# seconds nothing more is needed: pieces that come meanwhile may be read together, which costs less.
Receive = Callable[[str, str], float]
# `role` and `content` as OpenAI has them: a text, or parts of which the others are images.
Content: TypeAlias = str | list[JsonObject]
Message: TypeAlias = JsonObject
# The most that an image of at most 1568 pixels a side is billed as: width · height / 750 at Anthropic (3,279), a token
# for 28 · 28 pixels at Qwen and Mistral (3,136), 1,536 patches · 2.46 at OpenAI (3,779).
TOKENS_OF_AN_IMAGE = 5_000
# This one bills 2,833 and 5,667 for each tile, of which a long image has eight.
_BILLS_TEN_TIMES_THAT = re.compile(r"(?:.*/)?gpt-4o-mini")


def most_tokens_of_an_image(upstream_name: str) -> int:
    """What a model bills an image as, at most; for what it takes of a context, TOKENS_OF_AN_IMAGE is enough."""
    return 10 * TOKENS_OF_AN_IMAGE if _BILLS_TEN_TIMES_THAT.match(upstream_name) else TOKENS_OF_AN_IMAGE


def text_in(message: Message) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def images_in(message: Message) -> int:
    content = message["content"]
    return 0 if isinstance(content, str) else sum(part["type"] == "image_url" for part in content)


class FailureCode(StrEnum):
    """How a call can end badly. The code is stored and, after the vote, shown; upstream's words only go to the log."""

    UNREACHABLE = "unreachable"
    ADDRESS_REFUSED = "address_refused"
    NO_KEY = "no_key"
    REFUSED_KEY = "refused_key"
    REJECTED = "rejected"
    PROMPT_TOO_LONG = "prompt_too_long"
    RATE_LIMITED = "rate_limited"
    PROVIDER_ERROR = "provider_error"
    REDIRECTED = "redirected"
    NOT_A_STREAM = "not_a_stream"
    MALFORMED = "malformed"
    CUT = "cut"
    EMPTY = "empty"
    TOOL_CALLS = "tool_calls"
    FILTERED = "filtered"
    TOO_LONG = "answer_too_long"
    FIRST_TIMEOUT = "first_timeout"
    IDLE_TIMEOUT = "idle_timeout"
    TOTAL_TIMEOUT = "total_timeout"
    INTERRUPTED = "interrupted"
    OVER_BUDGET = "over_budget"


class ProviderError(Exception):
    """A call failed. `code` is for people, `upstream` (scrubbed of keys, cut) for the log.

    `retry_after`: the seconds that upstream asked us to wait, if it did.
    """

    def __init__(self, code: FailureCode, upstream: str = "", *, retry_after: float | None = None) -> None:
        super().__init__(f"{code}: {upstream}" if upstream else code)
        self.code = code
        self.upstream = upstream
        self.retry_after = retry_after


@dataclass(frozen=True)
class ChatRequest:
    """One call: where, as whom (key may be ""), with what, and how patiently (seconds).

    `parameters` are sent as they are, beside the model, the messages and `stream` (see kinds.Dialect.body).
    """

    base_url: str
    key: str = field(repr=False)
    model: str
    messages: list[Message] = field(repr=False)
    parameters: JsonObject
    deadlines: dict[str, float]
    finish_reason_required: bool = True


@dataclass
class Completion:
    """How a call ended well. Token counts are None when upstream did not say; reasoning is part of the completion."""

    finish_reason: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    request_id: str = ""


class ChatProvider(Protocol):
    async def close(self) -> None: ...

    async def stream(self, request: ChatRequest, receive: Receive) -> Completion:
        """Send the request and hand over pieces as they come. Raises ProviderError."""
        ...


async def stream_contained(provider: ChatProvider, request: ChatRequest, receive: Receive) -> Completion:
    """Return `provider.stream(…)`; raise ProviderError for any other exception too.

    Hostile bytes can raise unforeseen exceptions in parsers, and one call's failure must not end the calls beside it.
    """
    try:
        return await provider.stream(request, receive)
    except ProviderError:
        raise
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        logger.exception("a call was cancelled from within")
        raise ProviderError(FailureCode.MALFORMED, "cancelled") from None
    except Exception as error:
        logger.exception("a call ended with an unexpected error")
        raise ProviderError(FailureCode.MALFORMED, type(error).__name__) from None
