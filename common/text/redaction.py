"""Keys, tokens and passwords taken out of words that are about to be written down."""

import re

from django.utils.safestring import SafeString
from django.views.debug import ExceptionReporter

MASK = "[secret]"
# A shorter word ("ollama", for a server that wants any) may stand in a sentence by chance.
MIN_SECRET_CHARACTERS = 12

_patterns = [
    re.compile(r"\barena_[\w-]{20,}"),  # API tokens
    re.compile(r"(?i)(?<=\bbearer )\S{6,}|(?<=\bbasic )[\w+/=-]{8,}"),
    re.compile(r"""(?i)(?<=password["']: )["'][^"']+["']|(?<=password=)[^\s&,)]+|(?<=api[_-]key=)[^\s&,)]+"""),
    re.compile(r"(?<=://)[^\s/:@]*:[^\s/@]+(?=@)"),  # of a database or a proxy, in its URL
]
_known: set[str] = set()
_known_pattern: re.Pattern[str] | None = None


def register_secret(secret: str) -> None:
    """From now on this process writes `secret` down nowhere."""
    global _known_pattern
    if len(secret) >= MIN_SECRET_CHARACTERS and secret not in _known:
        _known.add(secret)
        _known_pattern = re.compile("|".join(re.escape(one) for one in sorted(_known, key=len, reverse=True)))


def redact(text: str) -> str:
    """Without the secrets this process has met, and without what looks like one."""
    if _known_pattern is not None:
        text = _known_pattern.sub(MASK, text)
    for pattern in _patterns:
        text = pattern.sub(MASK, text)
    return text


def mask_secret(secret: str, text: bytes) -> bytes:
    """What somebody answered who was told `secret`."""
    return text.replace(secret.encode(), MASK.encode()) if len(secret) >= MIN_SECRET_CHARACTERS else text


class StreamRedactor:
    """A text that comes in pieces, without one secret: what may be its beginning waits for the next piece."""

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
        """What was held back, once nothing more comes."""
        rest, self._held = self._held, ""
        return rest

    def _partial_secret_length(self, text: str) -> int:
        """How many of the last characters may be the secret's first."""
        at = text.find(self._secret[0], max(0, len(text) - len(self._secret) + 1))
        while at >= 0:
            if self._secret.startswith(text[at:]):
                return len(text) - at
            at = text.find(self._secret[0], at + 1)
        return 0


class RedactedReporter(ExceptionReporter):
    """Django's error reports, with their tracebacks and what the variables held."""

    def get_traceback_html(self) -> SafeString:
        return SafeString(redact(super().get_traceback_html()))

    def get_traceback_text(self) -> SafeString:
        return SafeString(redact(super().get_traceback_text()))
