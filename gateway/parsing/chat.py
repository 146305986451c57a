"""The body of a chat completion request."""

import math
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation

from battles.prompting.auto_options import DIALS, MAX_FIRST_TOKEN_MS, MAX_WORKFLOW_CHARACTERS, RoutingContext
from battles.prompting.messages import conversation_length
from common.payload_types import JsonObject
from common.text.numbers import parse_whole_number
from gateway.limits import MAX_CHARACTERS, max_prompt_characters
from gateway.parsing.fields import BadField, Fields
from gateway.parsing.json_body import strings_in
from gateway.parsing.messages import Conversation, parse_messages
from gateway.parsing.tools import parse_response_format, parse_tool_choice, parse_tools

MAX_STOPS, MAX_STOP_CHARACTERS = 4, 200
MAX_SEED = 2**63 - 1
MAX_TOKENS = 10_000_000


@dataclass(frozen=True)
class ChatBody:
    """A valid request. parameters: those that models receive, besides the cap."""

    model: str
    conversation: Conversation
    parameters: JsonObject
    max_tokens: int | None
    n: int | None
    is_stream: bool
    includes_usage: bool
    dial: float | None
    max_cost: Decimal | None
    max_first_token_ms: int | None
    allow_battle: bool
    data_loaded: bool
    workflow: str
    session_id: str
    dropped: tuple[str, ...]
    # Of other languages: whether the first message is no part of the conversation, and facts for the answer's writer.
    has_instructions: bool = False
    for_door: JsonObject = field(default_factory=dict)
    # Answers name one call in `function_call`, as before tools.
    wants_functions: bool = False

    @property
    def characters(self) -> int:
        """Length of all messages, with calls of tools and images."""
        return conversation_length(self.conversation.messages)

    @property
    def has_tools(self) -> bool:
        return "tools" in self.parameters

    @property
    def context(self) -> RoutingContext:
        return RoutingContext(self.has_tools, self.data_loaded, self.workflow)

    @property
    def passages(self) -> list[list[str]]:
        """Return all texts that a model reads, for moderation: in order, and the user's without answers between."""
        conversation = self.conversation
        users = [conversation.prompts] if 1 < len(conversation.prompts) < len(conversation.texts) else []
        described = strings_in([self.parameters.get("tools"), self.parameters.get("response_format")])
        return [conversation.texts, *users, *([found] if (found := [*conversation.names, *described]) else [])]

    @property
    def is_single_prompt(self) -> bool:
        """Return whether there is one text of the user and nothing else, as at the beginning of a battle."""
        conversation = self.conversation
        return len(conversation.messages) == len(conversation.prompts) == 1 and not (
            conversation.images or self.has_tools or "response_format" in self.parameters
        )

    @property
    def is_in_tool_loop(self) -> bool:
        return self.conversation.last_role == "tool"


def parse_chat(decoded: JsonObject) -> ChatBody:
    """decoded: by decode_body, which limits its depth. Raises BadField."""
    fields = Fields(decoded)
    model = fields.text("model", max_length=120, required=True)
    conversation = parse_messages(fields, max_prompt=max_prompt_characters(), max_characters=MAX_CHARACTERS)
    parameters = _parameters(fields)
    max_tokens = fields.integer("max_tokens", at_least=1, at_most=MAX_TOKENS)
    newer_name = fields.integer("max_completion_tokens", at_least=1, at_most=MAX_TOKENS)
    is_stream = bool(fields.boolean("stream"))
    n = fields.integer("n", at_least=1, at_most=2)
    fields.text("user", max_length=1_000)  # accepted, and never sent
    metadata = fields.object("metadata")
    includes_usage, dropped_options = _stream_options(fields)
    return ChatBody(
        model=model,
        conversation=conversation,
        parameters=parameters,
        max_tokens=newer_name if newer_name is not None else max_tokens,
        n=n,
        is_stream=is_stream,
        includes_usage=includes_usage,
        dial=_dial(metadata),
        max_cost=_max_cost(metadata),
        max_first_token_ms=_max_first_token_ms(metadata),
        allow_battle=_flag(metadata, "allow_battle"),
        data_loaded=_flag(metadata, "data_loaded"),
        workflow=metadata.text("workflow", max_length=MAX_WORKFLOW_CHARACTERS) if metadata else "",
        session_id=metadata.text("session_id", max_length=200) if metadata else "",
        dropped=tuple(dict.fromkeys([*fields.rest(), *dropped_options, *conversation.dropped])),
    )


def _parameters(fields: Fields) -> JsonObject:
    tools = parse_tools(fields)
    found: JsonObject = {
        "temperature": fields.number("temperature", at_least=0, at_most=2),
        "top_p": fields.number("top_p", at_least=0, at_most=1),
        "stop": _stop(fields),
        "seed": fields.integer("seed", at_least=-MAX_SEED, at_most=MAX_SEED),
        "tools": tools or None,
        "tool_choice": parse_tool_choice(fields, tools),
        "response_format": parse_response_format(fields),
    }
    return {name: value for name, value in found.items() if value is not None}


def _stop(fields: Fields) -> list[str] | None:
    stop = fields.take("stop")
    if stop is None:
        return None
    stops = [stop] if isinstance(stop, str) else stop
    if not isinstance(stops, list) or not 1 <= len(stops) <= MAX_STOPS:
        raise BadField(f"“stop” must be a string, or a list of up to {MAX_STOPS} strings.", "stop")
    for text in stops:
        if not isinstance(text, str) or not 1 <= len(text) <= MAX_STOP_CHARACTERS:
            raise BadField(f"A stop sequence must have 1 to {MAX_STOP_CHARACTERS} characters.", "stop")
    return stops


def _stream_options(fields: Fields) -> tuple[bool, list[str]]:
    options = fields.object("stream_options")
    if options is None:
        return False, []
    includes_usage = bool(options.boolean("include_usage"))
    return includes_usage, [f"stream_options.{name}" for name in options.rest()]


def _dial(metadata: Fields | None) -> float | None:
    """Return the share of the price range that may be spent; a name, a number, or its text."""
    value = metadata.take("dial") if metadata else None
    if value is None:
        return None
    if isinstance(value, str) and value in DIALS:
        return DIALS[value]
    try:
        dial = math.nan if isinstance(value, bool) else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        dial = math.nan
    if not 0 <= dial <= 1:
        raise BadField("“metadata.dial” must be between 0 and 1, or one of: cheap, balanced, best.", "metadata.dial")
    return dial


def _max_cost(metadata: Fields | None) -> Decimal | None:
    value = metadata.take("max_cost") if metadata else None
    if value is None:
        return None
    try:
        dollars = Decimal("NaN") if isinstance(value, bool) else Decimal(str(value))
    except InvalidOperation:
        dollars = Decimal("NaN")
    if not dollars.is_finite() or not 0 < dollars <= 1_000_000:
        raise BadField("“metadata.max_cost” must be an amount of US dollars above 0.", "metadata.max_cost")
    return dollars


def _max_first_token_ms(metadata: Fields | None) -> int | None:
    value = metadata.take("max_first_token_ms") if metadata else None
    if value is None:
        return None
    milliseconds = parse_whole_number(str(value)) or 0
    if not 0 < milliseconds <= MAX_FIRST_TOKEN_MS:
        sentence = f"“metadata.max_first_token_ms” must be a number of milliseconds, at most {MAX_FIRST_TOKEN_MS}."
        raise BadField(sentence, "metadata.max_first_token_ms")
    return milliseconds


def _flag(metadata: Fields | None, name: str) -> bool:
    """Return a boolean, or its text: OpenAI's client types metadata as texts."""
    value = metadata.take(name) if metadata else None
    if value in (None, False, "false"):
        return False
    if value in (True, "true"):
        return True
    raise BadField(f"“metadata.{name}” must be true or false.", f"metadata.{name}")
