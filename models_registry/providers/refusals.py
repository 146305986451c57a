"""Failure codes of refusals, by status and meaning."""

import json
from collections.abc import Mapping
from random import SystemRandom

from models_registry.providers import refusal_texts as texts
from models_registry.providers import retry_times
from models_registry.providers.base import FailureCode, ProviderError
from models_registry.providers.refusal_texts import Refusal
from models_registry.providers.refusal_words import words_of
from models_registry.providers.refused_parts import refused_part

RETRYABLE_STATUSES = frozenset({408, 429, 500, 502, 503, 504, 529})
# A retry cannot help these, also with a status that says otherwise.
_PERMANENT = {
    FailureCode.ACCOUNT, FailureCode.PROMPT_TOO_LONG, FailureCode.FILTERED, FailureCode.UNKNOWN_MODEL,
    FailureCode.UNSUPPORTED,
}  # fmt: skip
# A person is waiting for the answer, so there is no retry after a longer Retry-After.
MAX_RETRY_AFTER_S = 5.0
_MIN_BACKOFF_S, _MAX_BACKOFF_S = 0.2, 1.0
_random = SystemRandom()


def retry_delay_s(status: int, retry_after: float | None) -> float | None:
    """Return seconds until the retry, with jitter; None for no retry."""
    delay = (retry_after or 0.0) + _random.uniform(_MIN_BACKOFF_S, _MAX_BACKOFF_S)
    return delay if status in RETRYABLE_STATUSES and delay <= MAX_RETRY_AFTER_S + _MAX_BACKOFF_S else None


def may_help(error: ProviderError) -> bool:
    return error.status in RETRYABLE_STATUSES and error.code not in _PERMANENT


def parse_retry_after(headers: Mapping[str, str]) -> float | None:
    return retry_times.pause_of(headers)


def error_for_status(
    status: int, body: object, *, headers: Mapping[str, str] | None = None, retry_after: float | None = None
) -> ProviderError:
    """body: a text, perhaps JSON, or parsed JSON."""
    refusal = texts.read(body)
    return _error(status, refusal, body, headers or {}, retry_after)


def error_for_event(error: object) -> ProviderError:
    """Return the error for an `error` event or body, a text or parsed JSON; its code may be an HTTP status."""
    refusal = texts.read(error)
    return _error(refusal.status, refusal, error, {}, None)


def _error(
    status: int, refusal: Refusal, body: object, headers: Mapping[str, str], retry_after: float | None
) -> ProviderError:
    code = _code_of(status, refusal)
    if retry_after is None:
        retry_after = retry_times.pause_of(headers, _json(body), text=refusal.text)
    part = refused_part(refusal) if code is FailureCode.UNSUPPORTED else ""
    upstream = f"HTTP {status}: {_text(body)}" if status else _text(body)
    return ProviderError(code, upstream, retry_after=retry_after, status=status, parameter=part, words=words_of(body))


def _text(body: object) -> str:
    try:
        return body if isinstance(body, str) else json.dumps(body)
    except (ValueError, TypeError, RecursionError):
        return ""


def _json(body: object) -> object:
    if not isinstance(body, str):
        return body
    try:
        return json.loads(body) if body.lstrip()[:1] in ("{", "[") else None
    except (ValueError, RecursionError):
        return None


# Statuses whose texts are not about the prompt.
_NEVER_TOO_LONG = {401, 402, 404, 405, 407, 408, 410}
_NEVER_FILTERED = {401, 402, 404, 405, 407, 408, 410, 413, 429}


def _code_of(status: int, refusal: Refusal) -> FailureCode:
    """status: 0 for an event without one."""
    if 100 <= status < 300:
        return FailureCode.NOT_A_STREAM
    if 300 <= status < 400:
        return FailureCode.REDIRECTED
    if status == 401:
        return FailureCode.REFUSED_KEY
    return _code_by_meaning(status, refusal) or _code_by_status(status, refusal)


def _code_by_meaning(status: int, refusal: Refusal) -> FailureCode | None:
    if status == 402 or (status != 404 and texts.is_account(refusal)):
        return FailureCode.ACCOUNT
    if texts.is_single_request_too_large(refusal):
        return FailureCode.PROMPT_TOO_LONG
    is_rate = status == 429 or texts.is_rate(refusal)
    if status not in _NEVER_TOO_LONG and not is_rate and texts.is_too_long(refusal):
        return FailureCode.PROMPT_TOO_LONG
    if status not in _NEVER_FILTERED and texts.is_filtered(refusal):
        return FailureCode.FILTERED
    return None


def _code_by_status(status: int, refusal: Refusal) -> FailureCode:
    match status:
        case 413:
            return FailureCode.PROMPT_TOO_LONG
        case 403:
            return FailureCode.UNKNOWN_MODEL if texts.is_unknown_model(refusal) else FailureCode.FORBIDDEN
        case 404 | 405 | 410:
            is_model = refusal.is_json and ("model" in refusal.words or texts.is_unknown_model(refusal))
            return FailureCode.UNKNOWN_MODEL if is_model else FailureCode.UNKNOWN_ADDRESS
        case 429:
            return FailureCode.RATE_LIMITED
        case 408:
            return FailureCode.PROVIDER_ERROR
    if texts.is_rate(refusal) and (status in (0, 400, 503)):
        return FailureCode.RATE_LIMITED
    if status in (0, 400, 422, 500, 501) and refused_part(refusal):
        return FailureCode.UNSUPPORTED
    if status >= 500 or status == 0:
        return FailureCode.PROVIDER_ERROR
    return FailureCode.UNKNOWN_MODEL if texts.is_unknown_model(refusal) else FailureCode.REJECTED
