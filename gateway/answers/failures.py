import re

from battles.calls import CallResult, PreparedCall
from common.errors import ArenaError
from gateway.errors import (
    ContextTooLong,
    Filtered,
    MissingAtProvider,
    ModelBusy,
    ModelsFailed,
    ProviderRefusal,
    UnsupportedPart,
)
from models_registry.health.failure_messages import FAILURE_MESSAGES
from models_registry.providers import FailureCode
from models_registry.providers.base import CHARACTERS_PER_TOKEN

# Seconds until a client should try again, if the provider names none.
RETRY_AFTER_S = 5.0
MAX_RETRY_AFTER_S = 3_600.0
# Statuses that are about the request, and are passed on with the server's words. Others are about the arena's account,
# or the server.
PASSED_ON = frozenset({400, 404, 413, 422})
# Smaller numbers in a refusal are no lengths of contexts.
MIN_CONTEXT = 256


def failure_error(prepared: PreparedCall, result: CallResult) -> ArenaError:
    """Return the error to send for a failed call, also in the middle of a stream."""
    assert result.error is not None
    is_callers = result.status in PASSED_ON
    words, status = (result.words, result.status) if is_callers else ("", 400)
    match result.error:
        case FailureCode.PROMPT_TOO_LONG:
            return _too_long(prepared, words)
        case FailureCode.FILTERED:
            return Filtered(words, status=status)
        case FailureCode.UNSUPPORTED if result.parameter:
            return UnsupportedPart(result.parameter, words, status=status)
        case FailureCode.UNKNOWN_MODEL | FailureCode.UNKNOWN_ADDRESS if is_callers:
            return MissingAtProvider(words or str(FAILURE_MESSAGES[result.error]), status=status)
        case FailureCode.REJECTED | FailureCode.UNSUPPORTED:
            return ProviderRefusal(words, status=status)
        case FailureCode.RATE_LIMITED:
            return ModelBusy(retry_after=_wait(result))
        case _:
            return ModelsFailed(FAILURE_MESSAGES[result.error], retry_after=_wait(result))


def _wait(result: CallResult) -> float:
    return min(result.retry_after or RETRY_AFTER_S, MAX_RETRY_AFTER_S)


def _too_long(prepared: PreparedCall, words: str) -> ContextTooLong:
    """Return the error with the server's numbers, or else with an estimate."""
    numbers = [
        int(number) for number in re.findall(r"\d+", re.sub(r"(?<=\d)[,_](?=\d{3})", "", words)) if len(number) < 10
    ]
    lengths = sorted(number for number in numbers if number >= MIN_CONTEXT)
    maximum = prepared.row.model.context_length or (lengths[0] if lengths else None)
    reported = [number for number in lengths if number > (maximum or 0)]
    estimate = max(prepared.request.size.characters // CHARACTERS_PER_TOKEN, (maximum or 0) + 1)
    return ContextTooLong(tokens=reported[0] if reported else estimate, maximum=maximum)
