"""Words of a refusal as callers of the gateway may read them: without keys, addresses, and ids of accounts."""

import json
import re
from urllib.parse import urlsplit

from common.text.redaction import MASK, redact
from common.text.storable import storable
from models_registry.providers.base import ChatRequest

MAX_CHARACTERS = 1_000
_MAX_READ = 20_000
# Servers put their sentence into one of these fields; the first that is there is read.
_NAMES = (
    "message",
    "detail",
    "error_message",
    "error_msg",
    "errorMessage",
    "msg",
    "description",
    "title",
    "error",
    "errors",
)
_REMOVED = "[removed]"
_TOP_LEVELS = (
    "com|net|org|io|ai|dev|cloud|app|co|eu|de|fr|uk|us|cn|in|ch|at|nl|ru|jp|kr|local|localdomain|localhost|internal|intern"
    "|intranet|lan|home|corp|svc|arpa|invalid|test|example|site|xyz|tech|run|host|online"
)
_PATTERNS = [
    re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s\"'<>)\]}]+", re.IGNORECASE),
    re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
    re.compile(rf"\b(?:[a-z0-9_-]+\.)+(?:{_TOP_LEVELS})\b(?:\.?:\d+)?(?:/[^\s\"'<>)]*)?", re.IGNORECASE),
    re.compile(r"\blocalhost\b(?::\d+)?(?:/[^\s\"'<>)]*)?|\b[a-z0-9-]+:\d{2,5}(?=/|\b)(?!:)", re.IGNORECASE),
    re.compile(r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.])(?::\d+)?"),
    re.compile(
        r"(?<![\w:])\[?(?:(?:[0-9a-f]{1,4}:){3,7}|(?:[0-9a-f]{1,4}:){0,6}:)[0-9a-f:]{1,39}\]?(?::\d+)?", re.IGNORECASE
    ),
    # Keys and ids by their beginnings, or as long random words.
    re.compile(r"\b(?:sk|pk|rk|gsk|csk|xai|hf|r8|nvapi|tgp|fw|pplx|key|org|proj|acct|acc|team|user|req|tenant|ws)"
               r"[-_](?=[\w*-]*[\d*A-Z])[\w*-]{4,}"),
    re.compile(r"\bAIza[\w-]{10,}|\beyJ[\w.-]{20,}"),
    re.compile(r"\b(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]{24,}"),
    re.compile(
        r"(?i)(?<=\b)(?:organi[sz]ation|org|account|project|tenant|workspace|team|subscription|deployment|customer|user)"
        r"(?: ?id)?\b[\s:=]*(?:is )?['\"`]?(?-i:(?=[\w.-]*\d)[\w.-]{4,}|[A-Z][\w-]{9,})['\"`]?"
    ),
]  # fmt: skip


def words_of(body: object) -> str:
    """Return the server's sentence in a refusal's body; "" for a page of HTML."""
    if isinstance(body, str):
        text = body.strip()[:_MAX_READ]
        try:
            body = json.loads(text) if text[:1] in ("{", "[", '"') else text
        except (ValueError, RecursionError):
            body = text
    words = _sentence(body)
    return "" if words.lstrip()[:1] == "<" else words


def _sentence(value: object, depth: int = 0) -> str:
    if isinstance(value, str):
        return value.strip()
    if depth > 6:
        return ""
    if isinstance(value, list):
        return "; ".join(filter(None, (_sentence(entry, depth + 1) for entry in value[:5])))
    if not isinstance(value, dict):
        return ""
    inner = value.get("error")
    if isinstance(inner, dict | list) and (sentence := _sentence(inner, depth + 1)):
        return sentence
    return next((sentence for name in _NAMES if name in value and (sentence := _sentence(value[name], depth + 1))), "")


def public_words(words: str, request: ChatRequest) -> str:
    """Return at most MAX_CHARACTERS that name neither the arena's account nor where the server is."""
    words = storable(words)[:_MAX_READ]
    for secret in (request.key, urlsplit(request.base_url).netloc, urlsplit(request.base_url).hostname or ""):
        if len(secret) > 3:
            words = words.replace(secret, _REMOVED)
    words = redact(words).replace(MASK, _REMOVED)
    for pattern in _PATTERNS:
        words = pattern.sub(_REMOVED, words)
    return words[:MAX_CHARACTERS]
