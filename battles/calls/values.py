"""Calls of models as values: planned, ready to be sent, and ended."""

from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal

import msgspec
from django.utils.safestring import SafeString

from battles.models import Answer, Call
from common.payload_types import JsonObject
from models_registry.models import LanguageModel
from models_registry.providers import ChatRequest, Completion, FailureCode, ProviderError
from models_registry.providers.base import Message
from models_registry.providers.kinds import CAPS
from models_registry.providers.oddities import Oddity
from models_registry.providers.reading.finish_reasons import Finish

# Tokens that a provider adds to explain tools to its model.
MAX_TOOL_TEMPLATE_TOKENS = 1_000
# Words, and what only the sampler reads.
_NOT_IN_PROMPT = frozenset({
    "stream_options", "stop", "logit_bias", "reasoning", "reasoning_effort", "thinking", "verbosity", "modalities",
    "samplers", "usage", "user", "safety_identifier", "prompt_cache_key",
})  # fmt: skip


@dataclass(frozen=True)
class PlannedCall:
    """A call without a row yet."""

    model: LanguageModel  # with its provider
    messages: list[Message]
    answer: Answer | None = None
    purpose: Call.Purpose = Call.Purpose.ANSWER
    side: str = ""
    turns: list[int] = field(default_factory=list)
    max_tokens: int = 0  # overrides the model's own cap
    lease: timedelta | None = None  # of a call without an answer
    person: str = ""  # the payer's Actor.key
    team_id: int | None = None  # of the place
    is_quoted: bool = False  # the payers pay by a BlindCharge
    attempt: int = 1
    fence: int = 0
    hides_model: bool = False  # of a blind battle or a probe: live metrics must not name the model
    # Overrides of the model's own parameters.
    overrides: JsonObject = field(default_factory=dict)
    # US dollars for tools that the provider runs. writes_cache: the prompt's tokens may cost as those of a cache.
    fee: Decimal = Decimal(0)
    writes_cache: bool = False
    # Keys of the person and the conversation, for breakers. asker: "" for the payer; conversation: "" for none.
    asker: str = ""
    conversation: str = ""
    # Whether remembered repairs are applied, and own parameters kept as in a battle.
    is_repaired: bool = True

    @property
    def parameters(self) -> JsonObject:
        parameters = self.model.parameters_with(self.overrides) if self.overrides else self.model.sent_parameters
        if not self.max_tokens:
            return parameters
        return parameters | dict.fromkeys(CAPS & parameters.keys(), self.max_tokens)


@dataclass(frozen=True)
class PreparedCall:
    """A call with a row, ready to be sent unless it has a `refusal`."""

    row: Call  # with its model and price
    answer_id: int  # 0 without an answer
    turn_id: int
    side: str
    request: ChatRequest
    refusal: FailureCode | None = None
    must_wait: bool = False  # for a slot: see acquire_slot
    hides_model: bool = False
    person: str = ""
    conversation: str = ""
    fee: Decimal = Decimal(0)  # US dollars


@dataclass
class CallResult:
    texts: list[str] = field(default_factory=list)
    html: SafeString = field(default_factory=SafeString)
    reasonings: list[str] = field(default_factory=list)
    completion: Completion = field(default_factory=Completion)
    error: FailureCode | None = None
    upstream: str = ""
    retry_after: float | None = None
    status: int = 0  # of HTTP
    parameter: str = ""  # the refused one
    words: str = ""  # for callers of the gateway only
    stopped: bool = False
    # A call that was never sent costs nothing.
    was_sent: bool = True
    tool_characters: int = 0
    first_token_ms: int | None = None
    total_ms: int = 0

    def fail(self, error: ProviderError) -> None:
        self.error, self.upstream, self.retry_after = error.code, error.upstream, error.retry_after
        self.status, self.parameter, self.words = error.status, error.parameter, error.words

    @property
    def has_text(self) -> bool:
        return any(text.strip() for text in self.texts)

    def missing_answer(self) -> ProviderError:
        """Return the error of an answer without text."""
        if any(self.reasonings):
            return ProviderError(FailureCode.ONLY_REASONING, "no text: is the server's reasoning parser set?")
        if self.completion.finish_reason == Finish.LENGTH:
            return ProviderError(FailureCode.NO_ROOM, "the limit of tokens was reached before the first text")
        has_picture = Oddity.PICTURE in self.completion.oddities
        return ProviderError(FailureCode.EMPTY, "pictures without text" if has_picture else "")

    def take_back(self) -> None:
        """Turn the text so far into reasoning."""
        self.reasonings += self.texts
        self.texts.clear()
        self.first_token_ms = None

    @property
    def affects_breakers(self) -> bool:
        return (self.was_sent and not self.stopped) or self.error is FailureCode.NO_KEY


def sent_bytes(parameters: JsonObject) -> int:
    """Return the bytes of tools, schemas and other texts, which are part of the prompt."""
    return sum(
        len(msgspec.json.encode(value))
        for name, value in parameters.items()
        if isinstance(value, dict | list | str) and name not in _NOT_IN_PROMPT
    )
