"""Names of all spans, events and attributes. No value is a person's text, address or key: docs/adr/0095."""

from enum import StrEnum


class SpanName(StrEnum):
    REQUEST = "{method} {route}"
    START_BATTLE = "start battle"
    CAST_VOTE = "cast vote"
    TURN = "turn"
    CHAT = "chat {model}"
    STORE = "store"
    AGGREGATE = "aggregate"
    GATEWAY = "gateway"


class EventName(StrEnum):
    QUEUED = "queued"


class Attribute(StrEnum):
    """Names of OpenTelemetry where it has one."""

    METHOD = "http.request.method"
    ROUTE = "http.route"
    STATUS = "http.response.status_code"
    ERROR = "error.type"
    PERSON = "enduser.id"
    OPERATION = "gen_ai.operation.name"
    PROVIDER = "gen_ai.provider.name"
    REQUEST_MODEL = "gen_ai.request.model"
    MAX_TOKENS = "gen_ai.request.max_tokens"
    TEMPERATURE = "gen_ai.request.temperature"
    FINISH_REASONS = "gen_ai.response.finish_reasons"
    RESPONSE_ID = "gen_ai.response.id"
    FIRST_CHUNK_S = "gen_ai.response.time_to_first_chunk"
    INPUT_TOKENS = "gen_ai.usage.input_tokens"
    OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
    REASONING_TOKENS = "gen_ai.usage.reasoning.output_tokens"
    SIDE = "arena.side"
    MODE = "arena.mode"
    ORIGIN = "arena.origin"
    COST = "arena.cost"
    ATTEMPT = "arena.attempt"
    WAITED_S = "arena.waited"
