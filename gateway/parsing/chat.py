import math
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation

from django.conf import settings

from battles.auto.options import DIALS, MAX_FIRST_TOKEN_MS, MAX_WORKFLOW_CHARACTERS, RoutingContext
from battles.calls import sent_bytes
from battles.prompting.messages import conversation_length
from battles.text.deobfuscation import around_seams
from common.conversation.errors import BadField
from common.conversation.json_values import strings_in
from common.conversation.messages import Conversation, Limits, parse_conversation
from common.payload_types import JsonObject
from common.text.numbers import parse_whole_number
from gateway.parsing.fields import Fields
from gateway.parsing.tools import as_tools, read_tools
from models_registry.providers import passing

_BATTLES_OWN = frozenset({"tools", "logprobs", "top_logprobs", "prediction"})


@dataclass(frozen=True)
class ChatBody:
    """A valid request.

    parameters: those that any provider receives, besides the cap. others: those that a provider receives if its
    settings name them. server_tools: those that a provider runs, sent where they have a price. identities: names of the
    caller's users and caches, never sent as given. has_instructions: the first message is Responses'
    `instructions`, and no part of the conversation. for_door: facts that the door's writer needs. wants_functions: the
    answer's calls have OpenAI's older form.
    """

    model: str
    conversation: Conversation
    parameters: JsonObject
    others: JsonObject
    server_tools: list[JsonObject]
    identities: dict[str, str]
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
    has_instructions: bool = False
    for_door: JsonObject = field(default_factory=dict)
    wants_functions: bool = False
    _described: list[str] = field(default_factory=list, repr=False)

    @property
    def characters(self) -> int:
        """Length of all that is sent; an image counts as the characters that its tokens would hold."""
        return conversation_length(self.conversation.messages) + sent_bytes(self.parameters)

    @property
    def text_characters(self) -> int:
        return self.conversation.text_characters + sum(map(len, self._described))

    @property
    def has_tools(self) -> bool:
        return "tools" in self.parameters

    @property
    def context(self) -> RoutingContext:
        return RoutingContext(self.has_tools, self.data_loaded, self.workflow)

    @property
    def writes_cache(self) -> bool:
        """Return whether the prompt may be written to the provider's cache, which costs more."""
        return self.conversation.writes_cache or "cache_control" in self._described

    @property
    def passages(self) -> list[list[str]]:
        """Return all texts that are sent, for moderation: in order, and the user's without answers between."""
        conversation = self.conversation
        fields = [*self.parameters.values(), *self.others.values(), *self.server_tools]
        values = strings_in(fields, with_names=False)
        passages = [conversation.texts, [*conversation.words, *self._described], values]
        if 1 < len(conversation.prompts) < len(conversation.texts):
            passages += around_seams(conversation.prompts)
        return [passage for passage in passages if passage]

    @property
    def is_single_prompt(self) -> bool:
        """Return whether there is one text of the user and nothing else, as at the beginning of a battle."""
        text_format = self.parameters.get("response_format", {"type": "text"}) == {"type": "text"}
        return self.conversation.is_one_text and text_format and not (
            self.server_tools or any(self.parameters.get(name) for name in _BATTLES_OWN)
        )  # fmt: skip

    @property
    def is_in_tool_loop(self) -> bool:
        return self.conversation.has_open_tool_calls


def parse_chat(decoded: JsonObject) -> ChatBody:
    """decoded: by decode_body, which limits its depth. Raises BadField."""
    wants_functions = bool(decoded.get("functions"))
    body = as_tools(decoded)
    limits = Limits(settings.ARENA_GATEWAY_CHARACTERS, settings.ARENA_GATEWAY_PICTURES)
    conversation = parse_conversation(body.pop("messages", None), limits)
    fields = Fields(body)
    model = fields.text("model", max_length=120, required=True)
    n = fields.integer("n", at_least=1, at_most=2)
    is_stream = bool(fields.boolean("stream"))
    metadata = fields.object("metadata")
    includes_usage, dropped = _stream_options(fields)
    max_tokens = _max_tokens(fields, dropped)
    identities = {name: str(value) for name in passing.IDENTITIES if (value := fields.take(name)) is not None}
    tools, server_tools = read_tools(fields.take("tools"))
    if (options := fields.take("web_search_options")) is not None:
        server_tools.append({"type": "web_search_options", "web_search_options": options})
    parameters, others = _sort(fields, dropped)
    _fit_tool_choice(parameters, tools, server_tools, dropped)
    chat = ChatBody(
        model=model,
        conversation=conversation,
        parameters={**parameters, "tools": tools} if tools else parameters,
        others=others,
        server_tools=server_tools,
        identities=identities,
        max_tokens=max_tokens,
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
        dropped=tuple(dict.fromkeys(dropped)),
        wants_functions=wants_functions,
        _described=strings_in([parameters, *tools, others, *server_tools]),
    )
    limits.check_characters(chat.text_characters)
    return chat


def _sort(fields: Fields, dropped: list[str]) -> tuple[JsonObject, JsonObject]:
    """Return what every provider receives, and what one may be set to receive; name the rest in `dropped`."""
    parameters: JsonObject = {}
    others: JsonObject = {}
    for name in fields.rest():
        value = fields.take(name)
        if name in passing.TEXTS:
            if value not in ([], ""):
                parameters[name] = value
        elif name in passing.PLAIN:
            passed = passing.plain(name, value, dropped) if name != "modalities" or value == ["text"] else None
            if passed is not None:
                parameters[name] = passed
            elif value not in ([], {}) and name not in dropped:
                dropped.append(name)
        elif passing.may_be_added(name) and (passed := passing.plain(name, value, [])) is not None:
            others[name] = passed
        else:
            dropped.append(name)
    return parameters, others


def _fit_tool_choice(
    parameters: JsonObject, tools: list[JsonObject], server_tools: list[JsonObject], dropped: list[str]
) -> None:
    """Leave out a choice without tools. Raises BadField for a choice that only a tool of the provider fits."""
    choice = parameters.get("tool_choice")
    if choice is None:
        return
    kind = choice.get("type") if isinstance(choice, dict) else choice
    types = [tool.get("type") for tool in server_tools]
    if not tools:
        del parameters["tool_choice"]
        if kind in types or (kind == "required" and server_tools):
            raise BadField("“tool_choice” requires a tool that the arena does not pass on.", "tool_choice")
    elif kind in types:
        raise BadField("“tool_choice” requires a tool that the arena does not pass on.", "tool_choice")


def _max_tokens(fields: Fields, dropped: list[str]) -> int | None:
    """Return the cap. 0, −1 and what is no number are as good as none."""
    cap = None
    for name in ("max_tokens", "max_completion_tokens"):
        value = fields.take(name)
        number = parse_whole_number(value) if isinstance(value, str) else None
        if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 2**31:
            number = int(value)
        if number is not None and number > 0:
            cap = number
        elif value not in (None, 0, -1):
            dropped.append(name)
    return cap


def _stream_options(fields: Fields) -> tuple[bool, list[str]]:
    value = fields.take("stream_options")
    if not isinstance(value, dict):
        return False, [] if value is None else ["stream_options"]
    return value.get("include_usage") is True, [f"stream_options.{name}" for name in value if name != "include_usage"]


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
