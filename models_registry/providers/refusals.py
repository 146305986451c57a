"""What a provider means when it refuses: from an HTTP status or an error event to a code, and whether to ask again."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from random import SystemRandom

from models_registry.providers.base import FailureCode, ProviderError

PASSING = frozenset({408, 429, 500, 502, 503, 504, 529})
# Somebody is looking at an empty pane: whoever wants to be asked later than this is not asked again.
LONGEST_WAIT_S = 5.0
_SHORTEST_BACKOFF_S, _LONGEST_BACKOFF_S = 0.2, 1.0
_random = SystemRandom()


def seconds_before_retry(status: int, retry_after: float | None) -> float | None:
    """How long to wait before asking once more, with jitter; None when that makes no sense."""
    wait = (retry_after or 0.0) + _random.uniform(_SHORTEST_BACKOFF_S, _LONGEST_BACKOFF_S)
    return wait if status in PASSING and wait <= LONGEST_WAIT_S + _LONGEST_BACKOFF_S else None


def asked_to_wait(headers: Mapping[str, str]) -> float | None:
    """The seconds of Retry-After, said as a number or a date; None when it does not say."""
    said = headers.get("retry-after", "")
    try:
        return max(0.0, float(said))
    except ValueError:
        pass
    try:
        at = parsedate_to_datetime(said)
    except (ValueError, OverflowError):
        return None
    return max(0.0, (at.replace(tzinfo=at.tzinfo or UTC) - datetime.now(UTC)).total_seconds())


def refusal(status: int, body: str, *, retry_after: float | None = None) -> ProviderError:
    """The error for an HTTP status other than 200."""
    return ProviderError(_code_of(status, body), f"HTTP {status}: {body}", retry_after=retry_after)


def error_event(error: object) -> ProviderError:
    """Return the error for an `error` in a stream that had begun well. Its `code` may be an HTTP status."""
    try:
        words = error if isinstance(error, str) else json.dumps(error)
    except (ValueError, RecursionError):
        words = ""
    code = error.get("code") if isinstance(error, dict) else None
    if isinstance(code, str) and code.isascii() and code.isdigit() and len(code) == 3:
        code = int(code)
    if isinstance(code, int) and 400 <= code < 600:
        return ProviderError(_code_of(code, words), words)
    return ProviderError(FailureCode.PROVIDER_ERROR, words)


# What prompts are refused with that some provider's rules do not allow.
_FILTER_WORDS = (
    "content_filter",
    "content_policy",
    "content management policy",
    "usage policy",
    "moderation",
    "flagged",
)


def _code_of(status: int, body: str) -> FailureCode:
    words = body.lower()
    match status:
        case 400 | 403 if any(word in words for word in _FILTER_WORDS):
            return FailureCode.FILTERED
        case 401 | 402 | 403:
            return FailureCode.REFUSED_KEY
        case 429:
            return FailureCode.RATE_LIMITED
        case 413:
            return FailureCode.PROMPT_TOO_LONG
        case 408:
            return FailureCode.PROVIDER_ERROR
        case _ if 300 <= status < 400:
            return FailureCode.REDIRECTED
        case _ if status >= 500:
            return FailureCode.PROVIDER_ERROR
        case _ if status < 300:
            return FailureCode.NOT_A_STREAM
    is_long = "context" in words and any(word in words for word in ("exceed", "length", "long"))
    return FailureCode.PROMPT_TOO_LONG if is_long else FailureCode.REJECTED
