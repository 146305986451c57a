import hashlib
import re
import unicodedata
from collections.abc import Sequence

_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_OUTER_PUNCTUATION = " .!?…,;:。！？，、؟¿¡\"'«»“”„‘’"


def prompt_digest(prompts: Sequence[str], files: Sequence[str] = ()) -> str:
    """Return 32 hex digits (the first 128 bits of a SHA-256) that are equal for repeated prompts.

    Case, width, spacing, invisible characters and punctuation around a prompt make no difference.
    files: SHA-256 of each attachment, since "Summarise this" may be about different files.
    """
    content = "\x1e".join(_normalize(prompt) for prompt in prompts)
    content += "".join(f"\x1d{file}" for file in files)
    return hashlib.sha256(content.encode()).hexdigest()[:32]


def _normalize(prompt: str) -> str:
    text = unicodedata.normalize("NFKC", _INVISIBLE.sub("", prompt)).casefold()
    return " ".join(text.split()).strip(_OUTER_PUNCTUATION)
