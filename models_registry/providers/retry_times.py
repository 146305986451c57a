"""Pauses that providers ask for: in headers, in bodies and in sentences."""

import math
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

MAX_PAUSE_S = 31 * 86_400.0
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?(?:e\d+)?")
_PART = re.compile(
    r"(\d+(?:\.\d+)?)\s*(milliseconds?|msecs?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d)(?![a-z])",
    re.I,
)
_UNITS_S = {"ms": 0.001, "mi": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
# A number above this is a time since 1970, in seconds or in milliseconds.
_EPOCH_S, _EPOCH_MS = 1e9, 1e12
_RESET_HEADERS = re.compile(r"(?:x-)?ratelimit-reset(?:-[a-z-]+)?|anthropic-ratelimit-[a-z-]+-reset")
_SENTENCE = re.compile(
    r"\b(?:try again|retry|available again|wait|resets?|come back)\b(?: \w+){0,3}? (?:in|after|for|about|at least)?:? ?"
    r"(\d[\w. ]{0,40})",
    re.I,
)


def parse_pause(value: object, *, unit_s: float = 1.0, now: datetime | None = None) -> float | None:
    """Return the seconds of a number, a number with units, or a date; None if it is none of them.

    unit_s: of a number without a unit.
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    text, now = str(value).strip().strip("\"'"), now or datetime.now(UTC)
    if _NUMBER.fullmatch(text):
        return _from_number(float(text), unit_s, now)
    parts = list(_PART.finditer(text))
    if parts and re.fullmatch(r"(?:about|~|in|and|,|\s)*", _PART.sub("", text), re.I):
        return _bounded(sum(float(part[1]) * _unit_s(part[2]) for part in parts))
    at = _date(text)
    return None if at is None else _bounded((at - now).total_seconds())


def _from_number(number: float, unit_s: float, now: datetime) -> float | None:
    if number >= _EPOCH_S:
        return _bounded(number / (1000 if number >= _EPOCH_MS else 1) - now.timestamp())
    return _bounded(number * unit_s)


def _unit_s(unit: str) -> float:
    unit = unit.lower()
    if unit in ("ms",) or unit.startswith(("msec", "milli")):
        return 0.001
    return _UNITS_S[unit[0]]


def _bounded(seconds: float) -> float | None:
    return min(max(0.0, seconds), MAX_PAUSE_S) if math.isfinite(seconds) else None


def _date(text: str) -> datetime | None:
    for parse in (parsedate_to_datetime, datetime.fromisoformat):
        try:
            at = parse(text.replace("Z", "+00:00") if parse is datetime.fromisoformat else text)
        except (ValueError, OverflowError, TypeError, IndexError):
            continue
        return at.replace(tzinfo=at.tzinfo or UTC)
    return None


def pause_of(headers: Mapping[str, str], body: object = None, *, text: str = "") -> float | None:
    """Return seconds by Retry-After, the body, its sentence or reset headers, the first that is there.

    headers: names in lower case. body: parsed JSON.
    """
    for name, unit_s in (("retry-after-ms", 0.001), ("x-ms-retry-after-ms", 0.001), ("retry-after", 1.0),
                         ("x-retry-after", 1.0), ("x-retry-after-ms", 0.001)):  # fmt: skip
        if (pause := parse_pause(headers.get(name), unit_s=unit_s)) is not None:
            return pause
    for pause in _pauses_in(body, 0):
        return pause
    if (match := _SENTENCE.search(text)) and (pauses := list(_PART.finditer(match[1]))):
        return _bounded(sum(float(part[1]) * _unit_s(part[2]) for part in pauses))
    return _reset_of(headers)


def _reset_of(headers: Mapping[str, str]) -> float | None:
    """Return the time until used-up limits are reset; of all if none says so."""
    resets = {name: parse_pause(value) for name, value in headers.items() if _RESET_HEADERS.fullmatch(name)}
    used_up = [
        pause for name, pause in resets.items()
        if pause is not None and headers.get(name.replace("reset", "remaining"), "").strip() in ("0", "0.0")
    ]  # fmt: skip
    known = [pause for pause in resets.values() if pause is not None]
    return max(used_up) if used_up else min(known, default=None)


_KEYS = {
    "retry_after": 1.0, "retryafter": 1.0, "retry-after": 1.0, "retrydelay": 1.0, "retry_delay": 1.0,
    "retry_after_seconds": 1.0, "retryafterseconds": 1.0, "retry_after_ms": 0.001, "retryafterms": 0.001,
    "reset_after": 1.0, "wait_seconds": 1.0, "estimated_time": 1.0, "x-ratelimit-reset": 1.0, "retry_in": 1.0,
}  # fmt: skip


def _pauses_in(value: object, depth: int) -> Iterator[float]:
    if depth > 6:
        return
    if isinstance(value, dict):
        for name, part in value.items():
            key = str(name).lower()
            if key in _KEYS:
                if isinstance(part, dict):  # protobuf's duration
                    part = part.get("seconds")
                if (pause := parse_pause(part, unit_s=_KEYS[key])) is not None:
                    yield pause
            else:
                yield from _pauses_in(part, depth + 1)
    elif isinstance(value, list):
        for part in value[:50]:
            yield from _pauses_in(part, depth + 1)
