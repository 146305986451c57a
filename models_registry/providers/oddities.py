"""Kinds of deviations in what servers send, counted for operators by model (models_registry.health.oddities)."""

from enum import StrEnum


class Oddity(StrEnum):
    """A kind is named by its meaning, not by a vendor."""

    # Framing.
    NO_EVENT_STREAM = "no_event_stream"
    UNSEPARATED_EVENTS = "unseparated_events"
    HEARTBEAT = "heartbeat"
    COMPRESSED = "compressed"
    INVALID_TEXT = "invalid_text"
    UNTIDY_END = "untidy_end"
    # Values.
    ODD_VALUE = "odd_value"
    MESSAGE = "message"
    SECOND_CHOICE = "second_choice"
    REFUSAL = "refusal"
    PICTURE = "picture"
    CONTROL_MARK = "control_mark"
    # Reasoning in the content.
    TAGGED_REASONING = "tagged_reasoning"
    UNOPENED_REASONING = "unopened_reasoning"
    CHANNELS = "channels"
    # Ends.
    UNKNOWN_FINISH = "unknown_finish"
    NO_FINISH = "no_finish"
    LATE_ERROR = "late_error"
    # Tool calls.
    TOOL_CALL_PARTS = "tool_call_parts"
    # Abilities that the model is registered with.
    IMAGES_REFUSED = "images_refused"
    TOOLS_REFUSED = "tools_refused"
    # Usage.
    NO_USAGE = "no_usage"
    USAGE_TOO_LOW = "usage_too_low"
    USAGE_TOO_HIGH = "usage_too_high"
