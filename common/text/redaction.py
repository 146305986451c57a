import re

from django.utils.safestring import SafeString
from django.views.debug import ExceptionReporter

MASK = "[secret]"
# Shorter keys ("ollama", for a server that accepts any) may occur in ordinary text.
MIN_SECRET_CHARACTERS = 12

_patterns = [
    re.compile(r"\barena_[\w-]{20,}"),  # API tokens
    re.compile(r"(?i)(?<=\bbearer )\S{6,}|(?<=\bbasic )[\w+/=-]{8,}"),
    re.compile(r"""(?i)(?<=password["']: )["'][^"']+["']|(?<=password=)[^\s&,)]+|(?<=api[_-]key=)[^\s&,)]+"""),
    re.compile(r"(?<=://)[^\s/:@]*:[^\s/@]+(?=@)"),  # URLs of databases and proxies
]
_known: set[str] = set()
_known_pattern: re.Pattern[str] | None = None


def register_secret(secret: str) -> None:
    """Make `redact` mask this secret from now on, in this process."""
    global _known_pattern
    if len(secret) >= MIN_SECRET_CHARACTERS and secret not in _known:
        _known.add(secret)
        _known_pattern = re.compile("|".join(re.escape(secret) for secret in sorted(_known, key=len, reverse=True)))


def redact(text: str) -> str:
    """Return `text` with registered secrets, and patterns of secrets, masked."""
    if _known_pattern is not None:
        text = _known_pattern.sub(MASK, text)
    for pattern in _patterns:
        text = pattern.sub(MASK, text)
    return text


def mask_secret(secret: str, text: bytes) -> bytes:
    return text.replace(secret.encode(), MASK.encode()) if len(secret) >= MIN_SECRET_CHARACTERS else text


class StreamRedactor:
    """Masks one secret in text that arrives in pieces; a possible beginning waits for the next piece."""

    def __init__(self, secret: str) -> None:
        self._secret = secret if len(secret) >= MIN_SECRET_CHARACTERS else ""
        self._held = ""

    def feed(self, piece: str) -> str:
        if not self._secret or not (piece or self._held):
            return piece
        text = (self._held + piece).replace(self._secret, MASK)
        held = self._partial_secret_length(text)
        self._held = text[len(text) - held :]
        return text[: len(text) - held]

    def flush(self) -> str:
        rest, self._held = self._held, ""
        return rest

    def _partial_secret_length(self, text: str) -> int:
        """Return how many of the last characters may be the beginning of the secret."""
        at = text.find(self._secret[0], max(0, len(text) - len(self._secret) + 1))
        while at >= 0:
            if self._secret.startswith(text[at:]):
                return len(text) - at
            at = text.find(self._secret[0], at + 1)
        return 0


class RedactedReporter(ExceptionReporter):
    """Django's error reports with masked secrets."""

    def get_traceback_html(self) -> SafeString:
        return SafeString(redact(super().get_traceback_html()))

    def get_traceback_text(self) -> SafeString:
        return SafeString(redact(super().get_traceback_text()))
