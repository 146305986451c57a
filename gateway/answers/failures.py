from common.errors import ArenaError
from gateway.errors import ContextTooLong, Filtered, ModelBusy, ModelsFailed, RejectedByProvider, UnsupportedPart
from models_registry.health.failure_messages import FAILURE_MESSAGES
from models_registry.providers import FailureCode

# Seconds until a client should try again, if the provider names none.
RETRY_AFTER_S = 5.0
MAX_RETRY_AFTER_S = 3_600.0


def failure_error(code: FailureCode, retry_after: float | None = None, parameter: str = "") -> ArenaError:
    """Return the error to send for a failed call, also in the middle of a stream."""
    wait = min(retry_after or RETRY_AFTER_S, MAX_RETRY_AFTER_S)
    match code:
        case FailureCode.PROMPT_TOO_LONG:
            return ContextTooLong(fields={"messages": [str(ContextTooLong.message)]})
        case FailureCode.FILTERED:
            return Filtered()
        case FailureCode.UNSUPPORTED if parameter:
            return UnsupportedPart(parameter)
        case FailureCode.REJECTED | FailureCode.UNSUPPORTED:
            return RejectedByProvider()
        case FailureCode.RATE_LIMITED:
            return ModelBusy(retry_after=wait)
        case _:
            return ModelsFailed(FAILURE_MESSAGES[code], retry_after=wait)
