import json
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from random import SystemRandom

from models_registry.providers.base import FailureCode, ProviderError

RETRYABLE_STATUSES = frozenset({408, 429, 500, 502, 503, 504, 529})
# A person is waiting for the answer, so there is no retry after a longer Retry-After.
MAX_RETRY_AFTER_S = 5.0
_MIN_BACKOFF_S, _MAX_BACKOFF_S = 0.2, 1.0
_random = SystemRandom()


def retry_delay_s(status: int, retry_after: float | None) -> float | None:
    """Return seconds until the retry, with jitter; None for no retry."""
    delay = (retry_after or 0.0) + _random.uniform(_MIN_BACKOFF_S, _MAX_BACKOFF_S)
    return delay if status in RETRYABLE_STATUSES and delay <= MAX_RETRY_AFTER_S + _MAX_BACKOFF_S else None


def parse_retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of Retry-After, a number or a date; None if missing or invalid."""
    value = headers.get("retry-after", "")
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        at = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None
    return max(0.0, (at.replace(tzinfo=at.tzinfo or UTC) - datetime.now(UTC)).total_seconds())


def error_for_status(status: int, body: str, *, retry_after: float | None = None) -> ProviderError:
    return ProviderError(_code_of(status, body), f"HTTP {status}: {body}", retry_after=retry_after)


def error_for_event(error: object) -> ProviderError:
    """Return the error for an `error` event, whose `code` may be an HTTP status."""
    try:
        text = error if isinstance(error, str) else json.dumps(error)
    except (ValueError, RecursionError):
        text = ""
    code = error.get("code") if isinstance(error, dict) else None
    if isinstance(code, str) and code.isascii() and code.isdigit() and len(code) == 3:
        code = int(code)
    if isinstance(code, int) and 400 <= code < 600:
        return ProviderError(_code_of(code, text), text)
    return ProviderError(FailureCode.PROVIDER_ERROR, text)


# Texts in responses to prompts that a provider's rules do not allow.
_FILTER_PHRASES = (
    "content_filter",
    "content_policy",
    "content management policy",
    "usage policy",
    "moderation",
    "flagged",
)


def _code_of(status: int, body: str) -> FailureCode:
    text = body.lower()
    match status:
        case 400 | 403 if any(phrase in text for phrase in _FILTER_PHRASES):
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
    is_long = "context" in text and any(word in text for word in ("exceed", "length", "long"))
    return FailureCode.PROMPT_TOO_LONG if is_long else FailureCode.REJECTED
