"""Facts of a call for its span, none of which is a text of a person or of an answer."""

import logging
import re
from collections.abc import Mapping
from copy import copy
from dataclasses import replace

from battles.calls.outcomes import set_outcome
from battles.calls.values import CallResult, PreparedCall
from common import tracing
from common.tracing import Attribute, Attributes, Span, SpanName
from models_registry.providers.kinds import CAPS

logger = logging.getLogger(__name__)

# Ids of servers; anything else that a server sends as one may be a text.
_ID = re.compile(r"(?=\D*\d)[\w.:/=+-]{1,100}", re.ASCII)


def begin_span(call: PreparedCall, facts: Mapping[Attribute, str]) -> Span:
    if not tracing.is_on():
        return tracing.NO_SPAN
    name = call.request.model
    span = tracing.span(SpanName.CHAT.format(model=name), is_client=True)
    if span.is_recording:
        parameters = call.request.parameters
        caps = [value for key, value in parameters.items() if key in CAPS and isinstance(value, int)]
        temperature = parameters.get("temperature")
        span.set(
            {
                Attribute.OPERATION: "chat",
                Attribute.PROVIDER: str(call.row.model.provider.known_kind),
                Attribute.REQUEST_MODEL: name,
                Attribute.MAX_TOKENS: max(caps, default=None),
                Attribute.TEMPERATURE: temperature if isinstance(temperature, int | float) else None,
                **facts,
            }
        )
    return span


def describe(span: Span, call: PreparedCall, result: CallResult) -> None:
    """Add the result's facts. A failure is logged: the answer is whole without them."""
    if not span.is_recording:
        return
    try:
        span.set(_facts(call, result))
    except Exception:
        logger.exception("the span of call %s lacks its result", call.row.pk)


def _facts(call: PreparedCall, result: CallResult) -> Attributes:
    """Return the tokens and the cost as they are stored later, and set nothing."""
    completion = replace(result.completion, oddities=set(result.completion.oddities))
    row = copy(call.row)
    set_outcome(replace(call, row=row), replace(result, completion=completion))
    first_s = None if result.first_token_ms is None else result.first_token_ms / 1000
    return {
        Attribute.FINISH_REASONS: [row.finish_reason] if row.finish_reason else None,
        Attribute.RESPONSE_ID: completion.request_id if _ID.fullmatch(completion.request_id) else None,
        Attribute.FIRST_CHUNK_S: first_s,
        Attribute.INPUT_TOKENS: row.prompt_tokens,
        Attribute.OUTPUT_TOKENS: row.completion_tokens,
        Attribute.REASONING_TOKENS: row.reasoning_tokens or None,
        Attribute.COST: None if row.cost is None else float(row.cost),
        Attribute.ERROR: str(result.error) if result.error else None,
    }
