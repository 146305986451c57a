import asyncio
import logging
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Protocol, TypeAlias, TypedDict, Unpack

from common.payload_types import JsonObject
from models_registry.providers.kinds import ReasoningBack
from models_registry.providers.oddities import Oddity
from models_registry.providers.sizes import MessagesSize

logger = logging.getLogger(__name__)

# Called with (text, reasoning) for each piece, in order, on the event loop; must not block. Returns seconds until the
# next call is needed: pieces that arrive in this time may be passed together, which costs less.
Receive = Callable[[str, str], float]


@dataclass(frozen=True)
class ToolCallDelta:
    """Part of a tool call. id and name come with its first part, arguments and state in pieces.

    state: other fields of the call, such as signatures, that its provider wants back.
    """

    index: int
    id: str
    name: str
    arguments: str
    state: JsonObject = field(default_factory=dict)


# Called like Receive; without it, tool calls end a call with TOOL_CALLS.
ReceiveToolCalls = Callable[[list[ToolCallDelta]], None]
# `content` of OpenAI's messages: a text, or a list of text and image parts.
Content: TypeAlias = str | list[JsonObject]
Message: TypeAlias = JsonObject
# Maximum for an image of up to 1568 · 1568 pixels, as billed: width · height / 750 at Anthropic (3,279), a token
# per 28 · 28 pixels at Qwen and Mistral (3,136), 1,536 patches · 2.46 at OpenAI (3,779).
MAX_TOKENS_PER_IMAGE = 5_000
# This model bills 2,833 plus 5,667 per tile, and a long image has eight tiles.
_EXPENSIVE_IMAGES = re.compile(r"(?:.*/)?gpt-4o-mini")


def max_tokens_per_image(upstream_name: str) -> int:
    """Return the maximum that a model bills for an image, MAX_TOKENS_PER_IMAGE in its context at most."""
    return 10 * MAX_TOKENS_PER_IMAGE if _EXPENSIVE_IMAGES.match(upstream_name) else MAX_TOKENS_PER_IMAGE


class FailureCode(StrEnum):
    """Failures of calls. The code is stored and shown after the vote; upstream's message is only logged."""

    UNREACHABLE = "unreachable"
    ADDRESS_REFUSED = "address_refused"
    NO_KEY = "no_key"
    REFUSED_KEY = "refused_key"
    ACCOUNT = "account"
    FORBIDDEN = "forbidden"
    UNKNOWN_MODEL = "unknown_model"
    UNKNOWN_ADDRESS = "unknown_address"
    UNSUPPORTED = "unsupported"
    REJECTED = "rejected"
    PROMPT_TOO_LONG = "prompt_too_long"
    RATE_LIMITED = "rate_limited"
    PROVIDER_ERROR = "provider_error"
    REDIRECTED = "redirected"
    NOT_A_STREAM = "not_a_stream"
    MALFORMED = "malformed"
    ANOTHER_API = "another_api"
    CUT = "cut"
    EMPTY = "empty"
    ONLY_REASONING = "only_reasoning"
    NO_ROOM = "no_room"
    TOOL_CALLS = "tool_calls"
    FILTERED = "filtered"
    TOO_LONG = "answer_too_long"
    FIRST_TIMEOUT = "first_timeout"
    IDLE_TIMEOUT = "idle_timeout"
    TOTAL_TIMEOUT = "total_timeout"
    INTERRUPTED = "interrupted"
    OVER_BUDGET = "over_budget"


class ProviderError(Exception):
    """Raised if a call fails.

    upstream: the upstream's message for the log, shortened and without keys. retry_after: seconds that it asks to wait.
    status: of HTTP or an error event, or 0. parameter: the refused part (refused_parts), or "".
    words: the upstream's sentence for callers of the gateway.
    """

    def __init__(
        self,
        code: FailureCode,
        upstream: str = "",
        *,
        retry_after: float | None = None,
        status: int = 0,
        parameter: str = "",
        words: str = "",
    ) -> None:
        super().__init__(f"{code}: {upstream}" if upstream else code)
        self.code = code
        self.upstream = upstream
        self.retry_after = retry_after
        self.status = status
        self.parameter = parameter
        self.words = words


@dataclass(frozen=True)
class ChatRequest:
    """One call. key may be "". deadlines: seconds for connect, first, idle and total.

    parameters: sent unchanged, besides the model, the messages and `stream` (see kinds.Dialect.body).
    """

    base_url: str
    key: str = field(repr=False)
    model: str
    messages: list[Message] = field(repr=False)
    parameters: JsonObject
    deadlines: dict[str, float]
    finish_reason_required: bool = True
    # Parameters that must not be left out after a refusal, and those that a caller of the gateway chose.
    kept: frozenset[str] = frozenset()
    callers: frozenset[str] = frozenset()
    context_tokens: int = 0  # 0: unknown
    # How the reasoning in `messages` is sent; None: not at all.
    reasoning_back: ReasoningBack | None = None
    allows_private: bool | None = None
    sends_trace: bool = False  # with the header traceparent, while traces are on

    @cached_property
    def size(self) -> MessagesSize:
        return MessagesSize.of(self.messages)


# Conservative for every language: most have more characters per token.
CHARACTERS_PER_TOKEN = 3


def is_over_context(request: ChatRequest) -> bool:
    """Return whether the prompt alone is longer than the context by our estimate."""
    if not request.context_tokens:
        return False
    images = request.size.images * MAX_TOKENS_PER_IMAGE
    return request.size.characters / CHARACTERS_PER_TOKEN + images > request.context_tokens


@dataclass
class Completion:
    """Result of a call, filled in as it arrives. The completion's tokens include reasoning; None: not reported.

    finish_reason: a word of finish_reasons.Finish. pieces: events with a part of the answer, mostly a token.
    """

    finish_reason: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    total_tokens: int | None = None
    request_id: str = ""
    pieces: int = 0
    oddities: set[Oddity] = field(default_factory=set)
    # Names of models_registry.providers.repairs, also of a refused request.
    repaired: list[str] = field(default_factory=list)
    # State of models_registry.providers.answer_state, for the next request.
    state: JsonObject = field(default_factory=dict)


class StreamOptions(TypedDict, total=False):
    """completion: filled in as the answer arrives, for a caller that may cancel, and for failures.

    take_back: called if all text passed on so far has turned out to be reasoning: docs/adr/0064.
    """

    receive_tool_calls: ReceiveToolCalls
    take_back: Callable[[], None]
    completion: Completion


class ChatProvider(Protocol):
    async def close(self) -> None: ...

    async def stream(self, request: ChatRequest, receive: Receive, **options: Unpack[StreamOptions]) -> Completion:
        """Send the request and pass pieces to `receive` as they arrive. Raises ProviderError."""
        ...


async def stream_contained(
    provider: ChatProvider, request: ChatRequest, receive: Receive, **options: Unpack[StreamOptions]
) -> Completion:
    """Return `provider.stream(…)`; raise ProviderError for any other exception.

    Hostile bytes can raise unforeseen exceptions in parsers; one call's failure must not end the calls beside it.
    """
    try:
        return await provider.stream(request, receive, **options)
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
