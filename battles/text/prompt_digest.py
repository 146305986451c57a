"""What tells that two people asked the same thing."""

import hashlib
import re
import unicodedata
from collections.abc import Sequence

_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_AT_THE_ENDS = " .!?…,;:。！？，、؟¿¡\"'«»“”„‘’"


def prompt_digest(prompts: Sequence[str], files: Sequence[str] = ()) -> str:
    """The first 128 bits of the SHA-256 of a conversation's prompts, as 32 hex digits.

    files: the SHA-256 of what was attached: "Summarise this" of two texts is not the same question.

    Case, width, spacing, invisible characters and the punctuation around a prompt make no difference.
    """
    asked = "\x1e".join(_normalised(prompt) for prompt in prompts)
    asked += "".join(f"\x1d{file}" for file in files)
    return hashlib.sha256(asked.encode()).hexdigest()[:32]


def _normalised(prompt: str) -> str:
    text = unicodedata.normalize("NFKC", _INVISIBLE.sub("", prompt)).casefold()
    return " ".join(text.split()).strip(_AT_THE_ENDS)
